// Shapes, element types and the batches that enter the trainer's graph.
//
// Every tensor is dense and NHWC: the element (n, y, x, channel) lies at
// ((n * h + y) * w + x) * c + channel. Plain data, safe to copy between threads. A pointer in
// these structs is borrowed: it must stay valid until the call that takes the struct returns.
#pragma once

#include <cstdint>
#include <string>

namespace shardmill {

// The type of activations and their gradients. kF64 exists on the reference backend only, for
// gradient checks; kBf16 (the upper half of an f32) on GPUs only.
enum class ElementType { kF32, kF64, kBf16 };

constexpr int64_t ElementBytes(ElementType type) {
  return type == ElementType::kF32 ? 4 : type == ElementType::kF64 ? 8 : 2;
}

// The type of parameters, their gradients and all other vectors with one element per channel.
constexpr ElementType ParameterType(ElementType type) {
  return type == ElementType::kBf16 ? ElementType::kF32 : type;
}

// Batch, height, width, channels. A vector per record is 1 × 1 × c.
struct Shape {
  int64_t n = 0;
  int64_t h = 0;
  int64_t w = 0;
  int64_t c = 0;

  constexpr int64_t Pixels() const { return n * h * w; }
  constexpr int64_t Elements() const { return n * h * w * c; }
  bool operator==(const Shape& other) const {
    return n == other.n && h == other.h && w == other.w && c == other.c;
  }
  bool operator!=(const Shape& other) const { return !(*this == other); }
};

// "4 × 352 high × 480 wide × 3 channels"
std::string ShapeText(const Shape& shape);

enum class ImageType { kU8, kU16, kF32 };

constexpr int64_t ImageTypeBytes(ImageType type) {
  return type == ImageType::kU8 ? 1 : type == ImageType::kU16 ? 2 : 4;
}

struct ImageBatch {
  const void* data = nullptr;
  ImageType type = ImageType::kU8;
  Shape shape;
  // Of sequences (height 1): how many frames of each row are no padding, from 1 to shape.w; null:
  // all.
  const int32_t* lengths = nullptr;
  // What dropout depends on: the step of the run, and which row of the global batch the first is.
  uint64_t step = 0;
  int64_t first_row = 0;
};

// kIndex…: one class id per pixel, [n, h, w]. kOneHotF32: [n, h, w, classes]; any non-negative
// values are taken as soft labels, and an all-zero pixel counts as ignored.
enum class LabelType { kIndexU8, kIndexU16, kOneHotF32 };

struct LabelBatch {
  const void* data = nullptr;
  LabelType type = LabelType::kIndexU8;
  int64_t n = 0;
  int64_t h = 1;
  int64_t w = 1;
  // Optional: n weights, multiplied into every pixel of a row; 0 for rows that only pad a batch.
  const float* row_weights = nullptr;
  int64_t classes = 0;  // of kOneHotF32
};

// Bytes of the labels of one row.
constexpr int64_t LabelRowBytes(const LabelBatch& labels) {
  const int64_t pixels = labels.h * labels.w;
  if (labels.type == LabelType::kOneHotF32) return pixels * labels.classes * 4;
  return labels.type == LabelType::kIndexU8 ? pixels : pixels * 2;
}

}  // namespace shardmill
