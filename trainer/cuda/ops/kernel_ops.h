// A whole op table made of a backend (memory, streams, convolutions; see kernel_backend.h) and of
// the kernels, which run wherever the backend launches them. Computes in f32 on elements of f32 or
// bf16; parameters, statistics and other vectors per channel are f32.
#pragma once

#include "trainer/cuda/ops/channel_ops.h"
#include "trainer/cuda/ops/elementwise_ops.h"
#include "trainer/cuda/ops/loss_ops.h"
#include "trainer/cuda/ops/spatial_ops.h"

namespace shardmill {

template <typename Backend>
using KernelLayers = LossOps<SpatialOps<ChannelOps<ElementwiseOps<Backend>>>>;

template <typename Backend>
class KernelOps final : public KernelLayers<Backend> {
 public:
  using KernelLayers<Backend>::KernelLayers;
};

}  // namespace shardmill
