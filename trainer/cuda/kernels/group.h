// 16 bytes of a tensor as f32: what one thread loads and stores at once.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/bfloat16.h"
#include "trainer/ops/op_shapes.h"

namespace shardmill {

template <typename T>
struct Group {
  static constexpr int kWidth = static_cast<int>(16 / sizeof(T));
  float values[kWidth];

  SHARDMILL_HD float& operator[](int i) { return values[i]; }
  SHARDMILL_HD float operator[](int i) const { return values[i]; }
};

template <typename T>
struct alignas(16) GroupMemory {
  T elements[Group<T>::kWidth];
};

// Calls body(i) for each i below `count`. Loops over groups always have this form or run over the
// whole width: unrolled, a group stays in registers.
template <typename T, typename Body>
SHARDMILL_HD void ForEachIn(int count, const Body& body) {
  for (int i = 0; i < Group<T>::kWidth; ++i) {
    if (i < count) body(i);
  }
}

// Loads and stores of whole groups at multiples of 16 bytes, in one instruction; and of others,
// element by element. Loops over many groups find out once which of the two they are.
struct AtOnce {};
struct OneByOne {};

template <typename... T>
SHARDMILL_HD bool AllAligned(const T*... memory) {
  return ((reinterpret_cast<uintptr_t>(memory) % 16 == 0) && ...);
}

template <typename T>
SHARDMILL_HD Group<T> LoadGroup(const T* memory, int, AtOnce) {
  Group<T> group;
  const GroupMemory<T> loaded = *reinterpret_cast<const GroupMemory<T>*>(memory);
  for (int i = 0; i < Group<T>::kWidth; ++i) group[i] = ToFloat(loaded.elements[i]);
  return group;
}

template <typename T>
SHARDMILL_HD Group<T> LoadGroup(const T* memory, int count, OneByOne) {
  Group<T> group;
  for (int i = 0; i < Group<T>::kWidth; ++i) group[i] = i < count ? ToFloat(memory[i]) : 0.0f;
  return group;
}

template <typename T>
SHARDMILL_HD void StoreGroup(const Group<T>& group, int, T* memory, AtOnce) {
  GroupMemory<T> stored;
  for (int i = 0; i < Group<T>::kWidth; ++i) Assign(group[i], &stored.elements[i]);
  *reinterpret_cast<GroupMemory<T>*>(memory) = stored;
}

template <typename T>
SHARDMILL_HD void StoreGroup(const Group<T>& group, int count, T* memory, OneByOne) {
  ForEachIn<T>(count, [&](int i) { Assign(group[i], memory + i); });
}

template <typename T>
SHARDMILL_HD bool MovesAtOnce(const T* memory, int count) {
  return count == Group<T>::kWidth && AllAligned(memory);
}

// The first `count` elements; the rest is 0.
template <typename T>
SHARDMILL_HD Group<T> LoadGroup(const T* memory, int count) {
  if (MovesAtOnce(memory, count)) return LoadGroup(memory, count, AtOnce{});
  return LoadGroup(memory, count, OneByOne{});
}

template <typename T>
SHARDMILL_HD void StoreGroup(const Group<T>& group, int count, T* memory) {
  if (MovesAtOnce(memory, count)) return StoreGroup(group, count, memory, AtOnce{});
  StoreGroup(group, count, memory, OneByOne{});
}

template <typename T>
SHARDMILL_HD void StoreGradients(Group<T> group, GradientMode mode, int count, T* memory) {
  if (mode == GradientMode::kAdd) {
    const Group<T> before = LoadGroup(memory, count);
    for (int i = 0; i < Group<T>::kWidth; ++i) group[i] += before[i];
  }
  StoreGroup(group, count, memory);
}

// As many f32 as T has elements in a group, such as the vector of a group of channels.
template <typename T>
SHARDMILL_HD Group<T> LoadFloats(const float* memory, int count) {
  Group<T> group;
  for (int part = 0; part < Group<T>::kWidth; part += Group<float>::kWidth) {
    const int rest = count - part < 0 ? 0 : count - part;
    const int own = rest < Group<float>::kWidth ? rest : Group<float>::kWidth;
    const Group<float> loaded = LoadGroup(memory + (own > 0 ? part : 0), own);
    for (int i = 0; i < Group<float>::kWidth; ++i) group[part + i] = loaded[i];
  }
  return group;
}

SHARDMILL_HD int64_t CeilDivide(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

SHARDMILL_HD int64_t Smaller(int64_t a, int64_t b) { return a < b ? a : b; }
SHARDMILL_HD int64_t Larger(int64_t a, int64_t b) { return a > b ? a : b; }

// The elements of a flat tensor, or the channels of a pixel, that one group holds.
template <typename T>
struct Span {
  SHARDMILL_HD Span(int64_t group, int64_t elements)
      : first(group * Group<T>::kWidth),
        count(static_cast<int>(Smaller(Group<T>::kWidth, elements - first))) {}

  int64_t first;
  int count;
};

template <typename T>
SHARDMILL_HD int64_t GroupsOf(int64_t elements) {
  return CeilDivide(elements, Group<T>::kWidth);
}

}  // namespace shardmill
