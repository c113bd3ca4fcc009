#include "trainer/models/model_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "proto/model.pb.h"
#include "trainer/models/model_catalog.h"

namespace shardmill {
namespace {

Result<ModelSpec> Read(const std::string& text) {
  ASSIGN_OR_RETURN(const proto::Model model, ParseModel(text, "m.txtpb"));
  return SpecOfModel(model, 3, 12);
}

void ExpectInvalid(const std::string& text, const std::string& part) {
  const Status status = Read(text).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST(ModelFile, TextAndJsonAreRead) {
  const auto text = Read(R"(name: "tiny"
    layers { name: "a" convolution { channels: 16 kernel: [3, 5] pad: [1, 2] stride: 2 groups: 1 } }
    layers { name: "pool" max_pool { kernel: 2 stride: 2 pad: [0, 0, 1, 1] } }
    layers { name: "b" inputs: ["pool", "pool"] add { activation: RELU6 } }
    layers { name: "head" linear { classes: true } })");
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_EQ(text->name, "tiny");
  ASSERT_EQ(text->layers.size(), 4u);
  EXPECT_EQ(text->layers[0].inputs, std::vector<std::string>{"images"});
  EXPECT_EQ(text->layers[0].window.kernel_w, 5);
  EXPECT_EQ(text->layers[0].window.pad_left, 2);
  EXPECT_EQ(text->layers[0].window.pad_bottom, 1);
  EXPECT_EQ(text->layers[0].window.stride_w, 2);
  EXPECT_EQ(text->layers[1].inputs, std::vector<std::string>{"a"});
  EXPECT_EQ(text->layers[1].window.pad_top, 0);
  EXPECT_EQ(text->layers[1].window.pad_right, 1);
  EXPECT_EQ(text->layers[2].activation, Activation::kRelu6);
  EXPECT_EQ(text->layers[3].channels, 12);
  EXPECT_TRUE(text->layers[3].bias);
  const auto json = Read(R"({"layers": [{"name": "a", "convolution": {"classes": true,
                             "kernel": [3]}}]})");
  ASSERT_TRUE(json.ok()) << json.status().ToString();
  EXPECT_EQ(json->layers[0].window.kernel_h, 3);
}

TEST(ModelFile, MistakesNamePlaceOrLayer) {
  ExpectInvalid("layers { name: 'a' convulution { } }", "m.txtpb:1:");
  ExpectInvalid("{\"layers\": [{\"name\": \"a\", \"cone\": {}}]}", "m.txtpb: ");
  ExpectInvalid("", "no layers");
  ExpectInvalid("layers { name: 'a' }", "layer \"a\": has no kind");
  ExpectInvalid("layers { relu { } }", "layer 1 of the model has no name");
  ExpectInvalid("layers { name: 'a' convolution { } }", "layer \"a\": needs either channels");
  ExpectInvalid("layers { name: 'a' convolution { channels: 3 classes: true } }", "either");
  ExpectInvalid("layers { name: 'a' max_pool { kernel: [1, 2, 3] } }", "kernel must be");
}

TEST(ModelFile, FileMayBeginWithAByteOrderMark) {
  const std::string path = testing::TempDir() + "/marked.txtpb";
  std::ofstream(path) << "\xEF\xBB\xBFlayers { name: 'a' convolution { kernel: 1 classes: true } }";
  const auto model = ReadModelFile(path);
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  EXPECT_EQ(model->layers_size(), 1);
}

TEST(ModelFile, MissingFileIsNotFound) {
  EXPECT_EQ(ReadModelFile("/nonexistent/model.txtpb").status().code(), StatusCode::kNotFound);
}

bool SameWindow(const Window& a, const Window& b) {
  return a.kernel_h == b.kernel_h && a.kernel_w == b.kernel_w && a.stride_h == b.stride_h &&
         a.stride_w == b.stride_w && a.pad_top == b.pad_top && a.pad_left == b.pad_left &&
         a.pad_bottom == b.pad_bottom && a.pad_right == b.pad_right &&
         a.dilation_h == b.dilation_h && a.dilation_w == b.dilation_w;
}

TEST(ModelFile, EveryModelOfTheProgramComesBackFromItsText) {
  for (const ModelEntry& entry : ModelCatalog()) {
    const auto spec = BuildModel(entry, {3, 12, 0, 0});
    ASSERT_TRUE(spec.ok()) << spec.status().ToString();
    const auto again = Read(ModelText(ModelOfSpec(*spec)));
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(again->name, entry.name);
    ASSERT_EQ(again->layers.size(), spec->layers.size());
    for (size_t i = 0; i < spec->layers.size(); ++i) {
      const LayerSpec &a = spec->layers[i], &b = again->layers[i];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.kind, b.kind) << a.name;
      EXPECT_EQ(a.inputs, b.inputs) << a.name;
      EXPECT_EQ(a.channels, b.channels) << a.name;
      EXPECT_TRUE(SameWindow(a.window, b.window)) << a.name;
      EXPECT_EQ(a.bias, b.bias) << a.name;
      EXPECT_EQ(a.activation, b.activation) << a.name;
      EXPECT_EQ(a.indices_of, b.indices_of) << a.name;
      EXPECT_EQ(a.drop, b.drop) << a.name;
      EXPECT_EQ(a.whole_channels, b.whole_channels) << a.name;
    }
  }
}

}  // namespace
}  // namespace shardmill
