// Drawing on pictures: text, boxes, scaling. The only file of this folder that knows OpenCV.
//
// Pure functions; safe for concurrent use. Whatever lies outside the picture is cut off.
#pragma once

#include <string>
#include <string_view>

#include "tools/dump/picture.h"

namespace shardmill {

struct TextStyle {
  int height = 12;  // of a capital letter, in pixels
  Rgb color = {30, 30, 34};
  bool bold = false;
};

// Draws one line of text whose baseline is at `baseline`. The built-in font has ASCII only:
// Latin letters lose their accents, other characters are drawn as '?'.
void DrawText(std::string_view text, int baseline, int left, const TextStyle& style,
              Picture* picture);
int TextWidth(std::string_view text, const TextStyle& style);
// `text`, or as much of its end as fits into `width` pixels, with "..." before it: the end of a
// path says more than its beginning.
std::string FitTextEnd(std::string_view text, int width, const TextStyle& style);

void FillBox(int top, int left, int height, int width, Rgb color, Picture* picture);
void Paste(const Picture& source, int top, int left, Picture* picture);

// Shrinks by averaging, grows by repeating pixels, so that every pixel of a small image is seen.
Picture Scale(const Picture& picture, int height, int width);

}  // namespace shardmill
