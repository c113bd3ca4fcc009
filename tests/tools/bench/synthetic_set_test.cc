#include "tools/bench/synthetic_set.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "reader/base/file.h"
#include "reader/dataset.h"
#include "reader/verify.h"
#include "tools/bench/read_bench.h"

namespace shardmill {
namespace {

std::string WriteSet(const std::string& name, const SyntheticSetOptions& options) {
  const std::string folder = testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const Status status = WriteSyntheticSet(folder, options);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return folder;
}

SyntheticSetOptions SmallRecords() {
  SyntheticSetOptions options;
  options.record_bytes = 4 * 40 * 40;
  options.records = 30;
  return options;
}

TEST(SyntheticSet, IsSoundAndAsLargeAsAsked) {
  const std::string folder = WriteSet("synthetic", SmallRecords());
  const auto report = Verify(folder, VerifyOptions());
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_TRUE(report->sound());
  const auto dataset = Dataset::Open(folder);
  ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
  const Dataset::Split* split = *(*dataset)->split("train");
  EXPECT_EQ(split->records(), 30u);
  uint64_t bytes = 0;
  for (const FieldSpec& field : (*dataset)->schema().fields) bytes += field.TensorBytes();
  EXPECT_EQ(bytes, 4u * 40 * 40);
}

TEST(SyntheticSet, LabelsHoldSeveralClassesOfTheTable) {
  const auto dataset = Dataset::Open(WriteSet("labels", SmallRecords()));
  ASSERT_TRUE(dataset.ok());
  const auto [shard, record] = (*(*dataset)->split("train"))->Locate(7);
  std::vector<uint8_t> label(40 * 40);
  ReadScratch scratch;
  ASSERT_TRUE(shard->Read(record, 1, label.data(), label.size(), &scratch).ok());
  const std::set<uint8_t> classes(label.begin(), label.end());
  EXPECT_GT(classes.size(), 3u);
  EXPECT_LT(*classes.rbegin(), kSyntheticClasses);
}

TEST(SyntheticSet, TheSameOptionsGiveTheSameBytes) {
  const std::string first = WriteSet("first", SmallRecords());
  const std::string second = WriteSet("second", SmallRecords());
  const std::string name = "/train-00001-of-00004.shard";
  EXPECT_EQ(*ReadFile(first + name, 1 << 24), *ReadFile(second + name, 1 << 24));
}

TEST(ReadBench, FiguresOfASmallSetAreCompleteAndCountEveryRecord) {
  ReadBenchOptions options;
  options.path = WriteSet("measured", SmallRecords());
  options.batch = 7;  // four batches of an epoch, and two records that are left out
  options.threads = 2;
  options.rounds = 1;
  const auto figures = MeasureReading(options);
  ASSERT_TRUE(figures.ok()) << figures.status().ToString();
  EXPECT_EQ(figures->fields, "image raw, label zstd");
  EXPECT_EQ(figures->record_bytes, 4u * 40 * 40);
  EXPECT_EQ(figures->unchecked.first_epoch.records, 28u);
  EXPECT_EQ(figures->gather.records, figures->unchecked.later_epoch.records);
  EXPECT_EQ(figures->pread.records, figures->gather.records);
  EXPECT_EQ(figures->unchecked.times.checksum_ns, 0u);
  EXPECT_GT(figures->unchecked.times.decode_ns, 0u);
}

TEST(ReadBench, MissingSetIsAnError) {
  ReadBenchOptions options;
  options.path = testing::TempDir() + "/nowhere";
  EXPECT_EQ(MeasureReading(options).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace shardmill
