// Finds out how large the images of a set are, without decoding where headers say it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/inputs/input_set.h"
#include "tools/pack/pack_options.h"

namespace shardmill {

class Progress;

// Of the upright picture; `file_bytes` is the size that was listed. InvalidArgument for more than
// `max_pixels`.
Result<ImageSize> ReadSampleSize(const std::string& root, const Sample& sample,
                                 uint64_t max_pixels);
Result<ImageSize> ReadImageSize(const std::string& path, uint64_t file_bytes, uint64_t max_pixels);

struct SizeCount {
  ImageSize size;
  uint64_t images = 0;
  std::vector<uint64_t> images_by_split;  // of the set's splits, in order
  std::string example;                    // key of the first
};

struct CountedSizes {
  std::vector<SizeCount> sizes;  // upright, the most frequent first
  std::vector<Problem> faulty;   // inputs that packing cannot read either, or that are too large
};

// The sizes of all images of the set but the faulty ones.
Result<CountedSizes> CountImageSizes(const InputSet& set, const PackOptions& options, int threads,
                                     Progress* progress);

// The same images after they are resized; images of one size are counted together again.
std::vector<SizeCount> ResizedSizes(const std::vector<SizeCount>& sizes, const ResizeRule& rule);

// "352 high × 480 wide: 367 images (train/a.png, …)", a line per size, at most `lines`.
std::string DescribeSizes(const std::vector<SizeCount>& sizes, size_t lines);

}  // namespace shardmill
