#include "trainer/models/encoder_decoder.h"

#include <algorithm>
#include <string>

#include "trainer/models/model_builder.h"

namespace shardmill {
namespace {

constexpr int kStages = 5;
constexpr int kConvolutions[kStages] = {2, 2, 3, 3, 3};

// Halves, rounded up: the padding is read as absent.
Window HalvingRoundedUp() { return {2, 2, 2, 2, 0, 0, 1, 1, 1, 1}; }

}  // namespace

ModelSpec EncoderDecoderSpec(int64_t input_channels, int64_t classes, int64_t width) {
  ModelBuilder model("encoder_decoder", input_channels);
  const auto channels_of = [&](int stage) { return width << std::clamp(stage, 0, 3); };
  std::string value = "images";
  for (int stage = 0; stage < kStages; ++stage) {
    const std::string prefix = "encoder" + std::to_string(stage + 1);
    for (int i = 0; i < kConvolutions[stage]; ++i) {
      value = model.NormalizedConvolution(prefix + "/" + std::to_string(i + 1), value,
                                          channels_of(stage), SquareWindow(3, 1, 1));
    }
    value = model.MaxPool(prefix + "/pool", value, HalvingRoundedUp());
  }
  for (int stage = kStages - 1; stage >= 0; --stage) {
    const std::string prefix = "decoder" + std::to_string(stage + 1);
    value = model.TransposedConvolution(prefix + "/upsample", value, channels_of(stage),
                                        DoublingWindow());
    value = model.BatchNorm(prefix + "/upsample_norm", value, Activation::kRelu);
    for (int i = 0; i < kConvolutions[stage]; ++i) {
      const bool is_last = i + 1 == kConvolutions[stage];
      value = model.NormalizedConvolution(prefix + "/" + std::to_string(i + 1), value,
                                          channels_of(is_last ? stage - 1 : stage),
                                          SquareWindow(3, 1, 1));
    }
  }
  value = model.Convolution("head", value, classes, SquareWindow(1, 1, 0), /*bias=*/true);
  model.Plain("logits", LayerKind::kCropToImages, value);
  return model.Take();
}

}  // namespace shardmill
