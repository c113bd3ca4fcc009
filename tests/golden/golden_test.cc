// The committed shards are read, value by value; the writer of today writes the same bytes; and
// proto/FORMAT.md names their digests.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "reader/batch_loader.h"
#include "reader/dataset.h"
#include "reader/manifest.h"
#include "reader/verify.h"
#include "tests/golden/golden_sets.h"

namespace shardmill {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A copy of the committed files: the test runner gives links, which are no shards.
std::string CommittedFolder(const GoldenSet& set) {
  const std::string folder = testing::TempDir() + "/committed-" + set.name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden/" + set.name)) {
    std::filesystem::copy_file(entry.path(), folder / entry.path().filename());
  }
  return folder;
}

// What readers must get of fields whose stored bytes are a JPEG file, by record.
const std::map<uint64_t, std::string>& JpegTensorDigests() {
  static const std::map<uint64_t, std::string> digests = {{0, "f645a8d1b7fb572a9204d1406bdfa001"},
                                                          {1, "5fef472b58a86f33d40f3cb236d0afdb"},
                                                          {2, "87346d75d6b70ac60f02d6faf982d78e"}};
  return digests;
}

class Golden : public testing::TestWithParam<std::string> {
 protected:
  GoldenSet set_ = GoldenSetNamed(GetParam());
};

void ExpectField(const ShardReader& shard, uint64_t record, int field,
                 const GoldenField& expected) {
  const FieldSpec& spec = shard.schema().fields[static_cast<size_t>(field)];
  const auto dims = shard.VariableDims(record, field);
  ASSERT_TRUE(dims.ok()) << dims.status().ToString();
  EXPECT_EQ(*dims, expected.variable_dims);
  std::vector<uint8_t> tensor(*spec.TensorBytes(*dims));
  ReadScratch scratch;
  const Status status = shard.Read(record, field, tensor.data(), tensor.size(), &scratch);
  ASSERT_TRUE(status.ok()) << status.ToString();
  if (spec.codec == Codec::kJpeg) {
    EXPECT_EQ(DigestToHex(Digest128(tensor.data(), tensor.size())), JpegTensorDigests().at(record));
  } else {
    EXPECT_EQ(tensor, expected.tensor) << spec.name << " of record " << record;
  }
}

void ExpectSchema(const RecordSchema& found, const RecordSchema& expected) {
  ASSERT_EQ(found.fields.size(), expected.fields.size());
  for (size_t f = 0; f < found.fields.size(); ++f) {
    EXPECT_EQ(found.fields[f].name, expected.fields[f].name);
    EXPECT_EQ(found.fields[f].dtype, expected.fields[f].dtype);
    EXPECT_EQ(found.fields[f].shape, expected.fields[f].shape);
    EXPECT_EQ(found.fields[f].codec, expected.fields[f].codec);
    EXPECT_EQ(found.fields[f].role, expected.fields[f].role);
    EXPECT_EQ(found.fields[f].encoding, expected.fields[f].encoding);
  }
  ASSERT_EQ(found.classes.size(), expected.classes.size());
  for (size_t k = 0; k < found.classes.size(); ++k) {
    EXPECT_EQ(found.classes[k].name, expected.classes[k].name);
    EXPECT_EQ(found.classes[k].color, expected.classes[k].color);
  }
  EXPECT_EQ(found.ignore, expected.ignore);
}

TEST_P(Golden, CommittedShardsAreReadValueByValue) {
  const auto dataset = Dataset::Open(CommittedFolder(set_));
  ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
  const Dataset::Split* split = *(*dataset)->split("train");
  ASSERT_EQ(split->shard_count(), static_cast<int>(set_.shards.size()));
  ExpectSchema((*dataset)->schema(), set_.schema);
  uint64_t skipped = 0;
  for (size_t s = 0; s < set_.shards.size(); ++s) {
    const ShardReader& shard = split->shard(static_cast<int>(s));
    const std::vector<GoldenRecord>& records = set_.shards[s].records;
    ASSERT_EQ(shard.records(), records.size());
    for (uint64_t r = 0; r < records.size(); ++r) {
      const auto meta = shard.ReadMeta(r);
      ASSERT_TRUE(meta.ok()) << meta.status().ToString();
      EXPECT_EQ(meta->key(), records[r].key);
      EXPECT_EQ(meta->crop_y(), records[r].crop_y);
      EXPECT_EQ(meta->crop_x(), records[r].crop_x);
      EXPECT_EQ(meta->source_width(), 60u);
      for (size_t f = 0; f < records[r].fields.size(); ++f) {
        ExpectField(shard, r, static_cast<int>(f), records[r].fields[f]);
      }
    }
    for (const std::string& key : set_.shards[s].skipped) {
      EXPECT_EQ(split->shard(static_cast<int>(s)).summary().skipped_size(),
                static_cast<int>(set_.shards[s].skipped.size()));
      EXPECT_EQ((*dataset)->manifest().splits(0).skipped(static_cast<int>(skipped++)).key(), key);
    }
  }
}

