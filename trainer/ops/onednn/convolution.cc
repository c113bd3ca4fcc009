// Convolution and transposed convolution by oneDNN. Tensors stay NHWC; weights are in the order
// of the op table outside and in whatever order the primitive prefers inside: they are small, and
// one reorder per use is cheaper than a slower kernel.
//
// In bf16 the factors of all products are rounded to bf16 before; sums and results are f32. Where
// oneDNN has no vector code for that, the direction stays in f32.
#include <algorithm>
#include <optional>
#include <string>

#include "trainer/ops/onednn/bias.h"
#include "trainer/ops/onednn/convolution_primitives.h"
#include "trainer/ops/onednn/onednn_ops.h"

namespace shardmill {
namespace {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;
constexpr auto kF32 = Type::f32;

Desc ActivationDesc(const Shape& shape, Type type) {
  return Desc({shape.n, shape.c, shape.h, shape.w}, type, Tag::nhwc);
}

// What every descriptor of one convolution is made of.
struct Descs {
  // `factors` is the type of what is multiplied.
  Descs(const ConvolutionShape& shape, Type factors);

  Desc x, y, plain_weights, forward_bias;  // f32
  Desc x_factor, y_factor, weights_factor;
  Desc any_weights;  // f32, for their gradient
  dnnl::memory::dims strides, dilations, pad_begin, pad_end;
};

Descs::Descs(const ConvolutionShape& shape, Type factors)
    : x(ActivationDesc(shape.input, kF32)),
      y(ActivationDesc(shape.Output(), kF32)),
      x_factor(ActivationDesc(shape.input, factors)),
      y_factor(ActivationDesc(shape.Output(), factors)) {
  const Window& w = shape.window;
  const int64_t out = shape.out_channels / shape.groups, in = shape.input.c / shape.groups;
  dnnl::memory::dims dims = {shape.groups, out, in, w.kernel_h, w.kernel_w};
  if (shape.groups == 1) dims.erase(dims.begin());
  any_weights = Desc(dims, kF32, Tag::any);
  weights_factor = Desc(dims, factors, Tag::any);
  plain_weights = Desc(dims, kF32, shape.groups > 1 ? Tag::gohwi : Tag::ohwi);
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

// Whether oneDNN has vector code behind a description.
template <typename PrimitiveDesc>
bool IsFast(const PrimitiveDesc& desc) {
  return std::string(desc.impl_info_str()).find("ref") == std::string::npos;
}

// Where oneDNN applies the activation itself; it is slow at that behind a transposed convolution,
// as with the bias.
dnnl::primitive_attr ForwardAttributes(const ConvolutionShape& shape) {
  dnnl::primitive_attr attributes = OwnScratchpad();
  if (shape.transposed || shape.activation == Activation::kNone) return attributes;
  dnnl::post_ops behind;
  if (shape.activation == Activation::kRelu) {
    behind.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  } else {
    const auto ceiling = static_cast<float>(ActivationCeiling(shape.activation));
    behind.append_eltwise(1, dnnl::algorithm::eltwise_clip, 0, ceiling);
  }
  attributes.set_post_ops(behind);
  return attributes;
}

// The descriptions of the three directions; of the first alone where that is all that is wanted.
template <typename Family>
struct Directions {
  using Forward = typename Family::Forward;
  using BackwardData = typename Family::BackwardData;
  using BackwardWeights = typename Family::BackwardWeights;

  Directions(const ConvolutionShape& shape, const Descs& d, const dnnl::engine& engine)
      : forward(
            {dnnl::prop_kind::forward_training, Family::kAlgorithm, d.x_factor, d.weights_factor,
             d.forward_bias, d.y, d.strides, d.dilations, d.pad_begin, d.pad_end},
            ForwardAttributes(shape), engine) {
    if (shape.forward_only) return;
    data = {{Family::kAlgorithm, d.x, d.weights_factor, d.y_factor, d.strides, d.dilations,
             d.pad_begin, d.pad_end},
            OwnScratchpad(),
            engine,
            forward};
    weights = {{Family::kAlgorithm, d.x_factor, d.any_weights, d.y_factor, d.strides, d.dilations,
                d.pad_begin, d.pad_end},
               OwnScratchpad(),
               engine,
               forward};
  }

  typename Forward::primitive_desc forward;
  typename BackwardData::primitive_desc data;
  typename BackwardWeights::primitive_desc weights;
};

class OnednnConvolution : public ConvolutionOp {
 public:
  // Throws dnnl::error.
  template <typename Family>
  void Prepare(const ConvolutionShape& shape, ConvolutionPrecision precision,
               const dnnl::engine& engine);

  int64_t WorkspaceBytes() const override {
    return std::max({forward_.WorkspaceBytes(), data_.WorkspaceBytes(), gradient_.WorkspaceBytes(),
                     bias_bytes_});
  }

  Status Forward(Stream& stream, const void* x, const void* weights, const void* bias, void* y,
                 void* workspace) override {
    dnnl::stream& queue = static_cast<OnednnStream&>(stream).get();
    RETURN_IF_ERROR(forward_.SetInput(queue, forward_x_, x, workspace));
    RETURN_IF_ERROR(forward_.main().SetAddress(forward_y_, y));
    if (forward_has_bias_) RETURN_IF_ERROR(forward_.main().SetAddress(forward_bias_, bias));
    RETURN_IF_ERROR(forward_.ReorderWeights(queue, weights, workspace, workspace));
    RETURN_IF_ERROR(forward_.RunMain(queue, workspace));
    if (ends_apart_) {
      AddBias(output_, activation_, static_cast<const float*>(bias), static_cast<float*>(y),
              workspace);
    }
    return OkStatus();
  }

  Status BackwardData(Stream& stream, const void* dy, const void* weights, void* dx,
                      void* workspace) override {
    dnnl::stream& queue = static_cast<OnednnStream&>(stream).get();
    RETURN_IF_ERROR(data_.SetInput(queue, data_dy_, dy, workspace));
    RETURN_IF_ERROR(data_.main().SetAddress(data_dx_, dx));
    RETURN_IF_ERROR(data_.ReorderWeights(queue, weights, workspace, workspace));
    return data_.RunMain(queue, workspace);
  }

  Status BackwardWeights(Stream& stream, const void* x, const void* dy, void* dweights, void* dbias,
                         void* workspace) override {
    dnnl::stream& queue = static_cast<OnednnStream&>(stream).get();
    RETURN_IF_ERROR(gradient_.SetInput(queue, gradient_x_, x, workspace));
    RETURN_IF_ERROR(gradient_.SetInput(queue, gradient_dy_, dy, workspace));
    RETURN_IF_ERROR(gradient_.RunMain(queue, workspace));
    RETURN_IF_ERROR(gradient_.ReorderWeights(queue, workspace, dweights, workspace));
    if (dbias != nullptr) {
      SumToBias(output_, static_cast<const float*>(dy), static_cast<float*>(dbias), workspace);
    }
    return OkStatus();
  }

 private:
  template <typename PrimitiveDesc>
  void CreateForward(const Descs& d, const PrimitiveDesc& desc, const dnnl::primitive& primitive,
                     const dnnl::engine& engine);
  template <typename PrimitiveDesc>
  void CreateData(const Descs& d, const PrimitiveDesc& desc, const dnnl::primitive& primitive,
                  const dnnl::engine& engine);
  template <typename PrimitiveDesc>
  void CreateWeights(const Descs& d, const PrimitiveDesc& desc, const dnnl::primitive& primitive,
                     const dnnl::engine& engine);

  WeightedPrimitive forward_, data_, gradient_;
  int forward_x_ = 0, forward_y_ = 0, forward_bias_ = 0;
  int data_dy_ = 0, data_dx_ = 0;
  int gradient_x_ = 0, gradient_dy_ = 0;
  bool forward_has_bias_ = false;
  bool ends_apart_ = false;  // bias and activation are left to AddBias
  Activation activation_ = Activation::kNone;
  int64_t bias_bytes_ = 0;
  Shape output_;
};

// The descriptions with factors in bf16, unless oneDNN has none.
template <typename Family>
std::optional<Directions<Family>> Bf16Directions(const ConvolutionShape& shape, const Descs& d,
                                                 const dnnl::engine& engine) {
  try {
    return Directions<Family>(shape, d, engine);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented) return std::nullopt;
    throw;
  }
}

template <typename Family>
void OnednnConvolution::Prepare(const ConvolutionShape& shape, ConvolutionPrecision precision,
                                const dnnl::engine& engine) {
  output_ = shape.Output();
  forward_has_bias_ = shape.bias && !shape.transposed;
  activation_ = shape.activation;
  ends_apart_ = shape.transposed && (shape.bias || activation_ != Activation::kNone);
  if (ends_apart_ || shape.bias) bias_bytes_ = BiasWorkspaceBytes(output_);
  const Descs d(shape, kF32), rounded_d(shape, Type::bf16);
  const Directions<Family> plain(shape, d, engine);
  std::optional<Directions<Family>> rounded;
  if (precision == ConvolutionPrecision::kBf16) {
    rounded = Bf16Directions<Family>(shape, rounded_d, engine);
  }
  const auto choose = [&](auto member, const auto& create) {
    const bool round = rounded && IsFast((*rounded).*member);
    create(round ? rounded_d : d, round ? (*rounded).*member : plain.*member);
  };
  using D = Directions<Family>;
  choose(&D::forward, [&](const Descs& descs, const auto& desc) {
    CreateForward(descs, desc, typename Family::Forward(desc), engine);
  });
  if (shape.forward_only) return;
  choose(&D::data, [&](const Descs& descs, const auto& desc) {
    CreateData(descs, desc, typename Family::BackwardData(desc), engine);
  });
  choose(&D::weights, [&](const Descs& descs, const auto& desc) {
    CreateWeights(descs, desc, typename Family::BackwardWeights(desc), engine);
  });
}

template <typename PrimitiveDesc>
void OnednnConvolution::CreateForward(const Descs& d, const PrimitiveDesc& desc,
                                      const dnnl::primitive& primitive,
                                      const dnnl::engine& engine) {
  forward_.Create(desc, primitive, engine, DNNL_ARG_WEIGHTS, desc.weights_desc());
  forward_.CreateReorder(d.plain_weights, desc.weights_desc(), engine);
  forward_x_ = forward_.AddInput(DNNL_ARG_SRC, d.x, d.x_factor, engine);
  forward_y_ = forward_.main().AddArgument(DNNL_ARG_DST, d.y, engine);
  if (!forward_has_bias_) return;
  forward_bias_ = forward_.main().AddArgument(DNNL_ARG_BIAS, d.forward_bias, engine);
}

template <typename PrimitiveDesc>
void OnednnConvolution::CreateData(const Descs& d, const PrimitiveDesc& desc,
                                   const dnnl::primitive& primitive, const dnnl::engine& engine) {
  data_.Create(desc, primitive, engine, DNNL_ARG_WEIGHTS, desc.weights_desc());
  data_.CreateReorder(d.plain_weights, desc.weights_desc(), engine);
  data_dy_ = data_.AddInput(DNNL_ARG_DIFF_DST, d.y, d.y_factor, engine);
  data_dx_ = data_.main().AddArgument(DNNL_ARG_DIFF_SRC, d.x, engine);
}

template <typename PrimitiveDesc>
void OnednnConvolution::CreateWeights(const Descs& d, const PrimitiveDesc& desc,
                                      const dnnl::primitive& primitive,
                                      const dnnl::engine& engine) {
  gradient_.Create(desc, primitive, engine, DNNL_ARG_DIFF_WEIGHTS, desc.diff_weights_desc());
  gradient_.CreateReorder(desc.diff_weights_desc(), d.plain_weights, engine);
  gradient_x_ = gradient_.AddInput(DNNL_ARG_SRC, d.x, d.x_factor, engine);
  gradient_dy_ = gradient_.AddInput(DNNL_ARG_DIFF_DST, d.y, d.y_factor, engine);
}

}  // namespace

Result<std::unique_ptr<ConvolutionOp>> OnednnOps::PrepareConvolution(
    const ConvolutionShape& shape) {
  RETURN_IF_ERROR(shape.Check());
  if (shape.zero_channels > 0) return InternalError("images are not padded for oneDNN");
  auto convolution = std::make_unique<OnednnConvolution>();
  try {
    if (shape.transposed) {
      convolution->Prepare<Transposed>(shape, precision_, engine_);
    } else {
      convolution->Prepare<Plain>(shape, precision_, engine_);
    }
  } catch (const dnnl::error& error) {
    return InternalError("oneDNN cannot prepare a convolution of " + ShapeText(shape.input) +
                         " to " + ShapeText(shape.Output()) + ": " + error.what());
  }
  return std::unique_ptr<ConvolutionOp>(std::move(convolution));
}

}  // namespace shardmill
