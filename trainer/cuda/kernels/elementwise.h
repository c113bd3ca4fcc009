// Element by element: activations, addition, dropout, normalisation of images.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/group.h"
#include "trainer/graph/counter_random.h"
#include "trainer/graph/tensor.h"
#include "trainer/ops/op_shapes.h"

namespace shardmill {

// What an activation does to a value and to a gradient.
struct ActivationGate {
  explicit ActivationGate(Activation activation)
      : open(activation == Activation::kNone),
        ceiling(static_cast<float>(ActivationCeiling(activation))) {}

  SHARDMILL_HD float Held(float value) const {
    if (open) return value;
    const float positive = value > 0 ? value : 0.0f;
    return positive < ceiling ? positive : ceiling;
  }
  // `y` is what Held returned, as stored.
  SHARDMILL_HD bool Passes(float y) const { return open || (y > 0 && y < ceiling); }

  bool open;
  float ceiling;
};

// One index: one group.
template <typename T>
struct ActivationForwardKernel {
  int64_t elements;
  ActivationGate gate;
  const T* x;
  T* y;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<T> span(index, elements);
    Group<T> group = LoadGroup(x + span.first, span.count);
    for (float& value : group.values) value = gate.Held(value);
    StoreGroup(group, span.count, y + span.first);
  }
};

template <typename T>
struct ActivationBackwardKernel {
  int64_t elements;
  ActivationGate gate;
  const T* y;
  const T* dy;
  T* dx;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<T> span(index, elements);
    Group<T> group = LoadGroup(dy + span.first, span.count);
    if (!gate.open) {
      const Group<T> held = LoadGroup(y + span.first, span.count);
      for (int i = 0; i < Group<T>::kWidth; ++i) group[i] = gate.Passes(held[i]) ? group[i] : 0.0f;
    }
    StoreGroup(group, span.count, dx + span.first);
  }
};

template <typename T>
struct AddKernel {
  int64_t elements;
  const T* x;
  T* y;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<T> span(index, elements);
    const Group<T> group = LoadGroup(x + span.first, span.count);
    StoreGradients(group, GradientMode::kAdd, span.count, y + span.first);
  }
};

template <typename T>
struct DropoutKernel {
  Shape shape;
  uint64_t key;
  int64_t first_row;
  uint64_t threshold;  // of 2^32
  float kept;          // the factor of those that stay
  bool whole_channels;
  const T* x;
  T* y;
  const uint64_t* key_at;  // null, or where the key lies

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<T> span(index, shape.Elements());
    Group<T> group = LoadGroup(x + span.first, span.count);
    const uint64_t own_key = key_at != nullptr ? *key_at : key;
    const int64_t row_elements = shape.h * shape.w * shape.c;
    for (int i = 0; i < Group<T>::kWidth; ++i) {
      const int64_t at = span.first + i;
      const int64_t place = whole_channels
                                ? (first_row + at / row_elements) * shape.c + at % shape.c
                                : first_row * row_elements + at;
      const bool stays = CounterBits(own_key, static_cast<uint64_t>(place)) >> 32 >= threshold;
      group[i] = stays ? group[i] * kept : 0.0f;
    }
    StoreGroup(group, span.count, y + span.first);
  }
};

SHARDMILL_HD float ImageValue(ImageType type, const void* images, int64_t at) {
  if (type == ImageType::kU8) return static_cast<const uint8_t*>(images)[at];
  if (type == ImageType::kU16) return static_cast<const uint16_t*>(images)[at];
  return static_cast<const float*>(images)[at];
}

template <typename T>
struct NormalizeImagesKernel {
  int64_t elements, channels;
  ImageType type;
  const void* images;
  const float* mean;
  const float* inverse_deviation;
  T* y;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<T> span(index, elements);
    Group<T> group = {};
    int64_t c = span.first % channels;
    ForEachIn<T>(span.count, [&](int i) {
      group[i] = (ImageValue(type, images, span.first + i) - mean[c]) * inverse_deviation[c];
      c = c + 1 == channels ? 0 : c + 1;
    });
    StoreGroup(group, span.count, y + span.first);
  }
};

}  // namespace shardmill