TEST_P(Golden, CommittedSetIsIntactAndItsManifestFollowsFromItsShards) {
  const auto report = Verify(CommittedFolder(set_), {});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  for (const Finding& finding : report->findings) ADD_FAILURE() << finding.message;
  const auto read = ReadManifest(CommittedFolder(set_));
  const auto rebuilt = RebuildManifest(CommittedFolder(set_));
  ASSERT_TRUE(read.ok() && rebuilt.ok());
  EXPECT_EQ(ManifestDigest(*rebuilt), read->digest());
}

TEST_P(Golden, TheWriterStillWritesTheSameBytes) {
  if (set_.uses_zstd && !SameZstdAsGolden()) GTEST_SKIP() << "another version of zstd";
  if (set_.uses_jpeg && !SameJpegAsGolden()) GTEST_SKIP() << "another version of libjpeg-turbo";
  const std::string folder = testing::TempDir() + "/golden-" + set_.name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const Status status = WriteGoldenSet(set_, folder);
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (size_t s = 0; s < set_.shards.size(); ++s) {
    const std::string name = "/" + GoldenShardName(set_, s);
    EXPECT_TRUE(ReadText(folder + name) == ReadText(CommittedFolder(set_) + name)) << name;
  }
}

TEST_P(Golden, FormatDocumentNamesTheDigests) {
  const std::string document = ReadText("proto/FORMAT.md");
  for (size_t s = 0; s < set_.shards.size(); ++s) {
    const std::string name = set_.name + "/" + GoldenShardName(set_, s);
    const auto shard = ShardReader::Open("tests/golden/" + name, ChecksumPolicy::kAlways);
    ASSERT_TRUE(shard.ok()) << shard.status().ToString();
    EXPECT_LT((*shard)->file_bytes(), 64u << 10);
    const std::string row = "| `" + name + "` | " + std::to_string((*shard)->file_bytes()) +
                            " | `" + DigestToHex((*shard)->digest()) + "` |";
    EXPECT_NE(document.find(row), std::string::npos) << row;
  }
}

// Every fixed-shape field, through the batch loader, in stored order.
TEST_P(Golden, LoaderDeliversTheSameValues) {
  const auto dataset = Dataset::Open(CommittedFolder(set_));
  ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
  std::vector<const GoldenRecord*> records;
  for (const GoldenShard& shard : set_.shards) {
    for (const GoldenRecord& record : shard.records) records.push_back(&record);
  }
  BatchLoaderOptions options;
  options.split = "train";
  options.order = Order::kStored;
  options.global_batch = records.size();
  std::vector<size_t> fields;
  for (size_t f = 0; f < set_.schema.fields.size(); ++f) {
    if (!set_.schema.fields[f].IsFixedShape()) continue;
    fields.push_back(f);
    options.fields.push_back({set_.schema.fields[f].name});
  }
  if (fields.empty()) GTEST_SKIP() << "all fields vary in shape: they need padding";
  const auto loader = BatchLoader::Open(*dataset, options);
  ASSERT_TRUE(loader.ok()) << loader.status().ToString();
  const auto batch = (*loader)->Next();
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  ASSERT_TRUE(batch->has_value());
  for (size_t i = 0; i < fields.size(); ++i) {
    const uint8_t* data = (**batch).field(static_cast<int>(i)).data;
    for (const GoldenRecord* record : records) {
      const std::vector<uint8_t>& expected = record->fields[fields[i]].tensor;
      EXPECT_EQ(std::vector<uint8_t>(data, data + expected.size()), expected)
          << options.fields[i].name << " of " << record->key;
      data += expected.size();
    }
  }
}

std::vector<std::string> SetNames() {
  std::vector<std::string> names;
  for (const GoldenSet& set : GoldenSets()) names.push_back(set.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Sets, Golden, testing::ValuesIn(SetNames()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Golden, NoShardIsCommittedThatIsNotTested) {
  std::set<std::string> expected, found;
  for (const GoldenSet& set : GoldenSets()) {
    for (size_t s = 0; s < set.shards.size(); ++s) {
      expected.insert("tests/golden/" + set.name + "/" + GoldenShardName(set, s));
    }
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/golden")) {
    if (entry.path().extension() == ".shard") found.insert(entry.path().string());
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace shardmill
