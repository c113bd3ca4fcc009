// Convolution and transposed convolution by oneDNN. Tensors stay NHWC; weights are in the order
// of the op table outside and in whatever order the primitive prefers inside: they are small, and
// one reorder per use is cheaper than a slower kernel.
#include <algorithm>
#include <string>
#include <type_traits>

#include "trainer/ops/onednn/bias.h"
#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/primitive.h"

namespace shardmill {
namespace {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
constexpr auto kF32 = dnnl::memory::data_type::f32;

// What every descriptor of one convolution is made of.
struct Descs {
  explicit Descs(const ConvolutionShape& shape);

  Desc x, y, any_weights, plain_weights, forward_bias;
  dnnl::memory::dims strides, dilations, pad_begin, pad_end;
};

Desc ActivationDesc(const Shape& shape) {
  return Desc({shape.n, shape.c, shape.h, shape.w}, kF32, Tag::nhwc);
}

Descs::Descs(const ConvolutionShape& shape)
    : x(ActivationDesc(shape.input)), y(ActivationDesc(shape.Output())) {
  const Window& w = shape.window;
  const int64_t out = shape.out_channels / shape.groups, in = shape.input.c / shape.groups;
  const dnnl::memory::dims dims = {shape.groups, out, in, w.kernel_h, w.kernel_w};
  const dnnl::memory::dims ungrouped(dims.begin() + 1, dims.end());
  any_weights = shape.groups > 1 ? Desc(dims, kF32, Tag::any) : Desc(ungrouped, kF32, Tag::any);
  plain_weights =
      shape.groups > 1 ? Desc(dims, kF32, Tag::gohwi) : Desc(ungrouped, kF32, Tag::ohwi);
  // See bias.h for the others.
  if (shape.bias && !shape.transposed) forward_bias = Desc({shape.out_channels}, kF32, Tag::x);
  strides = {w.stride_h, w.stride_w};
  dilations = {w.dilation_h - 1, w.dilation_w - 1};
  pad_begin = {w.pad_top, w.pad_left};
  pad_end = {w.pad_bottom, w.pad_right};
}

// The two families of oneDNN primitives with equal shapes of their interfaces.
struct Plain {
  using Forward = dnnl::convolution_forward;
  using BackwardData = dnnl::convolution_backward_data;
  using BackwardWeights = dnnl::convolution_backward_weights;
  static constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
};

struct Transposed {
  using Forward = dnnl::deconvolution_forward;
  using BackwardData = dnnl::deconvolution_backward_data;
  using BackwardWeights = dnnl::deconvolution_backward_weights;
  static constexpr auto kAlgorithm = dnnl::algorithm::deconvolution_direct;
};

// Scratch memory is ours: oneDNN must not allocate in a step.
dnnl::primitive_attr Attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

int64_t Aligned(size_t bytes) {
  return (static_cast<int64_t>(bytes) + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
}

// A primitive with reordered weights: the workspace holds the weights in the primitive's order,
// then the scratch memory of the reorder and of the primitive.
class WeightedPrimitive {
 public:
  template <typename PrimitiveDesc>
  void Create(const PrimitiveDesc& desc, const dnnl::primitive& primitive,
              const dnnl::engine& engine, int weights_argument, const Desc& weights) {
    main_ = Primitive(primitive);
    weights_ = main_.AddArgument(weights_argument, weights, engine);
    scratch_ = main_.AddArgument(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc(), engine);
    weight_bytes_ = Aligned(weights.get_size());
    scratch_bytes_ = Aligned(desc.scratchpad_desc().get_size());
  }

  // Adds the reorder between the caller's weights and the primitive's.
  void CreateReorder(const Desc& from, const Desc& to, const dnnl::engine& engine) {
    const dnnl::reorder::primitive_desc desc(engine, from, engine, to, Attributes());
    reorder_ = Primitive(dnnl::reorder(desc));
    reorder_from_ = reorder_.AddArgument(DNNL_ARG_FROM, from, engine);
    reorder_to_ = reorder_.AddArgument(DNNL_ARG_TO, to, engine);
    reorder_scratch_ = reorder_.AddArgument(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc(), engine);
    scratch_bytes_ = std::max(scratch_bytes_, Aligned(desc.scratchpad_desc().get_size()));
  }

  int64_t WorkspaceBytes() const { return weight_bytes_ + scratch_bytes_; }
  Primitive& main() { return main_; }

  Status Reorder(dnnl::stream& stream, const void* from, const void* to, void* workspace) {
    RETURN_IF_ERROR(reorder_.SetAddress(reorder_from_, from));
    RETURN_IF_ERROR(reorder_.SetAddress(reorder_to_, to));
    RETURN_IF_ERROR(reorder_.SetAddress(reorder_scratch_, Scratch(workspace)));
    return reorder_.Run(stream);
  }

  Status RunMain(dnnl::stream& stream, void* workspace) {
    RETURN_IF_ERROR(main_.SetAddress(weights_, workspace));
    RETURN_IF_ERROR(main_.SetAddress(scratch_, Scratch(workspace)));
    return main_.Run(stream);
  }

 private:
  void* Scratch(void* workspace) const { return static_cast<char*>(workspace) + weight_bytes_; }

  Primitive main_, reorder_;
  int weights_ = 0, scratch_ = 0;
  int reorder_from_ = 0, reorder_to_ = 0, reorder_scratch_ = 0;
  int64_t weight_bytes_ = 0, scratch_bytes_ = 0;
};

class OnednnConvolution : public ConvolutionOp {
 public:
  // Throws dnnl::error.
  template <typename Family>
  void Prepare(const ConvolutionShape& shape, const dnnl::engine& engine);

  int64_t WorkspaceBytes() const override {
    return std::max(
        {forward_.WorkspaceBytes(), data_.WorkspaceBytes(), gradient_.WorkspaceBytes()});
  }

  Status Forward(Stream& stream, const void* x, const void* weights, const void* bias, void* y,
                 void* workspace) override {
    dnnl::stream& queue = static_cast<OnednnStream&>(stream).get();
    RETURN_IF_ERROR(forward_.main().SetAddress(forward_x_, x));
    RETURN_IF_ERROR(forward_.main().SetAddress(forward_y_, y));
    if (forward_has_bias_) RETURN_IF_ERROR(forward_.main().SetAddress(forward_bias_, bias));
    RETURN_IF_ERROR(forward_.Reorder(queue, weights, workspace, workspace));
    RETURN_IF_ERROR(forward_.RunMain(queue, workspace));
    if (bias != nullptr && !forward_has_bias_) {
      AddBias(output_, static_cast<const float*>(bias), static_cast<float*>(y), workspace);
    }
    return OkStatus();
  }

  Status BackwardData(Stream& stream, const void* dy, const void* weights, void* dx,
                      void* workspace) override {
    dnnl::stream& queue = static_cast<OnednnStream&>(stream).get();
    RETURN_IF_ERROR(data_.main().SetAddress(data_dy_, dy));
    RETURN_IF_ERROR(data_.main().SetAddress(data_dx_, dx));
    RETURN_IF_ERROR(data_.Reorder(queue, weights, workspace, workspace));
    return data_.RunMain(queue, workspace);
  }

  Status BackwardWeights(Stream& stream, const void* x, const void* dy, void* dweights, void* dbias,
                         void* workspace) override {
    dnnl::stream& queue = static_cast<OnednnStream&>(stream).get();
    RETURN_IF_ERROR(gradient_.main().SetAddress(gradient_x_, x));
    RETURN_IF_ERROR(gradient_.main().SetAddress(gradient_dy_, dy));
    RETURN_IF_ERROR(gradient_.RunMain(queue, workspace));
    RETURN_IF_ERROR(gradient_.Reorder(queue, workspace, dweights, workspace));
    if (dbias != nullptr) {
      SumToBias(output_, static_cast<const float*>(dy), static_cast<float*>(dbias), workspace);
    }
    return OkStatus();
  }

 private:
  template <typename Family>
  void PrepareBackwardData(const Descs& d, const dnnl::engine& engine,
                           const typename Family::Forward::primitive_desc& hint);
  template <typename Family>
  void PrepareBackwardWeights(const Descs& d, const dnnl::engine& engine,
                              const typename Family::Forward::primitive_desc& hint);

  WeightedPrimitive forward_, data_, gradient_;
  int forward_x_ = 0, forward_y_ = 0, forward_bias_ = 0;
  int data_dy_ = 0, data_dx_ = 0;
  int gradient_x_ = 0, gradient_dy_ = 0;
  bool forward_has_bias_ = false;
  Shape output_;
};

template <typename Family>
void OnednnConvolution::Prepare(const ConvolutionShape& shape, const dnnl::engine& engine) {
  using Forward = typename Family::Forward;
  output_ = shape.Output();
  forward_has_bias_ = shape.bias && !shape.transposed;
  const Descs d(shape);
  const typename Forward::desc operation(dnnl::prop_kind::forward_training, Family::kAlgorithm, d.x,
                                         d.any_weights, d.forward_bias, d.y, d.strides, d.dilations,
                                         d.pad_begin, d.pad_end);
  const typename Forward::primitive_desc desc(operation, Attributes(), engine);
  forward_.Create(desc, Forward(desc), engine, DNNL_ARG_WEIGHTS, desc.weights_desc());
  forward_.CreateReorder(d.plain_weights, desc.weights_desc(), engine);
  forward_x_ = forward_.main().AddArgument(DNNL_ARG_SRC, d.x, engine);
  forward_y_ = forward_.main().AddArgument(DNNL_ARG_DST, d.y, engine);
  if (forward_has_bias_) {
    forward_bias_ = forward_.main().AddArgument(DNNL_ARG_BIAS, d.forward_bias, engine);
  }
  PrepareBackwardData<Family>(d, engine, desc);
  PrepareBackwardWeights<Family>(d, engine, desc);
}

template <typename Family>
void OnednnConvolution::PrepareBackwardData(const Descs& d, const dnnl::engine& engine,
                                            const typename Family::Forward::primitive_desc& hint) {
  using Backward = typename Family::BackwardData;
  const typename Backward::desc operation(Family::kAlgorithm, d.x, d.any_weights, d.y, d.strides,
                                          d.dilations, d.pad_begin, d.pad_end);
  const typename Backward::primitive_desc desc(operation, Attributes(), engine, hint);
  data_.Create(desc, Backward(desc), engine, DNNL_ARG_WEIGHTS, desc.weights_desc());
  data_.CreateReorder(d.plain_weights, desc.weights_desc(), engine);
  data_dy_ = data_.main().AddArgument(DNNL_ARG_DIFF_DST, d.y, engine);
  data_dx_ = data_.main().AddArgument(DNNL_ARG_DIFF_SRC, d.x, engine);
}

template <typename Family>
void OnednnConvolution::PrepareBackwardWeights(
    const Descs& d, const dnnl::engine& engine,
    const typename Family::Forward::primitive_desc& hint) {
  using Backward = typename Family::BackwardWeights;
  const typename Backward::desc operation(Family::kAlgorithm, d.x, d.any_weights, d.y, d.strides,
                                          d.dilations, d.pad_begin, d.pad_end);
  const typename Backward::primitive_desc desc(operation, Attributes(), engine, hint);
  gradient_.Create(desc, Backward(desc), engine, DNNL_ARG_DIFF_WEIGHTS, desc.diff_weights_desc());
  gradient_.CreateReorder(desc.diff_weights_desc(), d.plain_weights, engine);
  gradient_x_ = gradient_.main().AddArgument(DNNL_ARG_SRC, d.x, engine);
  gradient_dy_ = gradient_.main().AddArgument(DNNL_ARG_DIFF_DST, d.y, engine);
}

}  // namespace

Result<std::unique_ptr<ConvolutionOp>> OnednnOps::PrepareConvolution(
    const ConvolutionShape& shape) {
  RETURN_IF_ERROR(shape.Check());
  auto convolution = std::make_unique<OnednnConvolution>();
  try {
    if (shape.transposed) {
      convolution->Prepare<Transposed>(shape, engine_);
    } else {
      convolution->Prepare<Plain>(shape, engine_);
    }
  } catch (const dnnl::error& error) {
    return InternalError("oneDNN cannot prepare a convolution of " + ShapeText(shape.input) +
                         " to " + ShapeText(shape.Output()) + ": " + error.what());
  }
  return std::unique_ptr<ConvolutionOp>(std::move(convolution));
}

}  // namespace shardmill
