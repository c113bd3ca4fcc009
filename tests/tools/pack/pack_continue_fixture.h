// A source of twelve images, and packs of it that go on with what an earlier one left.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "tests/tools/pack/image_files.h"
#include "tools/pack/pack_job.h"

namespace shardmill {

namespace fs = std::filesystem;

constexpr uint64_t kShards = 6;  // of the set below: 5 of train, 1 of val

// 10 images of train and 2 of val, two to a shard.
class PackContinueTest : public testing::Test {
 protected:
  PackContinueTest()
      : source_(Name() + "-source"), whole_(Name() + "-whole"), out_(Name() + "-out") {
    FillSource(source_);
    options_.source = source_.path();
    options_.quiet = true;
    options_.jobs = 2;
    options_.shard_bytes = 2 * (8 * 8 * 3 + 1);
    options_.block_bytes = 200;
  }
  static std::string Name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  static std::string Input(uint64_t i) {
    return (i < 10 ? "train/" : "val/") + std::string(i % 2 == 0 ? "a/" : "b/") +
           std::to_string(i) + ".png";
  }
  static void FillSource(const TestFolder& folder) {
    for (uint64_t i = 0; i < 12; ++i) folder.Write(Input(i), Png(Photo({8, 8}, i)));
  }

  Result<int> Pack(const TestFolder& output) {
    options_.output = output.path();
    testing::internal::CaptureStdout();
    Result<int> result = RunPackJob(options_, ReportStyle::kText);
    text_ = testing::internal::GetCapturedStdout();
    return result;
  }
  void ExpectCode(const TestFolder& output, int code) {
    const Result<int> result = Pack(output);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_EQ(*result, code);
  }
  void ExpectError(StatusCode code, const std::string& part) {
    const Status status = Pack(out_).status();
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
  void ExpectNote(const std::string& note, const std::string& other_note) {
    options_.quiet = false;
    testing::internal::CaptureStderr();
    ExpectCode(out_, 0);
    notes_ = testing::internal::GetCapturedStderr();
    options_.quiet = true;
    EXPECT_NE(notes_.find(note), std::string::npos) << notes_;
    EXPECT_NE(notes_.find(other_note), std::string::npos) << notes_;
  }
  void PackSlice(uint64_t first, uint64_t last) {
    options_.slice = ShardSlice{first, last};
    const Result<int> result = Pack(out_);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    options_.slice.reset();
  }

  static std::map<std::string, std::string> Contents(const TestFolder& folder) {
    std::map<std::string, std::string> contents;
    for (const std::string& file : folder.Files()) contents[file] = folder.Read(file);
    contents.erase("pack-report.html");  // for people: it names the source folder
    return contents;
  }
  void ExpectSameAsWhole() { EXPECT_EQ(Contents(out_), Contents(whole_)); }
  ino_t Inode(const std::string& file) {
    struct stat info = {};
    EXPECT_EQ(stat(out_.At(file).c_str(), &info), 0) << file;
    return info.st_ino;
  }
  static std::string TrainShard(int number) {
    return "train-0000" + std::to_string(number) + "-of-00005.shard";
  }
  void Touch(const std::string& input) {
    const auto time = fs::last_write_time(source_.At(input));
    fs::last_write_time(source_.At(input), time + std::chrono::seconds(1));
  }
  // The shard with this input, by the key that its record metadata holds.
  int ShardWith(const std::string& input) {
    for (int k = 0; k < 5; ++k) {
      if (whole_.Read(TrainShard(k)).find(input) != std::string::npos) return k;
    }
    ADD_FAILURE() << input;
    return 0;
  }

  TestFolder source_, whole_, out_;
  PackOptions options_;
  std::string text_, notes_;
};

}  // namespace shardmill
