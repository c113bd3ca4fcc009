#include "tools/dump/record_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reader/shard_testing.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs
using testing::ElementsAre;

TEST(EvenlySpaced, StartsWithZeroAndNeverRepeats) {
  EXPECT_THAT(EvenlySpaced(10, 3), ElementsAre(0, 3, 6));
  EXPECT_THAT(EvenlySpaced(2, 12), ElementsAre(0, 1));
  EXPECT_THAT(EvenlySpaced(0, 12), ElementsAre());
  const uint64_t many = uint64_t{1} << 63;
  EXPECT_THAT(EvenlySpaced(many, 4), ElementsAre(0, many / 4, many / 2, many / 4 * 3));
}

class RecordSheetTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string folder = EmptyFolder("record_sheet_test");
    WriteTestDataset(folder);
    set_ = ShardSet::Open(folder, "train").value();
  }
  const ShardSet::Split& split() const { return set_->splits()[0]; }

  std::unique_ptr<ShardSet> set_;
};

TEST_F(RecordSheetTest, PixelsOfTheRecordAreCountedByClass) {
  const auto sheet = DrawRecord(*set_, split(), 7, RecordSheetOptions());
  ASSERT_TRUE(sheet.ok()) << sheet.status().ToString();
  uint64_t counts[4] = {};
  for (const uint8_t id : TensorOf(set_->schema().fields[1], 1, 2)) ++counts[id];
  EXPECT_THAT(sheet->classes.counts, ElementsAre(counts[0], counts[1], counts[2]));
  EXPECT_EQ(sheet->classes.invalid, counts[3]);  // the fixture writes ids 0 to 3 for 3 classes
  EXPECT_EQ(sheet->classes.total(), 24u);
}

TEST_F(RecordSheetTest, SameRecordsGiveTheSamePicture) {
  RecordSheetOptions options;
  options.records = {0, 5, 17};
  const auto first = DrawRecords(*set_, split(), options);
  const auto second = DrawRecords(*set_, split(), options);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  EXPECT_EQ(first->picture.width, second->picture.width);
  EXPECT_TRUE(first->picture.pixels == second->picture.pixels);
}

TEST_F(RecordSheetTest, LabelFieldCanBeShownAsTheImage) {
  RecordSheetOptions options;
  options.field = "label";
  const auto sheet = DrawRecord(*set_, split(), 0, options);
  EXPECT_TRUE(sheet.ok()) << sheet.status().ToString();
}

}  // namespace
}  // namespace shardmill
