#include "tests/bench/onednn_kernel_times.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "reader/base/status.h"
#include "tests/bench/bench_clock.h"
#include "trainer/ops/op_shapes.h"

namespace shardmill {
namespace {

using Arguments = std::unordered_map<int, dnnl::memory>;
using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
constexpr auto kF32 = dnnl::memory::data_type::f32;

Desc ActivationDesc(const Shape& shape) {
  return Desc({shape.n, shape.c, shape.h, shape.w}, kF32, Tag::nhwc);
}

struct Plain {
  using Forward = dnnl::convolution_forward;
  using Data = dnnl::convolution_backward_data;
  using Weights = dnnl::convolution_backward_weights;
  static constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
};

struct Transposed {
  using Forward = dnnl::deconvolution_forward;
  using Data = dnnl::deconvolution_backward_data;
  using Weights = dnnl::deconvolution_backward_weights;
  static constexpr auto kAlgorithm = dnnl::algorithm::deconvolution_direct;
};

class KernelTimer {
 public:
  explicit KernelTimer(int repeats)
      : repeats_(repeats), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  template <typename Family>
  void Convolution(const std::string& layer, const ConvolutionShape& shape, bool needs_data) {
    const Window& w = shape.window;
    const Desc x = ActivationDesc(shape.input), y = ActivationDesc(shape.Output());
    const Desc any({shape.out_channels, shape.input.c, w.kernel_h, w.kernel_w}, kF32, Tag::any);
    const dnnl::memory::dims strides = {w.stride_h, w.stride_w};
    const dnnl::memory::dims begin = {w.pad_top, w.pad_left}, end = {w.pad_bottom, w.pad_right};
    const typename Family::Forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, Family::kAlgorithm, x, any, y, strides, begin, end},
        engine_);
    const typename Family::Weights::primitive_desc weights(
        {Family::kAlgorithm, x, any, y, strides, begin, end}, engine_, forward);
    const dnnl::memory input = Touched(x), output = Touched(y);
    Time(layer, "forward", typename Family::Forward(forward),
         {{DNNL_ARG_SRC, input},
          {DNNL_ARG_WEIGHTS, Touched(forward.weights_desc())},
          {DNNL_ARG_DST, output}});
    Time(layer, "weights", typename Family::Weights(weights),
         {{DNNL_ARG_SRC, input},
          {DNNL_ARG_DIFF_DST, output},
          {DNNL_ARG_DIFF_WEIGHTS, Touched(weights.diff_weights_desc())}});
    if (!needs_data) return;
    const typename Family::Data::primitive_desc data(
        {Family::kAlgorithm, x, any, y, strides, begin, end}, engine_, forward);
    Time(layer, "data", typename Family::Data(data),
         {{DNNL_ARG_DIFF_DST, output},
          {DNNL_ARG_WEIGHTS, Touched(data.weights_desc())},
          {DNNL_ARG_DIFF_SRC, input}});
  }

  void BatchNorm(const std::string& layer, const Shape& shape) {
    using Flags = dnnl::normalization_flags;
    const auto flags = Flags::use_scale | Flags::use_shift | Flags::fuse_norm_relu;
    const Desc desc = ActivationDesc(shape), vector({shape.c}, kF32, Tag::x);
    const dnnl::batch_normalization_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, desc, 1e-5f, flags}, engine_);
    const dnnl::batch_normalization_backward::primitive_desc backward(
        {dnnl::prop_kind::backward, desc, desc, 1e-5f, flags}, engine_, forward);
    Arguments arguments = {{DNNL_ARG_SRC, Touched(desc)},
                           {DNNL_ARG_DST, Touched(desc)},
                           {DNNL_ARG_MEAN, Touched(forward.mean_desc())},
                           {DNNL_ARG_VARIANCE, Touched(forward.variance_desc())},
                           {DNNL_ARG_SCALE, Touched(vector)},
                           {DNNL_ARG_SHIFT, Touched(vector)},
                           {DNNL_ARG_WORKSPACE, Touched(forward.workspace_desc())}};
    Time(layer, "forward", dnnl::batch_normalization_forward(forward), arguments);
    arguments.erase(DNNL_ARG_DST);
    arguments[DNNL_ARG_DIFF_DST] = Touched(desc);
    arguments[DNNL_ARG_DIFF_SRC] = Touched(desc);
    arguments[DNNL_ARG_DIFF_SCALE] = Touched(vector);
    arguments[DNNL_ARG_DIFF_SHIFT] = Touched(vector);
    Time(layer, "backward", dnnl::batch_normalization_backward(backward), arguments);
  }

  std::vector<KernelTime> Take() { return std::move(times_); }

 private:
  dnnl::memory Touched(const Desc& desc) {
    dnnl::memory memory(desc, engine_);
    if (desc.get_size() > 0) std::memset(memory.get_data_handle(), 0, desc.get_size());
    return memory;
  }

  void Time(const std::string& layer, const char* direction, const dnnl::primitive& primitive,
            const Arguments& arguments) {
    double best = 1e30;
    for (int i = 0; i <= repeats_; ++i) {
      const double start = BenchMilliseconds();
      primitive.execute(stream_, arguments);
      stream_.wait();
      const double time = BenchMilliseconds() - start;
      if (i > 0) best = std::min(best, time);
    }
    times_.push_back({layer, direction, best});
  }

  int repeats_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  std::vector<KernelTime> times_;
};

// Times one layer and returns the shape that it makes.
Shape TimeLayer(const LayerSpec& spec, const std::vector<Shape>& inputs, KernelTimer* timer) {
  Shape output = inputs.front();
  ConvolutionShape convolution;
  switch (spec.kind) {
    case LayerKind::kConvolution:
    case LayerKind::kTransposedConvolution:
      convolution.input = inputs.front();
      convolution.out_channels = spec.channels;
      convolution.window = spec.window;
      convolution.transposed = spec.kind == LayerKind::kTransposedConvolution;
      if (convolution.transposed) {
        timer->Convolution<Transposed>(spec.name, convolution, true);
      } else {
        timer->Convolution<Plain>(spec.name, convolution, spec.inputs.front() != "images");
      }
      return convolution.Output();
    case LayerKind::kBatchNorm:
      timer->BatchNorm(spec.name, output);
      return output;
    case LayerKind::kMaxPool:
      return PoolShape{output, spec.window}.Output();
    case LayerKind::kConcat:
      output.c = 0;
      for (const Shape& input : inputs) output.c += input.c;
      return output;
    case LayerKind::kGlobalAveragePool:
      return {output.n, 1, 1, output.c};
    case LayerKind::kRelu:
    case LayerKind::kAdd:
      return output;
    default:
      // U-Net, the classifier and ResNet-18 have no other kinds.
      SHARDMILL_CHECK(false);
  }
  return output;
}

}  // namespace

Result<std::vector<KernelTime>> TimeOnednnKernels(const ModelSpec& model, const Shape& images,
                                                  int repeats) {
  try {
    KernelTimer timer(repeats);
    std::map<std::string, Shape> shapes = {{"images", images}};
    for (const LayerSpec& layer : model.layers) {
      std::vector<Shape> inputs;
      for (const std::string& input : layer.inputs) inputs.push_back(shapes.at(input));
      shapes[layer.name] = TimeLayer(layer, inputs, &timer);
    }
    return timer.Take();
  } catch (const dnnl::error& error) {
    return InternalError(std::string("oneDNN: ") + error.what());
  }
}

}  // namespace shardmill
