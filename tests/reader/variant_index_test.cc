#include "reader/variant_index.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/dataset.h"
#include "tests/reader/test_dataset.h"

namespace shardmill {
namespace {

TEST(VariantIndex, SourceOfKeyEndsBeforeTheVariant) {
  EXPECT_EQ(SourceOfKey("a/b.png"), "a/b.png");
  EXPECT_EQ(SourceOfKey("a/b.png#v1"), "a/b.png");
  EXPECT_EQ(SourceOfKey("a/b.png#v12"), "a/b.png");
  EXPECT_EQ(SourceOfKey("a/b#v.png"), "a/b#v.png");
  EXPECT_EQ(SourceOfKey("a/b.png#v"), "a/b.png#v");
  EXPECT_EQ(SourceOfKey("a/b.png#w1"), "a/b.png#w1");
  EXPECT_EQ(SourceOfKey("12"), "12");
  EXPECT_EQ(SourceOfKey("#v1#v2"), "#v1");
  EXPECT_EQ(SourceOfKey(""), "");
}

TEST(VariantIndex, EqualCountsAreArithmetic) {
  const VariantIndex index =
      VariantIndex::Of({"a", "a#v1", "a#v2", "b", "b#v1", "b#v2", "c", "c#v1", "c#v2"});
  ASSERT_EQ(index.sources(), 3u);
  for (uint64_t source = 0; source < 3; ++source) {
    EXPECT_EQ(index.FirstOf(source), 3 * source);
    EXPECT_EQ(index.CountOf(source), 3u);
  }
}

TEST(VariantIndex, UnequalCountsAreListed) {
  const VariantIndex index = VariantIndex::Of({"a", "b#v1", "b#v7", "c", "d", "d#v1", "d#v2"});
  ASSERT_EQ(index.sources(), 4u);
  const std::vector<uint64_t> first = {0, 1, 3, 4};
  const std::vector<uint64_t> count = {1, 2, 1, 3};
  for (uint64_t source = 0; source < 4; ++source) {
    EXPECT_EQ(index.FirstOf(source), first[source]);
    EXPECT_EQ(index.CountOf(source), count[source]);
  }
}

proto::Recipe RecipeWith(const std::string& crop_mode, const std::string& eval_crop_mode,
                         const std::string& augment) {
  proto::Recipe recipe;
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"augment", augment}, {"crop-mode", crop_mode}, {"eval-crop-mode", eval_crop_mode}}) {
    recipe.add_options()->set_name(name);
    recipe.mutable_options(recipe.options_size() - 1)->set_value(value);
  }
  return recipe;
}

TEST(VariantIndex, TilesAndCornersArePartsInTheSplitThatHasThem) {
  proto::ShardSchema schema;
  *schema.mutable_recipe() = RecipeWith("tile", "center", "2");
  schema.set_split("train");
  EXPECT_EQ(RecordsPerPart(schema), 3u);
  schema.set_split("val");
  EXPECT_EQ(RecordsPerPart(schema), 0u);
  *schema.mutable_recipe() = RecipeWith("random", "corners", "2");
  EXPECT_EQ(RecordsPerPart(schema), 1u);
  schema.set_split("train");
  EXPECT_EQ(RecordsPerPart(schema), 0u);
  schema.clear_recipe();
  EXPECT_EQ(RecordsPerPart(schema), 0u);
}

// Two inputs in `crop_mode`: one of two windows, one of three; each window and its augmented copy,
// but the first window of the second input is left out, and its copy is not.
uint64_t SourcesOfWindows(const std::string& crop_mode) {
  FieldSpec field;
  field.name = "image";
  field.role = Role::kImage;
  field.shape = {1, 1, 1};
  RecordSchema schema;
  schema.fields = {field};
  const proto::Recipe recipe = RecipeWith(crop_mode, "center", "1");
  const std::vector<std::pair<std::string, uint32_t>> records = {
      {"a", 0}, {"a", 1}, {"a", 2}, {"a", 3}, {"b", 1}, {"b", 2}, {"b", 3}, {"b", 4}, {"b", 5}};
  TestSplitOptions options;
  options.records = records.size();
  options.recipe = &recipe;
  const std::string folder =
      WriteTestSplit("windows", schema, options, [&](uint64_t number, FieldEncoder* encoder) {
        const auto& [source, variant] = records[number];
        const uint8_t pixel = 0;
        EncodedRecord record;
        AddTestField(schema.fields[0], &pixel, 1, {}, encoder, &record);
        proto::RecordMeta meta;
        meta.set_key(variant == 0 ? source : source + "#v" + std::to_string(variant));
        meta.set_variant(variant);
        record.meta = meta.SerializeAsString();
        return record;
      });
  const auto dataset = Dataset::Open(folder);
  EXPECT_TRUE(dataset.ok()) << dataset.status().ToString();
  const auto index = VariantIndex::Read(**(*dataset)->split("train"));
  EXPECT_TRUE(index.ok()) << index.status().ToString();
  return index->sources();
}

TEST(VariantIndex, EachTileIsASourceAndItsAugmentedCopiesAreItsVariants) {
  EXPECT_EQ(SourcesOfWindows("tile"), 5u);
  EXPECT_EQ(SourcesOfWindows("corners"), 5u);
  EXPECT_EQ(SourcesOfWindows("random"), 2u);
}

TEST(VariantIndex, NoRecordsHaveNoSources) { EXPECT_EQ(VariantIndex::Of({}).sources(), 0u); }

}  // namespace
}  // namespace shardmill
