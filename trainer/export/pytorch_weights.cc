#include "trainer/export/pytorch_weights.h"

#include <algorithm>
#include <map>
#include <utility>

#include "proto/checkpoint.pb.h"
#include "trainer/optimization/weight_average.h"

namespace shardmill {
namespace {

// What the layout of a layer's kernel depends on.
struct KernelKind {
  bool transposed = false;
  int64_t groups = 1;
};

std::map<std::string, KernelKind> KernelKinds(const proto::Model& model) {
  std::map<std::string, KernelKind> kinds;
  for (const proto::ModelLayer& layer : model.layers()) {
    KernelKind kind;
    kind.transposed = layer.has_transposed_convolution();
    const int64_t groups =
        kind.transposed ? layer.transposed_convolution().groups() : layer.convolution().groups();
    kind.groups = std::max<int64_t>(1, groups);
    kinds[layer.name()] = kind;
  }
  return kinds;
}

// Ours is [out, height, width, in / groups].
NamedArray Kernel(const float* ours, const std::vector<int64_t>& dims, const KernelKind& kind) {
  const int64_t out = dims[0], height = dims[1], width = dims[2], in = dims[3];
  const int64_t out_of_group = out / kind.groups;
  NamedArray array;
  array.shape = kind.transposed
                    ? std::vector<int64_t>{in * kind.groups, out_of_group, height, width}
                    : std::vector<int64_t>{out, in, height, width};
  array.values.resize(out * height * width * in);
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t tap = 0; tap < height * width; ++tap) {
      for (int64_t i = 0; i < in; ++i) {
        const int64_t plane = kind.transposed
                                  ? (o / out_of_group * in + i) * out_of_group + o % out_of_group
                                  : o * in + i;
        array.values[plane * height * width + tap] = *ours++;
      }
    }
  }
  return array;
}

// The last part of our names and of theirs.
std::string RoleOf(const std::string& role) {
  if (role == "scale" || role == "slope") return "weight";
  if (role == "shift") return "bias";
  return role == "running_variance" ? "running_var" : role;
}

Result<NamedArray> Convert(const proto::ModelTensor& tensor, const std::vector<float>& buffer,
                           const std::map<std::string, KernelKind>& kinds) {
  const auto size = static_cast<int64_t>(buffer.size());
  if (tensor.offset() < 0 || tensor.elements() < 0 || tensor.offset() > size ||
      tensor.elements() > size - tensor.offset()) {
    return DataLossError("tensor '" + tensor.name() + "' lies outside of its buffer");
  }
  const float* values = buffer.data() + tensor.offset();
  const size_t slash = tensor.name().rfind('/');
  if (slash == std::string::npos)
    return DataLossError("tensor '" + tensor.name() + "' has no role");
  const std::string layer = tensor.name().substr(0, slash);
  const std::string role = tensor.name().substr(slash + 1);
  NamedArray array;
  const std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  if (role == "weight") {
    const auto kind = kinds.find(layer);
    const bool fits = kind != kinds.end() && dims.size() == 4 &&
                      *std::min_element(dims.begin(), dims.end()) > 0 &&
                      dims[0] % kind->second.groups == 0 && dims[0] <= tensor.elements() &&
                      dims[0] * dims[1] * dims[2] * dims[3] == tensor.elements();
    if (!fits) return DataLossError("tensor '" + tensor.name() + "' does not fit its layer");
    array = Kernel(values, dims, kind->second);
  } else {
    array.shape = {tensor.elements()};
    array.values.assign(values, values + tensor.elements());
  }
  array.name = layer + "." + RoleOf(role);
  std::replace(array.name.begin(), array.name.end(), '/', '.');
  return array;
}

Result<std::vector<float>> Buffer(const LoadedCheckpoint& checkpoint, const std::string& name) {
  for (const proto::CheckpointTensor& tensor : checkpoint.description().tensors()) {
    if (tensor.name() != name) continue;
    std::vector<float> values(tensor.elements());
    RETURN_IF_ERROR(
        checkpoint.CopyTensor(name, values.data(), static_cast<int64_t>(tensor.elements())));
    return values;
  }
  return DataLossError(checkpoint.path() + ": has no buffer '" + name + "'");
}

}  // namespace

Result<std::vector<NamedArray>> PytorchWeights(const LoadedCheckpoint& checkpoint,
                                               WeightChoice choice) {
  const proto::ModelDescription& model = checkpoint.description().model();
  if (!model.has_layers()) {
    return InvalidArgumentError(checkpoint.path() +
                                ": was written by an older program and does not describe its "
                                "layers; resume the run for a step to get one that does");
  }
  const bool average = choice == WeightChoice::kAverage && HasWeightAverage(checkpoint);
  const std::string prefix = average ? "average_" : "";
  ASSIGN_OR_RETURN(const std::vector<float> parameters, Buffer(checkpoint, prefix + "parameters"));
  ASSIGN_OR_RETURN(const std::vector<float> statistics, Buffer(checkpoint, prefix + "statistics"));
  const std::map<std::string, KernelKind> kinds = KernelKinds(model.layers());
  std::vector<NamedArray> arrays;
  for (const proto::ModelTensor& tensor : model.parameters()) {
    ASSIGN_OR_RETURN(arrays.emplace_back(), Convert(tensor, parameters, kinds));
  }
  for (const proto::ModelTensor& tensor : model.statistics()) {
    ASSIGN_OR_RETURN(arrays.emplace_back(), Convert(tensor, statistics, kinds));
  }
  return arrays;
}

}  // namespace shardmill
