#include "tools/dump/drawing.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

namespace shardmill {
namespace {

constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;
constexpr double kCapitalHeight = 21;  // of the font at scale 1
// Text is drawn this much larger and shrunk: the font has strokes of whole pixels only.
constexpr int kOversampling = 4;

// The same memory as an OpenCV matrix; channel order is ours (RGB).
cv::Mat AsMat(Picture* picture) {
  return cv::Mat(picture->height, picture->width, CV_8UC3, picture->pixels.data());
}

cv::Mat AsMat(const Picture& picture) {
  return cv::Mat(picture.height, picture.width, CV_8UC3, const_cast<Rgb*>(picture.pixels.data()));
}

double FontScale(const TextStyle& style) { return kOversampling * style.height / kCapitalHeight; }

int Thickness(const TextStyle& style) {
  const double stroke = style.height / 9.0 * (style.bold ? 1.6 : 1.0);
  return std::max(1, static_cast<int>(stroke * kOversampling + 0.5));
}

// What is drawn for U+00C0 … U+00FF.
constexpr char kLatin[] = "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty";
static_assert(sizeof(kLatin) == 64 + 1, "one letter for each code point");

// ASCII for the built-in font: one character for each character of `text`.
std::string Drawable(std::string_view text) {
  std::string drawable;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool continuation = (byte & 0xc0) == 0x80;
    if (continuation) continue;
    if (byte == 0xc3 && i + 1 < text.size()) {
      drawable += kLatin[text[i + 1] & 0x3f];  // U+00C0 … U+00FF in UTF-8
    } else {
      drawable += byte >= 0x20 && byte < 0x7f ? text[i] : '?';
    }
  }
  return drawable;
}

cv::Size LargeTextSize(const std::string& text, const TextStyle& style, int* below) {
  return cv::getTextSize(text, kFont, FontScale(style), Thickness(style), below);
}

// How strongly each pixel of the text is covered, 0 … 255; `below` gets the rows under the
// baseline.
cv::Mat TextCoverage(const std::string& text, const TextStyle& style, int* below) {
  int large_below = 0;
  const cv::Size size = LargeTextSize(text, style, &large_below);
  const int margin = Thickness(style);
  auto round_up = [](int pixels) { return (pixels + kOversampling - 1) / kOversampling; };
  *below = round_up(large_below + margin);
  const int rows = round_up(size.height + margin) + *below;
  const int columns = round_up(size.width + margin);
  cv::Mat large = cv::Mat::zeros(rows * kOversampling, columns * kOversampling, CV_8UC1);
  const cv::Point origin(0, (rows - *below) * kOversampling);
  cv::putText(large, text, origin, kFont, FontScale(style), cv::Scalar(255), Thickness(style),
              cv::LINE_AA);
  cv::Mat coverage;
  cv::resize(large, coverage, cv::Size(columns, rows), 0, 0, cv::INTER_AREA);
  return coverage;
}

uint8_t Cover(uint8_t under, uint8_t over, int coverage) {
  return static_cast<uint8_t>(under + (over - under) * coverage / 255);
}

}  // namespace

void DrawText(std::string_view text, int baseline, int left, const TextStyle& style,
              Picture* picture) {
  const std::string drawable = Drawable(text);
  if (drawable.empty()) return;
  int below = 0;
  const cv::Mat coverage = TextCoverage(drawable, style, &below);
  const int top = baseline + below - coverage.rows;
  for (int row = 0; row < coverage.rows; ++row) {
    for (int column = 0; column < coverage.cols; ++column) {
      const int y = top + row;
      const int x = left + column;
      if (y < 0 || y >= picture->height || x < 0 || x >= picture->width) continue;
      const int amount = coverage.at<uint8_t>(row, column);
      Rgb& pixel = picture->at(y, x);
      pixel = {Cover(pixel.red, style.color.red, amount),
               Cover(pixel.green, style.color.green, amount),
               Cover(pixel.blue, style.color.blue, amount)};
    }
  }
}

int TextWidth(std::string_view text, const TextStyle& style) {
  int below = 0;
  const cv::Size size = LargeTextSize(Drawable(text), style, &below);
  return (size.width + kOversampling - 1) / kOversampling;
}

std::string FitTextEnd(std::string_view text, int width, const TextStyle& style) {
  std::string drawable = Drawable(text);
  if (TextWidth(drawable, style) <= width) return drawable;
  while (!drawable.empty() && TextWidth("..." + drawable, style) > width) drawable.erase(0, 1);
  return "..." + drawable;
}

void FillBox(int top, int left, int height, int width, Rgb color, Picture* picture) {
  const int bottom = std::min(top + height, picture->height);
  const int right = std::min(left + width, picture->width);
  for (int y = std::max(top, 0); y < bottom; ++y) {
    for (int x = std::max(left, 0); x < right; ++x) picture->at(y, x) = color;
  }
}

void Paste(const Picture& source, int top, int left, Picture* picture) {
  const int bottom = std::min(top + source.height, picture->height);
  const int right = std::min(left + source.width, picture->width);
  for (int y = std::max(top, 0); y < bottom; ++y) {
    for (int x = std::max(left, 0); x < right; ++x) {
      picture->at(y, x) = source.at(y - top, x - left);
    }
  }
}

Picture Scale(const Picture& picture, int height, int width) {
  if (height == picture.height && width == picture.width) return picture;
  Picture scaled(height, width, {});
  const bool shrinks = height <= picture.height && width <= picture.width;
  // Below half its size some pixels would not count with linear interpolation, which is much
  // faster.
  const bool halves = 2 * height >= picture.height && 2 * width >= picture.width;
  cv::Mat target = AsMat(&scaled);
  cv::resize(AsMat(picture), target, target.size(), 0, 0,
             !shrinks ? cv::INTER_NEAREST
             : halves ? cv::INTER_LINEAR
                      : cv::INTER_AREA);
  return scaled;
}

}  // namespace shardmill
