#include "trainer/models/model_catalog.h"

#include <algorithm>

#include "trainer/models/classifier.h"
#include "trainer/models/encoder_decoder.h"
#include "trainer/models/enet.h"
#include "trainer/models/fc_densenet.h"
#include "trainer/models/resnet.h"
#include "trainer/models/tdnn.h"
#include "trainer/models/unet.h"

namespace shardmill {
namespace {

Status CheckSize(const ModelEntry& entry, const ModelSize& size) {
  constexpr int64_t kMost = 1 << 16;
  if (size.classes < 2 || size.classes > kMost || size.input_channels < 1 ||
      size.input_channels > kMost || size.width < 1 || size.width > 4096) {
    return InvalidArgumentError("model " + entry.name +
                                " needs 1 or more input channels, 2 or more classes (65536 at "
                                "most) and a width of 1 … 4096");
  }
  if (entry.depth == 0 && size.depth != 0) {
    return InvalidArgumentError("model " + entry.name + " has one depth only: leave out --depth");
  }
  if (entry.name == "enet" && size.width <= size.input_channels) {
    return InvalidArgumentError("model enet: --width must be more than the " +
                                std::to_string(size.input_channels) + " channels of the images");
  }
  if (entry.name == "fc_densenet56" && size.width % 4 != 0) {
    return InvalidArgumentError("model fc_densenet56: --width must be a multiple of 4");
  }
  return OkStatus();
}

Result<ModelSpec> BuildUnet(const ModelSize& size) {
  UnetOptions options;
  options.input_channels = size.input_channels;
  options.classes = size.classes;
  options.width = size.width;
  options.depth = size.depth;
  return UnetSpec(options);
}

Result<ModelSpec> BuildClassifier(const ModelSize& size) {
  ClassifierOptions options;
  options.input_channels = size.input_channels;
  options.classes = size.classes;
  options.width = size.width;
  options.stages = size.depth;
  return ClassifierSpec(options);
}

}  // namespace

const std::vector<ModelEntry>& ModelCatalog() {
  static const auto* const catalog = new std::vector<ModelEntry>{
      {"unet", ModelTask::kClassMaps, 8, 4},      {"encoder_decoder", ModelTask::kClassMaps, 64},
      {"enet", ModelTask::kClassMaps, 16},        {"fc_densenet56", ModelTask::kClassMaps, 48},
      {"classifier", ModelTask::kClassIds, 8, 4}, {"resnet18", ModelTask::kClassIds, 64},
      {"tdnn", ModelTask::kSequences, 512},
  };
  return *catalog;
}

const ModelEntry* FindModel(const std::string& name) {
  const std::vector<ModelEntry>& catalog = ModelCatalog();
  const auto found = std::find_if(catalog.begin(), catalog.end(),
                                  [&](const ModelEntry& entry) { return entry.name == name; });
  return found == catalog.end() ? nullptr : &*found;
}

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  for (const ModelEntry& entry : ModelCatalog()) names.push_back(entry.name);
  return names;
}

Result<ModelSpec> BuildModel(const ModelEntry& entry, const ModelSize& asked) {
  ModelSize size = asked;
  if (size.width == 0) size.width = entry.width;
  if (size.depth == 0) size.depth = entry.depth;
  RETURN_IF_ERROR(CheckSize(entry, size));
  const auto build = [&](auto spec) { return spec(size.input_channels, size.classes, size.width); };
  if (entry.name == "unet") return BuildUnet(size);
  if (entry.name == "classifier") return BuildClassifier(size);
  if (entry.name == "encoder_decoder") return build(EncoderDecoderSpec);
  if (entry.name == "enet") return build(EnetSpec);
  if (entry.name == "fc_densenet56") return build(FcDenseNet56Spec);
  if (entry.name == "resnet18") return build(ResNet18Spec);
  SHARDMILL_CHECK(entry.name == "tdnn");
  return build(TdnnSpec);
}

}  // namespace shardmill
