// Folders of files without content, read as the packer reads a source.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/pack/image_files.h"
#include "tools/pack/layouts/layout.h"

namespace shardmill {

constexpr char kTable[] = "name,r,g,b\nsky,0,0,255\nroad,128,64,128\n";

inline std::vector<std::string> Keys(const InputSplit& split) {
  std::vector<std::string> keys;
  for (const Sample& sample : split.samples) keys.push_back(sample.key);
  return keys;
}

// A folder that is read with given options.
class LayoutTest : public testing::Test {
 protected:
  LayoutTest() : folder_(testing::UnitTest::GetInstance()->current_test_info()->name()) {}

  void Write(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) folder_.Write(path, "x");
  }
  Result<InputSet> Read() { return ReadInputSet(folder_.path(), options_); }
  InputSet Good() {
    Result<InputSet> set = Read();
    EXPECT_TRUE(set.ok()) << set.status().ToString();
    return set.ok() ? *set : InputSet();
  }
  // The error, and that it holds `text`.
  void ExpectError(StatusCode code, const std::string& text) {
    Status status = Read().status();
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  }

  TestFolder folder_;
  LayoutOptions options_;
};

}  // namespace shardmill
