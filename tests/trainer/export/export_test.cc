// Weights for PyTorch, and the files that carry them.
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "proto/checkpoint.pb.h"
#include "trainer/export/pytorch_weights.h"
#include "trainer/export/safetensors.h"

namespace shardmill {
namespace {

TEST(Safetensors, HeaderSaysWhereTheArraysLie) {
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::vector<uint8_t> b = {7, 8, 9};
  const std::string path = testing::TempDir() + "/two.safetensors";
  ASSERT_TRUE(WriteSafetensors(
                  path, {{"a.weight", "F32", {2, 3}, a.data(), 24}, {"b", "U8", {3}, b.data(), 3}},
                  {{"format", "pt"}})
                  .ok());
  std::ifstream file(path, std::ios::binary);
  std::stringstream stream;
  stream << file.rdbuf();
  const std::string bytes = stream.str();
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  ASSERT_EQ(length % 8, 0u);
  ASSERT_EQ(bytes.size(), 8 + length + 27);
  google::protobuf::Struct header;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(bytes.substr(8, length), &header).ok());
  const auto& fields = header.fields();
  EXPECT_EQ(fields.at("__metadata__").struct_value().fields().at("format").string_value(), "pt");
  const auto& entry = fields.at("a.weight").struct_value().fields();
  EXPECT_EQ(entry.at("dtype").string_value(), "F32");
  EXPECT_EQ(entry.at("shape").list_value().values(1).number_value(), 3);
  EXPECT_EQ(entry.at("data_offsets").list_value().values(1).number_value(), 24);
  EXPECT_EQ(std::memcmp(bytes.data() + 8 + length, a.data(), 24), 0);
  EXPECT_EQ(bytes[8 + length + 24], 7);
}

void AddTensor(const std::string& name, std::vector<int64_t> dims, int64_t offset,
               google::protobuf::RepeatedPtrField<proto::ModelTensor>* tensors) {
  proto::ModelTensor* tensor = tensors->Add();
  tensor->set_name(name);
  int64_t elements = 1;
  for (const int64_t dim : dims) {
    tensor->add_dims(dim);
    elements *= dim;
  }
  tensor->set_offset(offset);
  tensor->set_elements(elements);
}

// A checkpoint whose numbers count up from 0; its average has the same, negated.
Result<LoadedCheckpoint> CountingCheckpoint(proto::Checkpoint description) {
  std::vector<float> parameters(64), statistics(16);
  for (int i = 0; i < 64; ++i) parameters[i] = static_cast<float>(i);
  for (int i = 0; i < 16; ++i) statistics[i] = 100.0f + static_cast<float>(i);
  std::vector<float> average = parameters;
  for (float& value : average) value = -value;
  const std::string path = testing::TempDir() + "/counting.ckpt";
  RETURN_IF_ERROR(WriteCheckpoint(path, std::move(description),
                                  {{"parameters", parameters.data(), 64},
                                   {"statistics", statistics.data(), 16},
                                   {"average_parameters", average.data(), 64},
                                   {"average_statistics", statistics.data(), 16}}));
  return LoadedCheckpoint::Read(path);
}

proto::Checkpoint TwoLayers() {
  proto::Checkpoint description;
  proto::ModelDescription* model = description.mutable_model();
  proto::ModelLayer* layer = model->mutable_layers()->add_layers();
  layer->set_name("down/a");
  layer->mutable_convolution()->set_groups(2);
  layer = model->mutable_layers()->add_layers();
  layer->set_name("up");
  layer->mutable_transposed_convolution()->set_groups(2);
  layer = model->mutable_layers()->add_layers();
  layer->set_name("n");
  layer->mutable_batch_norm();
  // [out, height, width, in / groups]
  AddTensor("down/a/weight", {2, 1, 2, 3}, 0, model->mutable_parameters());
  AddTensor("up/weight", {4, 1, 2, 1}, 16, model->mutable_parameters());
  AddTensor("n/scale", {2}, 32, model->mutable_parameters());
  AddTensor("n/shift", {2}, 48, model->mutable_parameters());
  AddTensor("n/running_mean", {2}, 0, model->mutable_statistics());
  AddTensor("n/running_variance", {2}, 8, model->mutable_statistics());
  return description;
}

TEST(PytorchWeights, NamesAndLayoutsAreThoseOfItsModules) {
  const auto checkpoint = CountingCheckpoint(TwoLayers());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().ToString();
  const auto arrays = PytorchWeights(*checkpoint, WeightChoice::kNewest);
  ASSERT_TRUE(arrays.ok()) << arrays.status().ToString();
  std::map<std::string, NamedArray> named;
  for (const NamedArray& array : *arrays) named[array.name] = array;
  using Floats = std::vector<float>;
  using Dims = std::vector<int64_t>;
  EXPECT_EQ(named.size(), 6u);
  EXPECT_EQ(named["down.a.weight"].shape, (Dims{2, 3, 1, 2}));
  EXPECT_EQ(named["down.a.weight"].values, (Floats{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
  // Two groups of one input and two outputs: input 0 makes outputs 0 and 1, input 1 makes 2 and 3.
  EXPECT_EQ(named["up.weight"].shape, (Dims{2, 2, 1, 2}));
  EXPECT_EQ(named["up.weight"].values, (Floats{16, 17, 18, 19, 20, 21, 22, 23}));
  EXPECT_EQ(named["n.weight"].values, (Floats{32, 33}));
  EXPECT_EQ(named["n.bias"].values, (Floats{48, 49}));
  EXPECT_EQ(named["n.running_mean"].values, (Floats{100, 101}));
  EXPECT_EQ(named["n.running_var"].values, (Floats{108, 109}));
  const auto average = PytorchWeights(*checkpoint, WeightChoice::kAverage);
  ASSERT_TRUE(average.ok());
  EXPECT_EQ((*average)[2].values, (Floats{-32, -33}));
}

TEST(PytorchWeights, TransposedKernelsExchangeInputsAndOutputs) {
  proto::Checkpoint description;
  proto::ModelDescription* model = description.mutable_model();
  proto::ModelLayer* layer = model->mutable_layers()->add_layers();
  layer->set_name("up");
  layer->mutable_transposed_convolution();
  AddTensor("up/weight", {2, 1, 1, 3}, 0, model->mutable_parameters());
  const auto checkpoint = CountingCheckpoint(description);
  ASSERT_TRUE(checkpoint.ok());
  const auto arrays = PytorchWeights(*checkpoint, WeightChoice::kNewest);
  ASSERT_TRUE(arrays.ok()) << arrays.status().ToString();
  EXPECT_EQ((*arrays)[0].shape, (std::vector<int64_t>{3, 2, 1, 1}));
  EXPECT_EQ((*arrays)[0].values, (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(PytorchWeights, CheckpointsThatDoNotFitAreRefused) {
  const auto code = [](const proto::Checkpoint& description) {
    const auto checkpoint = CountingCheckpoint(description);
    EXPECT_TRUE(checkpoint.ok());
    return PytorchWeights(*checkpoint, WeightChoice::kNewest).status().code();
  };
  EXPECT_EQ(code(proto::Checkpoint()), StatusCode::kInvalidArgument);
  proto::Checkpoint outside = TwoLayers();
  outside.mutable_model()->mutable_parameters(3)->set_offset(63);
  EXPECT_EQ(code(outside), StatusCode::kDataLoss);
  proto::Checkpoint unknown = TwoLayers();
  unknown.mutable_model()->mutable_parameters(0)->set_name("other/weight");
  EXPECT_EQ(code(unknown), StatusCode::kDataLoss);
  proto::Checkpoint groups = TwoLayers();
  groups.mutable_model()->mutable_layers()->mutable_layers(0)->mutable_convolution()->set_groups(3);
  EXPECT_EQ(code(groups), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace shardmill
