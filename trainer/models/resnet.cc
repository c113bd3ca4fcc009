#include "trainer/models/resnet.h"

#include <string>

#include "trainer/models/model_builder.h"

namespace shardmill {
namespace {

// Two 3 × 3 convolutions beside a shortcut, which is a 1 × 1 convolution where the shape changes.
std::string BasicBlock(const std::string& prefix, const std::string& input, int64_t channels,
                       int64_t stride, bool same_shape, ModelBuilder* model) {
  std::string value =
      model->NormalizedConvolution(prefix + "/1", input, channels, SquareWindow(3, stride, 1));
  value = model->Convolution(prefix + "/2/convolution", value, channels, SquareWindow(3, 1, 1));
  value = model->BatchNorm(prefix + "/2/norm", value, Activation::kNone);
  std::string shortcut = input;
  if (!same_shape) {
    shortcut = model->Convolution(prefix + "/shortcut/convolution", input, channels,
                                  SquareWindow(1, stride, 0));
    shortcut = model->BatchNorm(prefix + "/shortcut/norm", shortcut, Activation::kNone);
  }
  return model->Add(prefix + "/sum", {value, shortcut}, Activation::kRelu);
}

}  // namespace

ModelSpec ResNet18Spec(int64_t input_channels, int64_t classes, int64_t width) {
  ModelBuilder model("resnet18", input_channels);
  std::string value = model.NormalizedConvolution("first", "images", width, SquareWindow(7, 2, 3));
  value = model.MaxPool("first/pool", value, SquareWindow(3, 2, 1));
  for (int stage = 0; stage < 4; ++stage) {
    const std::string prefix = "stage" + std::to_string(stage + 1);
    const int64_t channels = width << stage, stride = stage == 0 ? 1 : 2;
    value = BasicBlock(prefix + "/block1", value, channels, stride, stage == 0, &model);
    value = BasicBlock(prefix + "/block2", value, channels, 1, true, &model);
  }
  value = model.Plain("average", LayerKind::kGlobalAveragePool, value);
  model.Convolution("head", value, classes, SquareWindow(1, 1, 0), /*bias=*/true);
  return model.Take();
}

}  // namespace shardmill
