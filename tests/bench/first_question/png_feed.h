// The training feed of the first question, as it was asked: for every sample of every step, in
// the training thread, decode image and colour label from PNG, crop both, and build the one-hot
// label by comparing every pixel with every class colour.
//
// Not for concurrent use.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "reader/base/status.h"
#include "tests/bench/first_question/color_labels.h"
#include "tools/dump/picture.h"
#include "trainer/graph/tensor.h"

namespace shardmill {

class PngFeed {
 public:
  struct Options {
    int64_t batch = 3;
    int64_t height = 0;  // of the crop, from the middle
    int64_t width = 0;
    std::vector<Rgb> class_colors;
    uint32_t seed = 0;
  };
  // At least one batch of pairs.
  PngFeed(std::vector<PngPair> pairs, Options options);

  // Makes the next batch. The views are valid until the next call.
  Status Next();
  ImageBatch images() const;
  LabelBatch labels() const;

 private:
  Status LoadSample(const PngPair& pair, uint8_t* image, float* one_hot) const;

  std::vector<PngPair> pairs_;
  Options options_;
  std::mt19937 random_;
  size_t next_ = 0;
  std::vector<uint8_t> images_;
  std::vector<float> labels_;
};

}  // namespace shardmill
