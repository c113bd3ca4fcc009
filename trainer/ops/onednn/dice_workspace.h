// How the Dice loss is cut, and the memory that it needs on the way.
//
// Each image is cut into blocks by its shape alone, and the sums of the blocks are added in their
// order: the same bits on any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trainer/graph/tensor.h"
#include "trainer/ops/onednn/parallel.h"

namespace shardmill {

class DiceWorkspace {
 public:
  static constexpr int64_t kChunkPixels = 64;  // whose probabilities are held at once

  static int64_t Bytes(const Shape& logits) {
    return logits.n * Blocks(logits) * SumsPerBlock(logits) * static_cast<int64_t>(sizeof(double)) +
           MaxThreads() * kChunkPixels * logits.c * static_cast<int64_t>(sizeof(float));
  }
  static int64_t Blocks(const Shape& logits) {  // of one image
    return (logits.h * logits.w + kBlockPixels - 1) / kBlockPixels;
  }

  DiceWorkspace(const Shape& logits, void* memory)
      : shape_(logits),
        sums_(static_cast<double*>(memory)),
        chunks_(
            reinterpret_cast<float*>(sums_ + logits.n * Blocks(logits) * SumsPerBlock(logits))) {}

  // The sums of one block: products, probabilities, targets of each class, then the weight. Those
  // of the whole image end up in its block 0.
  double* Sums(int64_t image, int64_t block) const {
    return sums_ + (image * Blocks(shape_) + block) * SumsPerBlock(shape_);
  }
  int64_t sums_per_block() const { return SumsPerBlock(shape_); }
  float* Chunk(int64_t thread) const { return chunks_ + thread * kChunkPixels * shape_.c; }

  // Calls body(first, count) for the chunks of a block; pixels count from the batch's start.
  template <typename Body>
  void ForEachChunk(int64_t image, int64_t block, const Body& body) const {
    const int64_t pixels = shape_.h * shape_.w;
    const int64_t end = std::min(pixels, (block + 1) * kBlockPixels);
    for (int64_t p = block * kBlockPixels; p < end; p += kChunkPixels) {
      body(image * pixels + p, std::min(kChunkPixels, end - p));
    }
  }

 private:
  static constexpr int64_t kBlockPixels = 1024;
  static int64_t SumsPerBlock(const Shape& logits) { return 3 * logits.c + 1; }

  Shape shape_;
  double* sums_;
  float* chunks_;
};

}  // namespace shardmill
