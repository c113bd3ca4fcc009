// Batch normalisation over all pixels of a batch, with the activation behind it.
//
// With LayerContext::shared_sums the batch is that of all graphs that share it: mean, variance and
// the sums in backward are taken over all their pixels, so that any partition of a batch has the
// same results but for rounding. The gradients of scale and shift stay those of this part.
#pragma once

#include <string>
#include <vector>

#include "trainer/layers/layer.h"

namespace shardmill {

class BatchNormLayer : public Layer {
 public:
  BatchNormLayer(const std::string& name, const Shape& shape, Activation activation,
                 const LayerParameters& parameters, const LayerContext* context)
      : name_(name),
        shape_(shape),
        activation_(activation),
        parameters_(parameters),
        context_(context) {}

  Shape OutputShape() const override { return shape_; }
  int64_t WorkspaceBytes() const override;
  int64_t StateBytes() const override;
  bool BackwardReadsInputs() const override { return true; }
  bool BackwardReadsOutput() const override { return activation_ != Activation::kNone; }
  bool ForwardInPlace() const override { return true; }
  bool BackwardInPlace() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  // The call with everything but mean and variance.
  BatchNormCall Call(const LayerTensors& tensors) const;
  // What lies in the state, one vector each.
  enum StateVector { kMean, kVariance, kSharedScaleGradient, kSharedShiftGradient, kStateVectors };
  void* InState(void* state, StateVector vector) const;

  // What adds the parts on the device; null: nothing does, or the host.
  DeviceNormSums* SumsOnDevice() const;
  Status ShareGradientsOnDevice(const LayerTensors& tensors, const void* dscale,
                                const void* dshift);
  Status ShareGradientsOnHost(const LayerTensors& tensors, const void* dscale, const void* dshift);

  template <typename Body>
  Status OnHost(void* first, void* second, const Body& body);
  Status FinishStatistics(void* mean, void* variance, void* workspace);
  // Statistics of a padded batch, whose padding is zero, become those of its frames.
  template <typename T>
  void LeaveOutPadding(T* mean, T* variance) const;
  // The part's own statistics, of *pixels, become those of the shared batch, *pixels its size.
  template <typename T>
  Status ShareStatistics(T* mean, T* variance, int64_t* pixels);
  // The sums of backward over the shared batch, of which this part has dscale and dshift.
  template <typename T>
  Status ShareGradients(const T* dscale, const T* dshift, T* shared_dscale, T* shared_dshift);

  std::string name_;
  Shape shape_;
  Activation activation_;
  LayerParameters parameters_;
  const LayerContext* context_;
  int64_t shared_pixels_ = 0;         // of the last forward
  std::vector<double> numbers_;       // on their way to the others; kept between steps
  std::vector<double> host_vectors_;  // room for two vectors of any type
};

}  // namespace shardmill
