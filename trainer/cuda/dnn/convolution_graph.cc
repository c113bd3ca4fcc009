#include "trainer/cuda/dnn/convolution_graph.h"

#include <limits>
#include <utility>

namespace shardmill {
namespace {

// What every buffer of the trainer is aligned to, and more than the vector loads of cuDNN need.
constexpr int64_t kAlignment = 16;

cudnnDataType_t DataType(DnnType type) {
  return type == DnnType::kBf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
}

// cuDNN makes plans for some layouts that overlap or that nobody meant.
Status CheckLayout(const DnnTensor& tensor) {
  const auto& [n, c, h, w] = tensor.sizes;
  const std::array<int64_t, 4> dense = {h * w * c, 1, w * c, c};
  if (n > 0 && c > 0 && h > 0 && w > 0 && tensor.strides == dense) return OkStatus();
  return InvalidArgumentError("a tensor of a convolution is empty or not dense NHWC");
}

Result<DnnDescriptor> DescribeTensor(int64_t id, const DnnTensor& tensor, bool intermediate) {
  RETURN_IF_ERROR(CheckLayout(tensor));
  return DnnBuilder(CUDNN_BACKEND_TENSOR_DESCRIPTOR, "a tensor")
      .Value(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, DataType(tensor.type))
      .Int64s(CUDNN_ATTR_TENSOR_DIMENSIONS, {tensor.sizes.begin(), tensor.sizes.end()})
      .Int64s(CUDNN_ATTR_TENSOR_STRIDES, {tensor.strides.begin(), tensor.strides.end()})
      .Int64(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
      .Int64(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment)
      .Bool(CUDNN_ATTR_TENSOR_IS_VIRTUAL, intermediate)
      .Finalize();
}

Result<DnnDescriptor> DescribeWindow(const ConvolutionProblem& problem,
                                     const ConvolutionTensors& tensors) {
  const Window& window = problem.window;
  return DnnBuilder(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, "the window of a convolution")
      .Value(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
      .Value(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION)
      .Int64(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 2)
      .Int64s(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {tensors.pad_before[0], tensors.pad_before[1]})
      .Int64s(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {tensors.pad_behind[0], tensors.pad_behind[1]})
      .Int64s(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {window.stride_h, window.stride_w})
      .Int64s(CUDNN_ATTR_CONVOLUTION_DILATIONS, {window.dilation_h, window.dilation_w})
      .Finalize();
}

// cuDNN names the attributes of the three directions apart.
struct DirectionNames {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t large, small, weights, window, alpha, beta;
};

DirectionNames NamesOf(ConvolutionDirection direction) {
  switch (direction) {
    case ConvolutionDirection::kToSmall:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case ConvolutionDirection::kToLarge:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    default:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
}

}  // namespace

Result<const DnnDescriptor*> ConvolutionGraph::Keep(Result<DnnDescriptor> part) {
  RETURN_IF_ERROR(part.status());
  parts_.push_back(std::make_unique<DnnDescriptor>(std::move(*part)));
  return static_cast<const DnnDescriptor*>(parts_.back().get());
}

Result<const DnnDescriptor*> ConvolutionGraph::AddTensor(int64_t id, const DnnTensor& tensor) {
  return Keep(DescribeTensor(id, tensor, /*intermediate=*/false));
}

Result<const DnnDescriptor*> ConvolutionGraph::AddIntermediate(const DnnTensor& like) {
  DnnTensor tensor = like;
  tensor.type = DnnType::kF32;
  return Keep(DescribeTensor(next_intermediate_++, tensor, /*intermediate=*/true));
}

Status ConvolutionGraph::AddConvolution(const ConvolutionProblem& problem,
                                        const ConvolutionTensors& tensors,
                                        const DnnDescriptor* small) {
  ASSIGN_OR_RETURN(const DnnDescriptor* large, AddTensor(kLargeId, tensors.large));
  ASSIGN_OR_RETURN(const DnnDescriptor* weights, AddTensor(kWeightsId, tensors.weights));
  ASSIGN_OR_RETURN(const DnnDescriptor* window, Keep(DescribeWindow(problem, tensors)));
  const DirectionNames names = NamesOf(problem.direction);
  ASSIGN_OR_RETURN(const DnnDescriptor* operation,
                   Keep(DnnBuilder(names.operation, "the convolution " + ProblemText(problem))
                            .Descriptor(names.large, *large)
                            .Descriptor(names.small, *small)
                            .Descriptor(names.weights, *weights)
                            .Descriptor(names.window, *window)
                            .Float(names.alpha, 1)
                            .Float(names.beta, 0)
                            .Finalize()));
  operations_.push_back(operation);
  return OkStatus();
}

Status ConvolutionGraph::AddPointwise(cudnnPointwiseMode_t mode, double ceiling,
                                      const DnnDescriptor* x, const DnnDescriptor* b,
                                      const DnnDescriptor* y) {
  DnnBuilder kind(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, "a pointwise operation");
  kind.Value(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode)
      .Value(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  if (ceiling < std::numeric_limits<double>::infinity()) {
    kind.Double(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, ceiling);
  }
  ASSIGN_OR_RETURN(const DnnDescriptor* pointwise, Keep(kind.Finalize()));
  DnnBuilder operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "a pointwise operation");
  operation.Descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, *pointwise)
      .Descriptor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *x)
      .Descriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *y);
  if (b != nullptr) operation.Descriptor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
  ASSIGN_OR_RETURN(const DnnDescriptor* added, Keep(operation.Finalize()));
  operations_.push_back(added);
  return OkStatus();
}

Status ConvolutionGraph::AddEnding(const ConvolutionProblem& problem,
                                   const ConvolutionTensors& tensors, const DnnDescriptor* from,
                                   const DnnDescriptor* to) {
  const bool activates = problem.activation != Activation::kNone;
  const double none = std::numeric_limits<double>::infinity();
  if (problem.bias) {
    ASSIGN_OR_RETURN(const DnnDescriptor* bias, AddTensor(kBiasId, tensors.bias));
    const DnnDescriptor* sum = to;
    if (activates) {
      ASSIGN_OR_RETURN(sum, AddIntermediate(tensors.small));
    }
    RETURN_IF_ERROR(AddPointwise(CUDNN_POINTWISE_ADD, none, from, bias, sum));
    from = sum;
  }
  if (!activates) return OkStatus();
  return AddPointwise(CUDNN_POINTWISE_RELU_FWD, ActivationCeiling(problem.activation), from,
                      nullptr, to);
}

Result<ConvolutionGraph> ConvolutionGraph::Create(const ConvolutionProblem& problem,
                                                  const ConvolutionTensors& tensors) {
  ConvolutionGraph graph;
  const bool fused = problem.bias || problem.activation != Activation::kNone;
  if (fused && problem.direction != ConvolutionDirection::kToSmall) {
    return InternalError("bias and activation are fused in one direction only");
  }
  ASSIGN_OR_RETURN(const DnnDescriptor* small, graph.AddTensor(kSmallId, tensors.small));
  const DnnDescriptor* raw = small;
  if (fused) {
    ASSIGN_OR_RETURN(raw, graph.AddIntermediate(tensors.small));
  }
  RETURN_IF_ERROR(graph.AddConvolution(problem, tensors, raw));
  if (fused) RETURN_IF_ERROR(graph.AddEnding(problem, tensors, raw, small));
  ASSIGN_OR_RETURN(graph.graph_,
                   DnnBuilder(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, ProblemText(problem))
                       .Descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS, graph.operations_)
                       .Finalize());
  return graph;
}

}  // namespace shardmill
