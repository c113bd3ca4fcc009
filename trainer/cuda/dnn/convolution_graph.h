// The operations of a convolution problem as a cuDNN operation graph.
#pragma once

#include <memory>
#include <vector>

#include "reader/base/status.h"
#include "trainer/cuda/dnn/convolution_problem.h"
#include "trainer/cuda/dnn/descriptor.h"

namespace shardmill {

// The names of the tensors in a variant pack.
enum DnnTensorId : int64_t { kLargeId = 1, kSmallId = 2, kWeightsId = 3, kBiasId = 4 };

class ConvolutionGraph {
 public:
  // InvalidArgument where cuDNN finds the tensors and the window in conflict.
  static Result<ConvolutionGraph> Create(const ConvolutionProblem& problem,
                                         const ConvolutionTensors& tensors);

  const DnnDescriptor& operations() const { return graph_; }

 private:
  // Keeps a finished part alive and hands it out.
  Result<const DnnDescriptor*> Keep(Result<DnnDescriptor> part);
  Result<const DnnDescriptor*> AddTensor(int64_t id, const DnnTensor& tensor);
  // A tensor that exists in registers only.
  Result<const DnnDescriptor*> AddIntermediate(const DnnTensor& like);
  Status AddConvolution(const ConvolutionProblem& problem, const ConvolutionTensors& tensors,
                        const DnnDescriptor* small);
  // `from`, with bias and activation, becomes `to`.
  Status AddEnding(const ConvolutionProblem& problem, const ConvolutionTensors& tensors,
                   const DnnDescriptor* from, const DnnDescriptor* to);
  Status AddPointwise(cudnnPointwiseMode_t mode, double ceiling, const DnnDescriptor* x,
                      const DnnDescriptor* b, const DnnDescriptor* y);

  std::vector<std::unique_ptr<DnnDescriptor>> parts_;
  std::vector<const DnnDescriptor*> operations_;
  int64_t next_intermediate_ = 100;
  DnnDescriptor graph_;
};

}  // namespace shardmill
