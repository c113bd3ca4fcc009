// Round trips through the writer and the reader, and what the writer refuses.
#include "reader/shard_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/shard_reader.h"
#include "tests/reader/shard_testing.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs
namespace fs = std::filesystem;

struct RoundTripCase {
  const char* name;
  RecordSchema schema;
  uint64_t records;
  uint32_t records_per_block;
};

class ShardRoundTrip : public testing::TestWithParam<RoundTripCase> {};

TEST_P(ShardRoundTrip, EveryRecordComesBackAsItWasWritten) {
  const RoundTripCase& test = GetParam();
  const std::string folder = EmptyFolder(std::string("round_trip_") + test.name);
  const ShardPlan plan = PlanOf("train", 1, 3, test.records_per_block);
  const auto result = WriteTestShard(folder, plan, test.schema, test.records);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->file, "train-00001-of-00003.shard");
  EXPECT_EQ(result->records, test.records);
  const std::string path = folder + "/" + result->file;
  EXPECT_EQ(result->bytes, fs::file_size(path));

  for (const ChecksumPolicy policy :
       {ChecksumPolicy::kOff, ChecksumPolicy::kFirstTouch, ChecksumPolicy::kAlways}) {
    const auto reader = ShardReader::Open(path, policy);
    ASSERT_TRUE(reader.ok()) << reader.status().ToString();
    EXPECT_EQ((*reader)->records(), test.records);
    EXPECT_EQ((*reader)->shard_number(), 1u);
    EXPECT_EQ((*reader)->shard_count(), 3u);
    EXPECT_EQ((*reader)->digest(), result->digest);
    EXPECT_EQ((*reader)->dataset_id(), plan.dataset_id);
    EXPECT_EQ((*reader)->file_bytes(), result->bytes);
    EXPECT_EQ((*reader)->block_count(),
              (test.records + test.records_per_block - 1) / test.records_per_block);
    EXPECT_EQ((*reader)->schema_message().split(), "train");
    EXPECT_EQ((*reader)->schema_message().recipe().layout(), "camvid");
    EXPECT_EQ((*reader)->summary().statistics().records(), test.records);
    EXPECT_EQ((*reader)->summary().skipped_size(), 1);
    for (int pass = 0; pass < 2; ++pass) {
      const Status status = ReadEverything(**reader);
      EXPECT_TRUE(status.ok()) << status.ToString();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, ShardRoundTrip,
                         testing::Values(RoundTripCase{"image_and_label", ImageAndLabel(), 10, 4},
                                         RoundTripCase{"one_record", ImageAndLabel(), 1, 100},
                                         RoundTripCase{"no_record", ImageAndLabel(), 0, 5},
                                         RoundTripCase{"full_last_block", ImageAndLabel(), 8, 4},
                                         RoundTripCase{"many_blocks", ImageAndLabel(), 50, 1},
                                         RoundTripCase{"header_over_a_page", ImageAndLabel(), 600,
                                                       500},
                                         RoundTripCase{"all_kinds", AllKindsOfFields(), 12, 5},
                                         RoundTripCase{"all_kinds_one", AllKindsOfFields(), 1, 5}),
                         [](const auto& info) { return info.param.name; });

TEST(ShardWriter, SameRecordsGiveTheSameBytes) {
  const std::string first = EmptyFolder("same_bytes_first");
  const std::string second = EmptyFolder("same_bytes_second");
  const ShardPlan plan = PlanOf("val", 0, 1, 7);
  const auto a = WriteTestShard(first, plan, AllKindsOfFields(), 20);
  const auto b = WriteTestShard(second, plan, AllKindsOfFields(), 20);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->digest, b->digest);
  EXPECT_TRUE(ReadBytes(first + "/" + a->file) == ReadBytes(second + "/" + b->file));
}

TEST(ShardWriter, DigestDependsOnEveryRecord) {
  const std::string folder = EmptyFolder("digest");
  const auto a = WriteTestShard(folder, PlanOf("val", 0, 1, 7), ImageAndLabel(), 20);
  const auto b = WriteTestShard(folder, PlanOf("val", 0, 1, 7), ImageAndLabel(), 21);
  const auto c = WriteTestShard(folder, PlanOf("val", 0, 1, 8), ImageAndLabel(), 20);
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  EXPECT_NE(a->digest, b->digest);
  EXPECT_NE(a->digest, c->digest);
}

TEST(ShardWriter, WithoutCloseNothingIsLeft) {
  const std::string folder = EmptyFolder("without_close");
  const ShardPlan plan = PlanOf("train", 0, 1, 2);
  {
    auto writer = ShardWriter::Create(folder, plan, ImageAndLabel(), proto::Recipe());
    ASSERT_TRUE(writer.ok());
    for (uint64_t i = 0; i < 5; ++i) {
      ASSERT_TRUE((*writer)->Append(EncodeTestRecord(ImageAndLabel(), plan, i)).ok());
    }
    EXPECT_FALSE(fs::is_empty(folder));
  }
  EXPECT_TRUE(fs::is_empty(folder));
}

