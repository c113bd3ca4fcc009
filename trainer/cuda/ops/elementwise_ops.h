// Operations that treat each element by itself.
#pragma once

#include "trainer/cuda/kernels/elementwise.h"
#include "trainer/cuda/kernels/input.h"
#include "trainer/cuda/ops/kernel_backend.h"

namespace shardmill {

template <typename Base>
class ElementwiseOps : public Base {
 public:
  using Base::Base;

  Status NormalizeImages(Stream& stream, const Shape& shape, ImageType type, const void* images,
                         const float* mean, const float* inverse_deviation, void* y) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const int64_t elements = shape.Elements();
      const NormalizeImagesKernel<T> kernel = {elements, shape.c,           type,    images,
                                               mean,     inverse_deviation, As<T>(y)};
      return this->Launch(stream, GroupsOf<T>(elements), kernel);
    });
  }

  Status NormalizePaddedImages(Stream& stream, const Shape& shape, ImageType type,
                               const void* images, const float* mean,
                               const float* inverse_deviation, int64_t channels, void* y) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const Places<T> places({shape.n, shape.h, shape.w, channels});
      const InputKernel<T> kernel = {
          shape, places, type, images, nullptr, nullptr, 0, mean, inverse_deviation, {}, As<T>(y)};
      return this->Launch(stream, places.Count(), kernel);
    });
  }

  Status ActivationForward(Stream& stream, Activation activation, int64_t elements, const void* x,
                           void* y) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const ActivationForwardKernel<T> kernel = {elements, ActivationGate(activation), As<T>(x),
                                                 As<T>(y)};
      return this->Launch(stream, GroupsOf<T>(elements), kernel);
    });
  }

  Status ActivationBackward(Stream& stream, Activation activation, int64_t elements, const void* y,
                            const void* dy, void* dx) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const ActivationBackwardKernel<T> kernel = {elements, ActivationGate(activation), As<T>(y),
                                                  As<T>(dy), As<T>(dx)};
      return this->Launch(stream, GroupsOf<T>(elements), kernel);
    });
  }

  Status Dropout(Stream& stream, const DropoutCall& call, const void* x, void* y) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const DropoutKernel<T> kernel = {call.shape,
                                       call.key,
                                       call.first_row,
                                       static_cast<uint64_t>(call.drop * 0x1p32),
                                       static_cast<float>(1 / (1 - call.drop)),
                                       call.whole_channels,
                                       As<T>(x),
                                       As<T>(y),
                                       call.key_at};
      return this->Launch(stream, GroupsOf<T>(call.shape.Elements()), kernel);
    });
  }

  Status Add(Stream& stream, int64_t elements, const void* x, void* y) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const AddKernel<T> kernel = {elements, As<T>(x), As<T>(y)};
      return this->Launch(stream, GroupsOf<T>(elements), kernel);
    });
  }
};

}  // namespace shardmill
