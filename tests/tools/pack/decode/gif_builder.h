// Makes GIF files for tests, by the rules of the format and not with the reader's code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardmill {

struct GifForm {
  uint32_t height = 1, width = 1;
  std::vector<uint32_t> palette;  // 0xRRGGBB; 2, 4, 8, … of them
  int literal_bits = 8;           // of an index
  bool interlaced = false;
  bool local_palette = false;  // beside the picture, not the canvas
  int transparent = -1;        // this index is
  int pictures = 1;            // all of them the same
  uint32_t left = 0;           // of the pictures on a canvas that is as much wider
};

// `rows` are the indices in the order in which the file stores them.
std::string BuildGif(const GifForm& form, const std::vector<uint8_t>& rows);
// The same around compressed data that are there: with their length of literals, in pieces.
std::string BuildGifAround(const GifForm& form, const std::string& compressed);

}  // namespace shardmill