class ShardWriterRefuses : public testing::Test {
 protected:
  static Status Create(const ShardPlan& plan, const RecordSchema& schema) {
    return ShardWriter::Create(EmptyFolder("refuses"), plan, schema, proto::Recipe()).status();
  }
  // What Append says to a record after `change` was made to it; and Close must repeat it.
  template <typename Change>
  static Status Append(const RecordSchema& schema, Change change) {
    const ShardPlan plan = PlanOf("train", 0, 1, 4);
    auto writer =
        ShardWriter::Create(EmptyFolder("refuses"), plan, schema, proto::Recipe()).value();
    EncodedRecord record = EncodeTestRecord(schema, plan, 0);
    change(&record);
    const Status status = writer->Append(std::move(record));
    EXPECT_EQ(writer->Close(proto::ShardSummary()).status().message(), status.message());
    return status;
  }
};

TEST_F(ShardWriterRefuses, BadPlans) {
  ShardPlan plan = PlanOf("train", 0, 1, 1);
  EXPECT_TRUE(Create(plan, ImageAndLabel()).ok());
  plan.split = "../train";
  EXPECT_EQ(Create(plan, ImageAndLabel()).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Create(PlanOf("t", 3, 3, 1), ImageAndLabel()).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Create(PlanOf("t", 0, 10001, 1), ImageAndLabel()).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Create(PlanOf("t", 0, 1, 0), ImageAndLabel()).code(), StatusCode::kInvalidArgument);
}

TEST_F(ShardWriterRefuses, BadCodecs) {
  RecordSchema schema = ImageAndLabel();
  schema.fields[1].codec = Codec::kJpeg;  // a label
  EXPECT_EQ(Create(PlanOf("train", 0, 1, 1), schema).code(), StatusCode::kInvalidArgument);
  schema = ImageAndLabel();
  schema.fields[1].codec = Codec::kZstdDictionary;  // without a dictionary
  EXPECT_EQ(Create(PlanOf("train", 0, 1, 1), schema).code(), StatusCode::kInvalidArgument);
  // The right start, and nothing that zstd could use behind it.
  schema.fields[1].dictionary =
      std::make_shared<const ZstdDictionary>("\x37\xA4\x30\xEC" + std::string(100, '\1'));
  const Status status = Create(PlanOf("train", 0, 1, 1), schema);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("the dictionary is malformed"), std::string::npos);
}

TEST_F(ShardWriterRefuses, StoredBytesOfAnotherShape) {
  RecordSchema schema = ImageAndLabel();
  const std::vector<uint8_t> smaller(4 * 5);
  const FieldSpec spec = {"label", DType::kU8, {4, 5}, Codec::kZstd};
  const auto wrong_label = [&](EncodedRecord* record) {
    record->fields[1] = FieldEncoder().Encode(spec, smaller.data(), smaller.size()).value();
  };
  EXPECT_EQ(Append(schema, wrong_label).code(), StatusCode::kInvalidArgument);
  const auto no_jpeg = [](EncodedRecord* record) {
    record->fields[0] = MakeEncodedField("no JPEG file", {});
  };
  schema.fields[0].codec = Codec::kJpeg;
  EXPECT_EQ(Append(schema, no_jpeg).code(), StatusCode::kInvalidArgument);
}

TEST_F(ShardWriterRefuses, RecordsThatDoNotFitTheSchema) {
  const auto no_field = [](EncodedRecord* record) { record->fields.pop_back(); };
  const auto short_image = [](EncodedRecord* record) { record->fields[0].bytes.pop_back(); };
  const auto extra_dim = [](EncodedRecord* record) { record->fields[1].variable_dims = {4}; };
  EXPECT_EQ(Append(ImageAndLabel(), no_field).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Append(ImageAndLabel(), short_image).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Append(ImageAndLabel(), extra_dim).code(), StatusCode::kInvalidArgument);
}

TEST_F(ShardWriterRefuses, MetadataWithoutAValidKey) {
  const auto with_key = [](const std::string& key) {
    return Append(ImageAndLabel(), [&key](EncodedRecord* record) {
      proto::RecordMeta meta;
      meta.set_key(key);
      record->meta = meta.SerializeAsString();
    });
  };
  EXPECT_EQ(with_key("").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(with_key("a\nb").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(with_key(std::string(4097, 'k')).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Append(ImageAndLabel(), [](EncodedRecord* record) { record->meta = "\xFF"; }).code(),
            StatusCode::kInvalidArgument);
}

TEST_F(ShardWriterRefuses, TextThatIsNotUtf8) {
  const ShardPlan plan = PlanOf("train", 0, 1, 4);
  const std::string folder = EmptyFolder("refuses");
  proto::Recipe recipe;
  recipe.set_layout("\xFF");
  EXPECT_EQ(ShardWriter::Create(folder, plan, ImageAndLabel(), recipe).status().code(),
            StatusCode::kInvalidArgument);
  auto writer = ShardWriter::Create(folder, plan, ImageAndLabel(), proto::Recipe()).value();
  proto::ShardSummary summary;
  summary.add_skipped()->set_key("\xFF");
  EXPECT_EQ(writer->Close(summary).status().code(), StatusCode::kInvalidArgument);
  writer.reset();
  EXPECT_TRUE(fs::is_empty(folder));
}

}  // namespace
}  // namespace shardmill
