// A source folder in the suite layout, and what packing it gives. For tests of whole packs.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "reader/dataset.h"
#include "tests/tools/pack/image_files.h"
#include "tools/pack/pack_job.h"
#include "tools/random_stream.h"

namespace shardmill {

constexpr char kTable[] = "name,r,g,b\nsky,0,0,255\nroad,128,64,128\ntree,0,128,0\n";
constexpr uint32_t kColors[] = {0x0000FF, 0x804080, 0x008000};

// A record as it was read back.
struct ReadRecord {
  proto::RecordMeta meta;
  std::vector<uint8_t> image, label;
};

inline TestImage ColorLabel(ImageSize size, const std::vector<uint8_t>& ids) {
  return MakeImage(size, 3, [&](int y, int x, int c) {
    uint32_t color = kColors[ids[static_cast<size_t>(y) * size.width + static_cast<size_t>(x)]];
    return static_cast<int>((color >> (16 - 8 * c)) & 255);
  });
}

inline TestImage GrayLabel(ImageSize size, const std::vector<uint8_t>& ids) {
  return MakeImage(size, 1, [&](int y, int x, int) {
    return ids[static_cast<size_t>(y) * size.width + static_cast<size_t>(x)];
  });
}

inline std::vector<uint8_t> RandomIds(ImageSize size, uint64_t seed) {
  RandomStream random(seed);
  std::vector<uint8_t> ids;
  for (uint64_t i = 0; i < size.pixels(); ++i) ids.push_back(random.Below(3) & 255);
  return ids;
}

// A source folder in the suite layout, and what packing it gives.
class PackFixture : public testing::Test {
 protected:
  PackFixture()
      : name_(testing::UnitTest::GetInstance()->current_test_info()->name()),
        source_(name_ + "-source"),
        output_(name_ + "-output") {
    source_.Write("class_dict.csv", kTable);
    options_.source = source_.path();
    options_.output = output_.path();
    options_.quiet = true;
    options_.jobs = 2;
  }

  void AddPair(const std::string& split, const std::string& stem, const std::string& image,
               const std::string& label) {
    source_.Write(split + "/" + stem, image);
    source_.Write(split + "_labels/" + stem.substr(0, stem.rfind('.')) + ".png", label);
  }
  void AddScene(const std::string& split, const std::string& stem, ImageSize size, uint64_t seed) {
    AddPair(split, stem + ".png", Png(Photo(size, seed)),
            Png(ColorLabel(size, RandomIds(size, seed))));
  }

  // The exit code, or the error; what was printed is in out_ and error_.
  Result<int> Pack() {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Result<int> result = RunPackJob(options_, ReportStyle::kText);
    out_ = testing::internal::GetCapturedStdout();
    error_ = testing::internal::GetCapturedStderr();
    return result;
  }
  void ExpectCode(int code) {
    Result<int> result = Pack();
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_EQ(*result, code) << out_;
  }
  void ExpectError(StatusCode code, const std::string& text) {
    Status status = Pack().status();
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  }

  std::map<std::string, ReadRecord> Read(const std::string& split) {
    std::map<std::string, ReadRecord> records;
    auto dataset = Dataset::Open(output_.path());
    EXPECT_TRUE(dataset.ok()) << dataset.status().ToString();
    if (!dataset.ok()) return records;
    manifest_ = (*dataset)->manifest();
    const Dataset::Split* opened = *(*dataset)->split(split);
    ReadScratch scratch;
    for (uint64_t i = 0; i < opened->records(); ++i) {
      auto [shard, record] = opened->Locate(i);
      ReadRecord read;
      read.meta = *shard->ReadMeta(record);
      read.image.resize(shard->schema().fields[0].TensorBytes());
      read.label.resize(shard->schema().fields[1].TensorBytes());
      EXPECT_TRUE(shard->Read(record, 0, read.image.data(), read.image.size(), &scratch).ok());
      EXPECT_TRUE(shard->Read(record, 1, read.label.data(), read.label.size(), &scratch).ok());
      records[read.meta.key()] = std::move(read);
    }
    return records;
  }

  std::map<std::string, std::string> OutputFiles() {
    std::map<std::string, std::string> files;
    for (const std::string& file : output_.Files()) files[file] = output_.Read(file);
    return files;
  }

  std::string name_;
  TestFolder source_, output_;
  PackOptions options_;
  proto::Manifest manifest_;
  std::string out_, error_;
};

}  // namespace shardmill
