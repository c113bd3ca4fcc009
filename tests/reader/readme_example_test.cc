// The example of reader/README.md, compiled and run; a second test keeps the two the same.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "reader/batch_loader.h"
#include "tests/reader/test_dataset.h"

namespace shardmill {
namespace {

uint64_t rows_trained = 0;
uint64_t values_trained = 0;

void TrainOn(const uint8_t* images, const float* labels, int64_t rows) {
  ASSERT_NE(images, nullptr);
  ASSERT_NE(labels, nullptr);
  rows_trained += static_cast<uint64_t>(rows);
  for (int64_t i = 0; i < rows * 6 * 5 * 5; ++i) values_trained += labels[i] == 1;
}

// [example]
Status TrainOneEpoch(const std::string& folder, uint64_t epoch) {
  ASSIGN_OR_RETURN(auto dataset, Dataset::Open(folder, "train"));
  BatchLoaderOptions options;
  options.split = "train";
  options.fields = {{"image"}, {"label", Delivery::kOneHotF32}};
  options.global_batch = 8;
  options.first_epoch = epoch;
  ASSIGN_OR_RETURN(auto loader, BatchLoader::Open(dataset, options));
  while (true) {
    ASSIGN_OR_RETURN(std::optional<Batch> batch, loader->Next());
    if (!batch.has_value()) return OkStatus();
    TrainOn(batch->field("image").data, batch->field("label").as<float>(), batch->rows());
  }
}
// [example]

TEST(ReadmeExample, StreamsOneEpoch) {
  TestDatasetOptions options;
  options.records = 83;
  options.ignore = std::nullopt;
  const Status status = TrainOneEpoch(WriteTestDataset("readme", options), 0);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(rows_trained, 80u);
  EXPECT_EQ(values_trained, 80u * 30);  // without an ignore value every pixel has one class
}

// The lines between an opening and a closing line, or the empty string.
std::string Between(const std::string& path, const std::string& opening,
                    const std::string& closing) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::string line;
  std::string text;
  bool inside = false;
  while (std::getline(file, line)) {
    if (inside && line == closing) return text;
    if (inside) text += line + "\n";
    inside |= line == opening;
  }
  return "";
}

TEST(ReadmeExample, IsTheTextOfTheReadme) {
  const std::string compiled =
      Between("tests/reader/readme_example_test.cc", "// [example]", "// [example]");
  const std::string documented = Between("reader/README.md", "```cpp", "```");
  ASSERT_FALSE(compiled.empty());
  EXPECT_EQ(compiled, documented);
}

// A link of the README to a test is "[words](path#Suite.Name)".
TEST(ReadmeExample, EveryTestThatTheReadmeNamesExists) {
  std::ifstream file("reader/README.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string readme = text.str();
  int links = 0;
  for (size_t at = readme.find("](../tests/"); at != std::string::npos;
       at = readme.find("](../tests/", at + 1)) {
    const size_t end = readme.find(')', at);
    const std::string link = readme.substr(at + 5, end - at - 5);  // tests/…#Suite.Name
    const size_t hash = link.find('#');
    if (hash == std::string::npos) continue;  // to a whole file
    const size_t dot = link.find('.', hash);
    ASSERT_NE(dot, std::string::npos) << link;
    std::ifstream source(link.substr(0, hash));
    ASSERT_TRUE(source.good()) << link;
    std::stringstream content;
    content << source.rdbuf();
    const std::string test =
        "(" + link.substr(hash + 1, dot - hash - 1) + ", " + link.substr(dot + 1) + ")";
    EXPECT_NE(content.str().find(test), std::string::npos) << link;
    ++links;
  }
  EXPECT_GT(links, 10);
}

}  // namespace
}  // namespace shardmill
