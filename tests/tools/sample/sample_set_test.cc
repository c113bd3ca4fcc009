#include "tools/sample/sample_set.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace shardmill {
namespace {

namespace fs = std::filesystem;

// Every file of a folder: path from the folder → content.
std::map<std::string, std::string> ReadTree(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    files[fs::relative(entry.path(), folder).string()] =
        std::string(std::istreambuf_iterator<char>(stream), {});
  }
  return files;
}

SampleSetOptions SmallSet(const std::string& name) {
  SampleSetOptions options;
  options.folder = testing::TempDir() + "/" + name;
  fs::remove_all(options.folder);
  options.count = 7;
  options.size = {24, 32};
  return options;
}

TEST(SampleSet, WritesPairsAndClassTable) {
  SampleSetOptions options = SmallSet("pairs");
  Result<SampleSetResult> result = WriteSampleSet(options);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->train, 6u);
  EXPECT_EQ(result->val, 1u);
  auto files = ReadTree(options.folder);
  EXPECT_EQ(files.size(), 15u);
  uint64_t bytes = 0;
  for (const auto& [path, content] : files) bytes += content.size();
  EXPECT_EQ(result->bytes, bytes);
  EXPECT_EQ(files.count("train/scene_0005.png"), 1u);
  EXPECT_EQ(files.count("train_labels/scene_0005_L.png"), 1u);
  EXPECT_EQ(files.count("val/scene_0006.png"), 1u);
  EXPECT_EQ(files["class_dict.csv"],
            "name,r,g,b\nsky,128,128,128\nbuilding,128,0,0\nroad,128,64,128\n"
            "sidewalk,0,0,192\ntree,128,128,0\ncar,64,0,128\n");
}

TEST(SampleSet, SameOptionsGiveTheSameBytes) {
  SampleSetOptions first = SmallSet("first"), second = SmallSet("second");
  ASSERT_TRUE(WriteSampleSet(first).ok());
  ASSERT_TRUE(WriteSampleSet(second).ok());
  EXPECT_EQ(ReadTree(first.folder), ReadTree(second.folder));
}

TEST(SampleSet, FolderThatIsNotEmptyIsRefused) {
  SampleSetOptions options = SmallSet("full");
  fs::create_directories(options.folder);
  std::ofstream(options.folder + "/mine.txt") << "keep";
  EXPECT_EQ(WriteSampleSet(options).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadTree(options.folder).size(), 1u);
}

TEST(SampleSet, UnwritableFolderIsAnIoError) {
  SampleSetOptions options = SmallSet("file");
  std::ofstream(options.folder) << "a file";
  options.folder += "/below";
  EXPECT_EQ(WriteSampleSet(options).status().code(), StatusCode::kIo);
}

}  // namespace
}  // namespace shardmill
