#include "tools/pack/inputs/source_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace shardmill {
namespace {

class SourceFileReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "/source_file_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(root_);
  }
  SourceFile Write(const std::string& name, const std::string& content) const {
    std::ofstream(root_ + "/" + name, std::ios::binary) << content;
    return {name, content.size(), 0};
  }

  std::string root_;
  SourceFileReader reader_;
};

TEST_F(SourceFileReaderTest, FilesOfAnySizeFollowEachOther) {
  const std::string large(100'000, 'L');
  for (const std::string& content : {std::string("ab"), large, std::string(), std::string("c")}) {
    const SourceFile file = Write("file", content);
    const auto read = reader_.Read(root_, file);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_TRUE(*read == content) << content.size();
  }
}

TEST_F(SourceFileReaderTest, FileOfAnotherSizeThanListedIsIoError) {
  SourceFile file = Write("file", "12345678");
  for (const uint64_t listed : {7, 9, 0}) {
    file.bytes = listed;
    const auto read = reader_.Read(root_, file);
    EXPECT_EQ(read.status().code(), StatusCode::kIo) << listed;
    EXPECT_THAT(read.status().message(), testing::HasSubstr("was changed since"));
    EXPECT_TRUE(IsChangedError(read.status().WithContext("train/a.png")));
  }
  EXPECT_FALSE(IsChangedError(reader_.Read(root_, {"missing", 3, 0}).status()));
  EXPECT_FALSE(IsChangedError(OkStatus()));
}

TEST_F(SourceFileReaderTest, MissingFileIsNotFoundAndAFolderIsIoError) {
  EXPECT_EQ(reader_.Read(root_, {"missing", 3, 0}).status().code(), StatusCode::kNotFound);
  std::filesystem::create_directories(root_ + "/folder");
  EXPECT_EQ(reader_.Read(root_, {"folder", 3, 0}).status().code(), StatusCode::kIo);
}

}  // namespace
}  // namespace shardmill
