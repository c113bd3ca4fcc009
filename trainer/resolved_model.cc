#include "trainer/resolved_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "trainer/layers/layer_factory.h"

namespace shardmill {
namespace {

using ValueByName = std::map<std::string, int>;

Result<std::vector<int>> FindInputs(const LayerSpec& spec, const ValueByName& values) {
  std::vector<int> inputs;
  for (const std::string& name : spec.inputs) {
    const auto found = values.find(name);
    if (found == values.end()) {
      return InvalidArgumentError("layer \"" + spec.name + "\" reads \"" + name +
                                  "\", which no earlier layer makes");
    }
    inputs.push_back(found->second);
  }
  return inputs;
}

Status ResolveLayer(const LayerSpec& spec, ValueByName* values, ResolvedModel* model,
                    ParameterStore* store) {
  ResolvedLayer layer;
  layer.spec = spec;
  ASSIGN_OR_RETURN(layer.inputs, FindInputs(spec, *values));
  std::vector<int64_t> channels;
  for (const int value : layer.inputs) {
    channels.push_back(value == 0 ? model->input_channels : model->layers[value - 1].channels);
    layer.needs_gradient |= model->ValueNeedsGradient(value);
  }
  ASSIGN_OR_RETURN(layer.channels, OutputChannels(spec, channels));
  const size_t parameters_before = store->parameters().size();
  layer.parameters = DeclareParameters(spec, channels.front(), store);
  layer.needs_gradient |= store->parameters().size() > parameters_before;
  model->layers.push_back(std::move(layer));
  if (!values->emplace(spec.name, static_cast<int>(model->layers.size())).second) {
    return InvalidArgumentError("two values are named \"" + spec.name + "\"");
  }
  return OkStatus();
}

Status CheckUse(const ResolvedModel& model) {
  if (model.layers.empty() || !model.layers.back().needs_gradient) {
    return InvalidArgumentError("the model has nothing to train");
  }
  for (int value = 1; value + 1 < model.values(); ++value) {
    if (model.Consumers(value) > 0) continue;
    return InvalidArgumentError("nobody reads the output of layer \"" +
                                model.layers[value - 1].spec.name +
                                "\"; only the last layer may be an end");
  }
  return OkStatus();
}

}  // namespace

int ResolvedModel::Consumers(int value) const {
  int64_t consumers = 0;
  for (const ResolvedLayer& layer : layers) {
    consumers += std::count(layer.inputs.begin(), layer.inputs.end(), value);
  }
  return static_cast<int>(consumers);
}

Result<ResolvedModel> ResolveModel(const ModelSpec& spec, ParameterStore* store) {
  const std::string context = "model \"" + spec.name + "\"";
  ResolvedModel model;
  model.input_channels = spec.input_channels;
  ValueByName values = {{"images", 0}};
  for (const LayerSpec& layer : spec.layers) {
    if (Status status = ResolveLayer(layer, &values, &model, store); !status.ok()) {
      return status.WithContext(context);
    }
  }
  if (Status status = CheckUse(model); !status.ok()) return status.WithContext(context);
  return model;
}

}  // namespace shardmill
