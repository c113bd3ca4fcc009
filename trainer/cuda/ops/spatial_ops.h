// Operations that move values between pixels: pooling, upsampling, concatenation, sequences.
#pragma once

#include "trainer/cuda/kernels/concat.h"
#include "trainer/cuda/kernels/pooling.h"
#include "trainer/cuda/kernels/upsample.h"
#include "trainer/cuda/kernels/whole_image.h"
#include "trainer/cuda/ops/kernel_backend.h"

namespace shardmill {

template <typename Base>
class SpatialOps : public Base {
 public:
  using Base::Base;

  Status MaxPoolForward(Stream& stream, const PoolShape& shape, const void* x, void* y,
                        uint8_t* indices) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const PoolGeometry<T> pool(shape);
      const MaxPoolForwardKernel<T> kernel = {pool, As<T>(x), As<T>(y), indices};
      return this->Launch(stream, pool.outputs.Count(), kernel);
    });
  }

  Status MaxPoolBackward(Stream& stream, const PoolShape& shape, const void* dy,
                         const uint8_t* indices, GradientMode mode, void* dx) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const PoolGeometry<T> pool(shape);
      const MaxPoolBackwardKernel<T> kernel = {pool, As<T>(dy), indices, mode, As<T>(dx)};
      return this->Launch(stream, pool.inputs.Count(), kernel);
    });
  }

  Status MaxPoolGather(Stream& stream, const PoolShape& shape, const void* x,
                       const uint8_t* indices, GradientMode mode, void* y) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const PoolGeometry<T> pool(shape);
      const MaxPoolGatherKernel<T> kernel = {pool, As<T>(x), indices, mode, As<T>(y)};
      return this->Launch(stream, pool.outputs.Count(), kernel);
    });
  }

  Status AveragePoolForward(Stream& stream, const PoolShape& shape, const void* x,
                            void* y) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const PoolGeometry<T> pool(shape);
      const AveragePoolForwardKernel<T> kernel = {pool, As<T>(x), As<T>(y)};
      return this->Launch(stream, pool.outputs.Count(), kernel);
    });
  }

  Status AveragePoolBackward(Stream& stream, const PoolShape& shape, const void* dy,
                             GradientMode mode, void* dx) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const PoolGeometry<T> pool(shape);
      const AveragePoolBackwardKernel<T> kernel = {pool, As<T>(dy), mode, As<T>(dx)};
      return this->Launch(stream, pool.inputs.Count(), kernel);
    });
  }

  Status UpsampleForward(Stream& stream, const UpsampleShape& shape, const void* x,
                         void* y) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const UpsampleForwardKernel<T> kernel = {UpsampleGeometry<T>(shape), As<T>(x), As<T>(y)};
      return this->Launch(stream, kernel.geometry.output.Count(), kernel);
    });
  }

  Status UpsampleBackward(Stream& stream, const UpsampleShape& shape, const void* dy,
                          GradientMode mode, void* dx) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const UpsampleBackwardKernel<T> kernel = {UpsampleGeometry<T>(shape), As<T>(dy), mode,
                                                As<T>(dx)};
      return this->Launch(stream, kernel.geometry.input.Count(), kernel);
    });
  }

  Status StatisticsPoolForward(Stream& stream, const Shape& shape, const int32_t* lengths,
                               const void* x, void* y) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const StatisticsPoolForwardKernel<T> kernel = {
          shape, ImagesOf<T>(shape), lengths, OpTable::kStatisticsEpsilon, As<T>(x), As<T>(y)};
      return this->Launch(stream, ImagesOf<T>(shape).Count(), kernel);
    });
  }

  Status StatisticsPoolBackward(Stream& stream, const Shape& shape, const int32_t* lengths,
                                const void* x, const void* y, const void* dy, GradientMode mode,
                                void* dx) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const StatisticsPoolBackwardKernel<T> kernel = {Places<T>(shape), lengths, As<T>(x), As<T>(y),
                                                      As<T>(dy),        mode,    As<T>(dx)};
      return this->Launch(stream, Places<T>(shape).Count(), kernel);
    });
  }

  Status ZeroPadding(Stream& stream, const Shape& shape, const int32_t* lengths, void* x) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const ZeroPaddingKernel<T> kernel = {Places<T>(shape), lengths, As<T>(x)};
      return this->Launch(stream, Places<T>(shape).Count(), kernel);
    });
  }

  Status GlobalAveragePoolForward(Stream& stream, const Shape& shape, const void* x,
                                  void* y) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const GlobalAveragePoolForwardKernel<T> kernel = {shape, ImagesOf<T>(shape), As<T>(x),
                                                        As<T>(y)};
      return this->Launch(stream, ImagesOf<T>(shape).Count(), kernel);
    });
  }

  Status GlobalAveragePoolBackward(Stream& stream, const Shape& shape, const void* dy,
                                   GradientMode mode, void* dx) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const GlobalAveragePoolBackwardKernel<T> kernel = {Places<T>(shape), As<T>(dy), mode,
                                                         As<T>(dx)};
      return this->Launch(stream, Places<T>(shape).Count(), kernel);
    });
  }

  Status ConcatForward(Stream& stream, const Shape& whole, const ConcatPart* parts, int count,
                       void* y) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      int64_t channel = 0;
      for (const ConcatPart* part = parts; part < parts + count; ++part) {
        const Places<T> places({whole.n, whole.h, whole.w, part->shape.c});
        const ConcatForwardKernel<T> kernel = {part->shape, places,         whole,
                                               channel,     As<T>(part->x), As<T>(y)};
        RETURN_IF_ERROR(this->Launch(stream, places.Count(), kernel));
        channel += part->shape.c;
      }
      return OkStatus();
    });
  }

  Status ConcatBackward(Stream& stream, const Shape& whole, const ConcatPart* parts, int count,
                        const void* dy) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      int64_t channel = 0;
      for (const ConcatPart* part = parts; part < parts + count; ++part) {
        const Places<T> places(part->shape);
        const ConcatBackwardKernel<T> kernel = {places,    whole,      channel,
                                                As<T>(dy), part->mode, As<T>(part->dx)};
        if (part->dx != nullptr) {
          RETURN_IF_ERROR(this->Launch(stream, places.Count(), kernel));
        }
        channel += part->shape.c;
      }
      return OkStatus();
    });
  }

 private:
  // One pixel per image.
  template <typename T>
  static Places<T> ImagesOf(const Shape& shape) {
    return Places<T>({shape.n, 1, 1, shape.c});
  }
};

}  // namespace shardmill
