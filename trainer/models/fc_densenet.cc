#include "trainer/models/fc_densenet.h"

#include <string>
#include <vector>

#include "trainer/models/model_builder.h"

namespace shardmill {
namespace {

constexpr int kBlocks = 5;  // on the way down, and again up
constexpr int kLayers = 4;  // of a block
constexpr double kDrop = 0.2;

class FcDenseNet {
 public:
  FcDenseNet(int64_t input_channels, int64_t width)
      : model_("fc_densenet56", input_channels), growth_(width / 4) {}

  ModelSpec Build(int64_t classes);

 private:
  enum class Want { kAll, kAdded };

  std::string Layer(const std::string& prefix, const std::string& value, int64_t channels,
                    int64_t kernel) {
    std::string out = model_.BatchNorm(prefix + "/norm", value, Activation::kRelu);
    out = model_.Convolution(prefix + "/convolution", out, channels,
                             SquareWindow(kernel, 1, kernel / 2), /*bias=*/true);
    return model_.Dropout(prefix + "/dropout", out, kDrop, /*whole_channels=*/false);
  }
  // Values with all channels, or with the new ones only.
  std::string DenseBlock(const std::string& prefix, const std::string& input, Want want);

  ModelBuilder model_;
  int64_t growth_;
};

std::string FcDenseNet::DenseBlock(const std::string& prefix, const std::string& input, Want want) {
  std::vector<std::string> added;
  std::string all = input;
  for (int i = 1; i <= kLayers; ++i) {
    const std::string layer = prefix + "/" + std::to_string(i);
    added.push_back(Layer(layer, all, growth_, 3));
    if (i < kLayers || want == Want::kAll) all = model_.Concat(layer + "/all", {all, added.back()});
  }
  return want == Want::kAll ? all : model_.Concat(prefix + "/added", added);
}

ModelSpec FcDenseNet::Build(int64_t classes) {
  int64_t channels = 4 * growth_;
  std::string value = model_.Convolution("first", "images", channels, SquareWindow(3, 1, 1),
                                         /*bias=*/true);
  std::vector<std::string> skips;
  for (int block = 1; block <= kBlocks; ++block) {
    const std::string prefix = "down" + std::to_string(block);
    skips.push_back(DenseBlock(prefix, value, Want::kAll));
    channels += kLayers * growth_;
    value = Layer(prefix + "/transition", skips.back(), channels, 1);
    value = model_.MaxPool(prefix + "/pool", value, SquareWindow(2, 2, 0));
  }
  value = DenseBlock("bottom", value, Want::kAdded);
  for (int block = kBlocks; block >= 1; --block) {
    const std::string prefix = "up" + std::to_string(block);
    value = model_.TransposedConvolution(prefix + "/upsample", value, kLayers * growth_,
                                         DoublingWindow(), /*bias=*/true);
    value = model_.Concat(prefix + "/skip", {skips[block - 1], value});
    value = DenseBlock(prefix, value, block == 1 ? Want::kAll : Want::kAdded);
  }
  model_.Convolution("head", value, classes, SquareWindow(1, 1, 0), /*bias=*/true);
  return model_.Take();
}

}  // namespace

ModelSpec FcDenseNet56Spec(int64_t input_channels, int64_t classes, int64_t width) {
  return FcDenseNet(input_channels, width).Build(classes);
}

}  // namespace shardmill
