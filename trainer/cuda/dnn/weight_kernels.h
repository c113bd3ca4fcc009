// Weights between the order and type of the op table and those of cuDNN.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/bfloat16.h"
#include "trainer/cuda/kernels/host_device.h"
#include "trainer/ops/op_shapes.h"

namespace shardmill {

// The op table has [out][tap][in / groups] for both kinds of convolution. cuDNN wants the channels
// of the small grid first: the same for a plain convolution, [in][tap][out / groups] for a
// transposed one. Where channels of the images are padding, cuDNN wants weights for them too,
// zeros.
struct WeightOrder {
  explicit WeightOrder(const ConvolutionShape& shape)
      : transposed(shape.transposed),
        taps(shape.window.kernel_h * shape.window.kernel_w),
        in_per_group(shape.WeightChannels() / shape.groups),
        zero_channels(shape.zero_channels),
        out_per_group(shape.out_channels / shape.groups) {}
  // Vectors: nothing changes its place.
  WeightOrder() = default;

  // Where cuDNN has the element that the op table has at `index`.
  bool ChangesPlaces() const { return transposed || zero_channels > 0; }
  SHARDMILL_HD int64_t DnnIndex(int64_t index) const {
    if (!transposed) return index + index / in_per_group * zero_channels;
    const int64_t in = index % in_per_group, tap = index / in_per_group % taps;
    const int64_t out = index / in_per_group / taps;
    const int64_t small = out / out_per_group * in_per_group + in;
    return (small * taps + tap) * out_per_group + out % out_per_group;
  }

  bool transposed = false;
  int64_t taps = 1, in_per_group = 1, zero_channels = 0, out_per_group = 1;
};

// One index: one element, at its place in the op table. Zeros for padding are not written.
template <typename From, typename To>
struct WeightsToDnnKernel {
  WeightOrder order;
  const From* from;
  To* to;

  SHARDMILL_HD void operator()(int64_t index) const {
    Assign(ToFloat(from[index]), to + order.DnnIndex(index));
  }
};

template <typename From, typename To>
struct WeightsFromDnnKernel {
  WeightOrder order;
  const From* from;
  To* to;

  SHARDMILL_HD void operator()(int64_t index) const {
    Assign(ToFloat(from[order.DnnIndex(index)]), to + index);
  }
};

}  // namespace shardmill
