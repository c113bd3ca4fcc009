#include "tools/dump/record_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reader/shard_testing.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs

std::unique_ptr<ShardReader> WriteAndOpen(const RecordSchema& schema, uint64_t records) {
  const std::string folder = EmptyFolder("record_view_test");
  const auto result = WriteTestShard(folder, PlanOf("train", 0, 1, 2), schema, records);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  auto reader = ShardReader::Open(folder + "/" + result->file, ChecksumPolicy::kFirstTouch);
  EXPECT_TRUE(reader.ok()) << reader.status().ToString();
  return std::move(reader).value();
}

TEST(ChooseViewFields, ImageAndLabelAreFoundByRole) {
  const auto fields = ChooseViewFields(ImageAndLabel(), "");
  ASSERT_TRUE(fields.ok());
  EXPECT_EQ(fields->image, 0);
  EXPECT_EQ(fields->label_map, 1);
  EXPECT_EQ(fields->class_id, std::nullopt);
}

TEST(ChooseViewFields, NamedFieldIsShownAsTheImage) {
  const auto fields = ChooseViewFields(AllKindsOfFields(), "f32_zstd");
  ASSERT_TRUE(fields.ok());
  EXPECT_EQ(AllKindsOfFields().fields[*fields->image].name, "f32_zstd");
  const auto unknown = ChooseViewFields(ImageAndLabel(), "depth");
  EXPECT_EQ(unknown.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(unknown.status().message(), testing::HasSubstr("image, label"));
}

TEST(ChooseViewFields, WithoutImageAnyTensorOfTwoDimensionsIsShown) {
  const auto fields = ChooseViewFields(AllKindsOfFields(), "");
  ASSERT_TRUE(fields.ok());
  EXPECT_EQ(fields->image, 0);
}

TEST(ChooseViewFields, FieldsThatAreNoPicturesAreRefused) {
  RecordSchema schema;
  schema.fields = {{"vector", DType::kF32, {128}}};
  EXPECT_EQ(ChooseViewFields(schema, "").status().code(), StatusCode::kInvalidArgument);
}

TEST(ViewRecord, ShowsWhatWasWritten) {
  const RecordSchema schema = ImageAndLabel();
  const auto reader = WriteAndOpen(schema, 3);
  ReadScratch scratch;
  const auto view = ViewRecord(*reader, 2, *ChooseViewFields(schema, ""), &scratch);
  ASSERT_TRUE(view.ok()) << view.status().ToString();
  EXPECT_EQ(view->key, KeyOf("train", 0, 2));
  const std::vector<uint8_t> image = TensorOf(schema.fields[0], 0, 2);
  const std::vector<uint8_t> label = TensorOf(schema.fields[1], 0, 2);
  ASSERT_EQ(view->image->height, 4);
  ASSERT_EQ(view->image->width, 6);
  EXPECT_EQ(view->image->at(3, 5), (Rgb{image[69], image[70], image[71]}));
  EXPECT_THAT(view->label->ids, testing::ElementsAreArray(label));
}

TEST(ReadTensor, VariableDimensionsAreFilledIn) {
  const RecordSchema schema = AllKindsOfFields();
  const auto reader = WriteAndOpen(schema, 8);
  ReadScratch scratch;
  for (uint64_t record = 0; record < reader->records(); ++record) {
    for (int field = 0; field < static_cast<int>(schema.fields.size()); ++field) {
      const auto tensor = ReadTensor(*reader, record, field, &scratch);
      ASSERT_TRUE(tensor.ok()) << tensor.status().ToString();
      EXPECT_EQ(tensor->bytes, TensorOf(schema.fields[field], 0, record));
      uint64_t bytes = DTypeBytes(schema.fields[field].dtype);
      for (const int64_t side : tensor->shape) bytes *= static_cast<uint64_t>(side);
      EXPECT_EQ(bytes, tensor->bytes.size());
    }
  }
}

TEST(ViewRecord, EmptySequenceIsAnErrorNotACrash) {
  RecordSchema schema;
  schema.fields = {{"ragged", DType::kF32, {kVariableDim, 3}}};
  const auto reader = WriteAndOpen(schema, 40);
  ReadScratch scratch;
  int empty = 0;
  for (uint64_t record = 0; record < reader->records(); ++record) {
    const auto view = ViewRecord(*reader, record, *ChooseViewFields(schema, ""), &scratch);
    const bool has_rows = DimsOf(schema.fields[0], 0, record)[0] > 0;
    EXPECT_EQ(view.ok(), has_rows) << record;
    if (!has_rows) ++empty;
  }
  EXPECT_GT(empty, 0);
}

}  // namespace
}  // namespace shardmill
