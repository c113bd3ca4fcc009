// Large photographs for the benchmarks, made of the small ones of a data set.
#pragma once

#include <string>
#include <vector>

namespace shardmill {

constexpr int kPictureHeight = 960;
constexpr int kPictureWidth = 1280;

// A JPEG of that size and quality 90: pictures (PNG files) side by side at their own size, from
// `first` on, because enlarging them would leave little detail to decode.
std::string MakeJpegPicture(const std::vector<std::string>& pngs, size_t first);

}  // namespace shardmill
