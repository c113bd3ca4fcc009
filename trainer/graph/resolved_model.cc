#include "trainer/graph/resolved_model.h"

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

// The pooling layer that an unpooling layer undoes; its window becomes that of the layer.
Status FindPool(const ValueByName& values, int64_t channels, const ResolvedModel& model,
                ResolvedLayer* layer) {
  const std::string who = "layer \"" + layer->spec.name + "\" ";
  const auto found = values.find(layer->spec.indices_of);
  if (found == values.end() || found->second == 0 ||
      model.layers[found->second - 1].spec.kind != LayerKind::kMaxPool) {
    return InvalidArgumentError(who + "needs the indices of \"" + layer->spec.indices_of +
                                "\", which is no earlier max pooling layer");
  }
  layer->pool_layer = found->second - 1;
  const ResolvedLayer& pool = model.layers[layer->pool_layer];
  const Window& window = pool.spec.window;
  if (window.stride_h < window.kernel_h || window.stride_w < window.kernel_w) {
    return InvalidArgumentError(who + "cannot undo \"" + pool.spec.name +
                                "\", whose windows overlap");
  }
  if (pool.channels != channels) {
    return InvalidArgumentError(who + "gets " + std::to_string(channels) + " channels, but \"" +
                                pool.spec.name + "\" has " + std::to_string(pool.channels));
  }
  layer->spec.window = window;
  return OkStatus();
}

// Beyond all networks; so far the numbers of elements and bytes cannot overflow.
Status CheckSize(const LayerSpec& spec, int64_t inputs, int64_t outputs) {
  constexpr int64_t kMostChannels = int64_t{1} << 20;
  constexpr int64_t kLongestWindow = 1 << 12;
  constexpr double kMostParameters = 1e11;
  const std::string who = "layer \"" + spec.name + "\" ";
  if (std::max(inputs, outputs) > kMostChannels) {
    return InvalidArgumentError(who + "has " + std::to_string(std::max(inputs, outputs)) +
                                " channels; at most " + std::to_string(kMostChannels) +
                                " are possible");
  }
  const int64_t longest = std::max(spec.window.kernel_h, spec.window.kernel_w);
  if (longest > kLongestWindow) {
    return InvalidArgumentError(who + "has a window of " + std::to_string(longest) +
                                " pixels; at most " + std::to_string(kLongestWindow) +
                                " are possible");
  }
  if (static_cast<double>(inputs) * outputs * spec.window.kernel_h * spec.window.kernel_w >
      kMostParameters) {
    return InvalidArgumentError(who + "has too many weights");
  }
  return OkStatus();
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
  if (spec.kind == LayerKind::kMaxUnpool) {
    RETURN_IF_ERROR(FindPool(*values, channels.front(), *model, &layer));
  }
  RETURN_IF_ERROR(CheckSize(spec, channels.front(), layer.channels));
  const size_t parameters_before = store->parameters().size();
  layer.parameters = DeclareParameters(spec, channels.front(), store);
  layer.needs_gradient |= store->parameters().size() > parameters_before;
  if (spec.kind == LayerKind::kDropout) layer.parameters.dropout = model->dropout_layers++;
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
