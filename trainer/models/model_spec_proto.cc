// Between proto::Model and ModelSpec; see model_file.h.
#include <algorithm>
#include <string>

#include "proto/model.pb.h"
#include "trainer/models/model_file.h"

namespace shardmill {
namespace {

using Numbers = google::protobuf::RepeatedField<int64_t>;

// One number for both directions, or one each.
Status ReadPair(const Numbers& numbers, const char* what, int64_t none, int64_t* h, int64_t* w) {
  if (numbers.size() > 2) {
    return InvalidArgumentError(std::string(what) + " must be one number, or height and width");
  }
  *h = numbers.empty() ? none : numbers[0];
  *w = numbers.size() == 2 ? numbers[1] : *h;
  return OkStatus();
}

// `Message` is a ModelWindow or a ModelConvolution.
template <typename Message>
Status ReadWindow(const Message& message, Window* window) {
  RETURN_IF_ERROR(ReadPair(message.kernel(), "kernel", 1, &window->kernel_h, &window->kernel_w));
  RETURN_IF_ERROR(ReadPair(message.stride(), "stride", 1, &window->stride_h, &window->stride_w));
  RETURN_IF_ERROR(
      ReadPair(message.dilation(), "dilation", 1, &window->dilation_h, &window->dilation_w));
  const Numbers& pad = message.pad();
  if (pad.size() == 4) {
    window->pad_top = pad[0];
    window->pad_left = pad[1];
    window->pad_bottom = pad[2];
    window->pad_right = pad[3];
    return OkStatus();
  }
  RETURN_IF_ERROR(ReadPair(pad, "pad", 0, &window->pad_top, &window->pad_left));
  window->pad_bottom = window->pad_top;
  window->pad_right = window->pad_left;
  return OkStatus();
}

Status ReadConvolution(const proto::ModelConvolution& message, int64_t classes, LayerSpec* layer) {
  if (message.classes() == (message.channels() != 0)) {
    return InvalidArgumentError("needs either channels or 'classes: true'");
  }
  layer->channels = message.classes() ? classes : message.channels();
  layer->groups = message.groups() == 0 ? 1 : message.groups();
  layer->bias = message.bias();
  return ReadWindow(message, &layer->window);
}

Result<Activation> ReadActivation(proto::ModelActivation activation) {
  if (activation == proto::NONE) return Activation::kNone;
  if (activation == proto::RELU) return Activation::kRelu;
  if (activation == proto::RELU6) return Activation::kRelu6;
  return InvalidArgumentError("has an unknown activation");
}

void ReadUpsample(const proto::ModelUpsample& message, LayerSpec* layer) {
  layer->kind = LayerKind::kUpsample;
  layer->factor = message.factor() == 0 ? 2 : message.factor();
  layer->upsample_mode = message.nearest() ? UpsampleMode::kNearest : UpsampleMode::kBilinear;
}

Status ReadKind(const proto::ModelLayer& message, int64_t classes, LayerSpec* layer) {
  using L = proto::ModelLayer;
  const auto plain = [&](LayerKind kind) {
    layer->kind = kind;
    return OkStatus();
  };
  const auto activated = [&](LayerKind kind, proto::ModelActivation activation) -> Status {
    layer->kind = kind;
    ASSIGN_OR_RETURN(layer->activation, ReadActivation(activation));
    return OkStatus();
  };
  switch (message.kind_case()) {
    case L::kConvolution:
      return ReadConvolution(message.convolution(), classes, layer);
    case L::kTransposedConvolution:
      layer->kind = LayerKind::kTransposedConvolution;
      return ReadConvolution(message.transposed_convolution(), classes, layer);
    case L::kLinear:
      RETURN_IF_ERROR(ReadConvolution(message.linear(), classes, layer));
      layer->bias = true;
      layer->window = SquareWindow(1, 1, 0);
      return OkStatus();
    case L::kBatchNorm:
      return activated(LayerKind::kBatchNorm, message.batch_norm().activation());
    case L::kRelu:
      return activated(LayerKind::kRelu, message.relu().six() ? proto::RELU6 : proto::RELU);
    case L::kPrelu:
      return plain(LayerKind::kPrelu);
    case L::kMaxPool:
      layer->kind = LayerKind::kMaxPool;
      return ReadWindow(message.max_pool(), &layer->window);
    case L::kAveragePool:
      layer->kind = LayerKind::kAveragePool;
      return ReadWindow(message.average_pool(), &layer->window);
    case L::kMaxUnpool:
      layer->indices_of = message.max_unpool().indices_of();
      return plain(LayerKind::kMaxUnpool);
    case L::kGlobalAveragePool:
      return plain(LayerKind::kGlobalAveragePool);
    case L::kStatisticsPool:
      return plain(LayerKind::kStatisticsPool);
    case L::kUpsample:
      ReadUpsample(message.upsample(), layer);
      return OkStatus();
    case L::kConcat:
      return plain(LayerKind::kConcat);
    case L::kAdd:
      return activated(LayerKind::kAdd, message.add().activation());
    case L::kDropout:
      layer->drop = message.dropout().probability();
      layer->whole_channels = message.dropout().channels();
      return plain(LayerKind::kDropout);
    case L::kCropToImages:
      return plain(LayerKind::kCropToImages);
    case L::KIND_NOT_SET:
      break;
  }
  return InvalidArgumentError("has no kind, such as convolution { … }");
}

void WritePair(int64_t h, int64_t w, int64_t none, Numbers* numbers) {
  if (h == none && w == none) return;
  numbers->Add(h);
  if (w != h) numbers->Add(w);
}

template <typename Message>
void WriteWindow(const Window& window, Message* message) {
  WritePair(window.kernel_h, window.kernel_w, 1, message->mutable_kernel());
  WritePair(window.stride_h, window.stride_w, 1, message->mutable_stride());
  WritePair(window.dilation_h, window.dilation_w, 1, message->mutable_dilation());
  if (window.pad_top == window.pad_bottom && window.pad_left == window.pad_right) {
    return WritePair(window.pad_top, window.pad_left, 0, message->mutable_pad());
  }
  for (const int64_t pad : {window.pad_top, window.pad_left, window.pad_bottom, window.pad_right}) {
    message->add_pad(pad);
  }
}

void WriteConvolution(const LayerSpec& layer, bool classes, proto::ModelConvolution* message) {
  if (classes) {
    message->set_classes(true);
  } else {
    message->set_channels(layer.channels);
  }
  WriteWindow(layer.window, message);
  if (layer.groups != 1) message->set_groups(layer.groups);
  message->set_bias(layer.bias);
}

proto::ModelActivation WriteActivation(Activation activation) {
  return activation == Activation::kNone   ? proto::NONE
         : activation == Activation::kRelu ? proto::RELU
                                           : proto::RELU6;
}

void WriteKind(const LayerSpec& layer, bool classes, proto::ModelLayer* message) {
  switch (layer.kind) {
    case LayerKind::kConvolution:
      return WriteConvolution(layer, classes, message->mutable_convolution());
    case LayerKind::kTransposedConvolution:
      return WriteConvolution(layer, classes, message->mutable_transposed_convolution());
    case LayerKind::kBatchNorm:
      return message->mutable_batch_norm()->set_activation(WriteActivation(layer.activation));
    case LayerKind::kRelu:
      return message->mutable_relu()->set_six(layer.activation == Activation::kRelu6);
    case LayerKind::kPrelu:
      message->mutable_prelu();
      return;
    case LayerKind::kMaxPool:
      return WriteWindow(layer.window, message->mutable_max_pool());
    case LayerKind::kAveragePool:
      return WriteWindow(layer.window, message->mutable_average_pool());
    case LayerKind::kMaxUnpool:
      return message->mutable_max_unpool()->set_indices_of(layer.indices_of);
    case LayerKind::kGlobalAveragePool:
      message->mutable_global_average_pool();
      return;
    case LayerKind::kStatisticsPool:
      message->mutable_statistics_pool();
      return;
    case LayerKind::kUpsample:
      message->mutable_upsample()->set_factor(layer.factor);
      return message->mutable_upsample()->set_nearest(layer.upsample_mode ==
                                                      UpsampleMode::kNearest);
    case LayerKind::kConcat:
      message->mutable_concat();
      return;
    case LayerKind::kAdd:
      return message->mutable_add()->set_activation(WriteActivation(layer.activation));
    case LayerKind::kDropout:
      message->mutable_dropout()->set_probability(layer.drop);
      return message->mutable_dropout()->set_channels(layer.whole_channels);
    case LayerKind::kCropToImages:
      message->mutable_crop_to_images();
      return;
  }
}

// The layer whose channels are the classes: the last one that has channels of its own.
const LayerSpec* ClassLayer(const ModelSpec& spec) {
  const auto found =
      std::find_if(spec.layers.rbegin(), spec.layers.rend(), [](const LayerSpec& layer) {
        return layer.kind == LayerKind::kConvolution ||
               layer.kind == LayerKind::kTransposedConvolution;
      });
  return found == spec.layers.rend() ? nullptr : &*found;
}

}  // namespace

Result<ModelSpec> SpecOfModel(const proto::Model& model, int64_t input_channels, int64_t classes) {
  ModelSpec spec;
  spec.name = model.name();
  spec.input_channels = input_channels;
  std::string previous = "images";
  for (const proto::ModelLayer& message : model.layers()) {
    if (message.name().empty()) {
      return InvalidArgumentError("layer " + std::to_string(spec.layers.size() + 1) +
                                  " of the model has no name");
    }
    LayerSpec layer;
    layer.name = message.name();
    layer.inputs.assign(message.inputs().begin(), message.inputs().end());
    if (layer.inputs.empty()) layer.inputs = {previous};
    if (Status status = ReadKind(message, classes, &layer); !status.ok()) {
      return status.WithContext("layer \"" + layer.name + "\"");
    }
    previous = layer.name;
    spec.layers.push_back(std::move(layer));
  }
  return spec;
}

proto::Model ModelOfSpec(const ModelSpec& spec) {
  proto::Model model;
  model.set_name(spec.name);
  const LayerSpec* class_layer = ClassLayer(spec);
  std::string previous = "images";
  for (const LayerSpec& layer : spec.layers) {
    proto::ModelLayer* message = model.add_layers();
    message->set_name(layer.name);
    if (layer.inputs != std::vector<std::string>{previous}) {
      for (const std::string& input : layer.inputs) message->add_inputs(input);
    }
    WriteKind(layer, &layer == class_layer, message);
    previous = layer.name;
  }
  return model;
}

}  // namespace shardmill
