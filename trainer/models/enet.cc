#include "trainer/models/enet.h"

#include <algorithm>
#include <string>

#include "trainer/models/model_builder.h"

namespace shardmill {
namespace {

constexpr double kDropEarly = 0.01, kDrop = 0.1;

class Enet {
 public:
  Enet(int64_t input_channels, int64_t width) : model_("enet", input_channels), width_(width) {}

  ModelSpec Build(int64_t input_channels, int64_t classes);

 private:
  std::string Activate(const std::string& prefix, const std::string& value) {
    const std::string norm = model_.BatchNorm(prefix + "/norm", value, Activation::kNone);
    return model_.Plain(prefix + "/prelu", LayerKind::kPrelu, norm);
  }
  std::string Convolve(const std::string& prefix, const std::string& value, int64_t channels,
                       const Window& window) {
    return Activate(prefix, model_.Convolution(prefix + "/convolution", value, channels, window));
  }
  // The end of every branch: a 1 × 1 convolution to the channels of the block, and dropout.
  std::string Expand(const std::string& prefix, const std::string& value, int64_t channels) {
    std::string out =
        model_.Convolution(prefix + "/expand/convolution", value, channels, SquareWindow(1, 1, 0));
    out = model_.BatchNorm(prefix + "/expand/norm", out, Activation::kNone);
    return model_.Dropout(prefix + "/dropout", out, drop_, /*whole_channels=*/true);
  }
  // `size` fits the other branch to itself.
  std::string Join(const std::string& prefix, const std::string& size, const std::string& other) {
    const std::string sum = model_.Add(prefix + "/sum", {size, other}, Activation::kNone);
    return model_.Plain(prefix + "/prelu", LayerKind::kPrelu, sum);
  }

  std::string Regular(const std::string& prefix, const std::string& value, int64_t channels,
                      int64_t dilation);
  std::string Asymmetric(const std::string& prefix, const std::string& value, int64_t channels);
  std::string Downsample(const std::string& prefix, const std::string& value, int64_t from,
                         int64_t to);
  std::string Upsample(const std::string& prefix, const std::string& value, int64_t from,
                       int64_t to, const std::string& pool);
  std::string DilatedStage(const std::string& prefix, std::string value);

  static int64_t Inner(int64_t channels) { return std::max<int64_t>(1, channels / 4); }

  ModelBuilder model_;
  int64_t width_;
  double drop_ = kDropEarly;
};

std::string Enet::Regular(const std::string& prefix, const std::string& value, int64_t channels,
                          int64_t dilation) {
  const int64_t inner = Inner(channels);
  std::string branch = Convolve(prefix + "/reduce", value, inner, SquareWindow(1, 1, 0));
  branch = Convolve(prefix + "/main", branch, inner, SquareWindow(3, 1, dilation, dilation));
  return Join(prefix, value, Expand(prefix, branch, channels));
}

std::string Enet::Asymmetric(const std::string& prefix, const std::string& value,
                             int64_t channels) {
  const int64_t inner = Inner(channels);
  std::string branch = Convolve(prefix + "/reduce", value, inner, SquareWindow(1, 1, 0));
  branch = Convolve(prefix + "/tall", branch, inner, {5, 1, 1, 1, 2, 0, 2, 0, 1, 1});
  branch = Convolve(prefix + "/wide", branch, inner, {1, 5, 1, 1, 0, 2, 0, 2, 1, 1});
  return Join(prefix, value, Expand(prefix, branch, channels));
}

std::string Enet::Downsample(const std::string& prefix, const std::string& value, int64_t from,
                             int64_t to) {
  const int64_t inner = Inner(from);
  const std::string pooled = model_.MaxPool(prefix + "/pool", value, SquareWindow(2, 2, 0));
  std::string branch = Convolve(prefix + "/reduce", value, inner, SquareWindow(2, 2, 0));
  branch = Convolve(prefix + "/main", branch, inner, SquareWindow(3, 1, 1));
  return Join(prefix, Expand(prefix, branch, to), pooled);
}

std::string Enet::Upsample(const std::string& prefix, const std::string& value, int64_t from,
                           int64_t to, const std::string& pool) {
  const int64_t inner = Inner(from);
  std::string main =
      model_.Convolution(prefix + "/skip/convolution", value, to, SquareWindow(1, 1, 0));
  main = model_.BatchNorm(prefix + "/skip/norm", main, Activation::kNone);
  main = model_.MaxUnpool(prefix + "/unpool", main, pool);
  std::string branch = Convolve(prefix + "/reduce", value, inner, SquareWindow(1, 1, 0));
  branch =
      model_.TransposedConvolution(prefix + "/main/convolution", branch, inner, DoublingWindow());
  branch = Activate(prefix + "/main", branch);
  return Join(prefix, main, Expand(prefix, branch, to));
}

std::string Enet::DilatedStage(const std::string& prefix, std::string value) {
  const int64_t channels = 8 * width_;
  value = Regular(prefix + "/1", value, channels, 1);
  value = Regular(prefix + "/2", value, channels, 2);
  value = Asymmetric(prefix + "/3", value, channels);
  value = Regular(prefix + "/4", value, channels, 4);
  value = Regular(prefix + "/5", value, channels, 1);
  value = Regular(prefix + "/6", value, channels, 8);
  value = Asymmetric(prefix + "/7", value, channels);
  return Regular(prefix + "/8", value, channels, 16);
}

ModelSpec Enet::Build(int64_t input_channels, int64_t classes) {
  const int64_t middle = 4 * width_, wide = 8 * width_;
  const std::string convolution = model_.Convolution(
      "initial/convolution", "images", width_ - input_channels, SquareWindow(3, 2, 1));
  const std::string pooled = model_.MaxPool("initial/pool", "images", SquareWindow(2, 2, 0));
  std::string value = Activate("initial", model_.Concat("initial/concat", {convolution, pooled}));

  value = Downsample("stage1/0", value, width_, middle);
  for (const char* number : {"1", "2", "3", "4"}) {
    value = Regular(std::string("stage1/") + number, value, middle, 1);
  }
  drop_ = kDrop;
  value = Downsample("stage2/0", value, middle, wide);
  value = DilatedStage("stage2", value);
  value = DilatedStage("stage3", value);
  value = Upsample("stage4/0", value, wide, middle, "stage2/0/pool");
  value = Regular("stage4/1", value, middle, 1);
  value = Regular("stage4/2", value, middle, 1);
  value = Upsample("stage5/0", value, middle, width_, "stage1/0/pool");
  value = Regular("stage5/1", value, width_, 1);
  value = model_.TransposedConvolution("head", value, classes, DoublingWindow(), /*bias=*/true);
  model_.Plain("logits", LayerKind::kCropToImages, value);
  return model_.Take();
}

}  // namespace

ModelSpec EnetSpec(int64_t input_channels, int64_t classes, int64_t width) {
  return Enet(input_channels, width).Build(input_channels, classes);
}

}  // namespace shardmill
