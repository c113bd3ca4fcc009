#include "tools/pack/pack_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace shardmill {
namespace {

InputSet MakeSet(uint64_t train, uint64_t val, uint32_t classes) {
  InputSet set;
  set.root = "/source";
  set.layout = "suite";
  for (uint32_t i = 0; i < classes; ++i) set.classes.push_back({i, "c" + std::to_string(i), i});
  for (auto [name, count] : {std::pair("train", train), std::pair("val", val)}) {
    InputSplit split;
    split.name = name;
    for (uint64_t i = 0; i < count; ++i) {
      std::string key = std::string(name) + "/" + std::to_string(100000 + i);
      split.samples.push_back({key, {key, 10}, {key + "_L", 5}, 0});
    }
    set.splits.push_back(split);
  }
  return set;
}

PackPlan Plan(const InputSet& set, const PackOptions& options) {
  Result<PackPlan> plan = MakePlan(set, options, {{10, 10}, {}});
  EXPECT_TRUE(plan.ok()) << plan.status().ToString();
  return plan.ok() ? *plan : PackPlan();
}

std::vector<std::string> Keys(const SplitPlan& split) {
  std::vector<std::string> keys;
  for (const Sample& sample : split.samples) keys.push_back(sample.key);
  return keys;
}

TEST(PackPlan, ShardsAreCutByUncompressedSize) {
  PackOptions options;
  options.shard_bytes = 1000;
  options.block_bytes = 850;
  PackPlan plan = Plan(MakeSet(11, 1, 3), options);
  EXPECT_EQ(plan.record_bytes, 400u);  // 10 × 10 × (3 + 1)
  EXPECT_EQ(plan.records_per_block, 2u);
  EXPECT_EQ(plan.splits[0].inputs_per_shard, 2u);
  EXPECT_EQ(plan.splits[0].shard_count, 6u);
  EXPECT_EQ(plan.splits[0].ShardEnd(5), 11u);
  EXPECT_EQ(plan.splits[1].shard_count, 1u);
}

// An input stays whole: all its records go to one shard.
TEST(PackPlan, ShardsHoldFewerInputsWhenEachGivesMoreRecords) {
  PackOptions options;
  options.crop = ImageSize{10, 10};
  options.crop_mode = CropMode::kRandom;
  options.variants = 3;
  options.augment = *ParseAugments("flip");
  options.augment.copies = 1;
  options.shard_bytes = 400 * 6 * 2;
  options.block_bytes = 400 * 5;
  const PackPlan plan = Plan(MakeSet(11, 4, 3), options);
  EXPECT_EQ(plan.splits[0].expected_records, 66u);
  EXPECT_EQ(plan.splits[0].inputs_per_shard, 2u);
  EXPECT_EQ(plan.splits[0].shard_count, 6u);
  EXPECT_EQ(plan.splits[1].expected_records, 4u);
  EXPECT_EQ(plan.splits[1].shard_count, 1u);
  EXPECT_EQ(plan.records_per_block, 5u);
  EXPECT_EQ(plan.expected_records(), 70u);
}

TEST(PackPlan, RecordsThatDependOnSizesAreTakenFromThem) {
  PackOptions options;
  options.crop = ImageSize{10, 10};
  options.crop_mode = CropMode::kTile;
  options.shard_bytes = 400 * 10;
  SetSizes sizes;
  sizes.records = {50, 1};
  const Result<PackPlan> plan = MakePlan(MakeSet(10, 1, 3), options, sizes);
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(plan->splits[0].expected_records, 50u);
  EXPECT_EQ(plan->splits[0].inputs_per_shard, 2u);
}

TEST(PackPlan, ChanceIsForTrainAlone) {
  PackOptions options;
  options.crop = ImageSize{10, 10};
  options.crop_mode = CropMode::kRandom;
  options.variants = 3;
  options.augment.copies = 2;
  options.max_ignore_permille = 100;
  const GeometryOptions train = SplitGeometry(options, "train");
  EXPECT_EQ(train.crop_mode, CropMode::kRandom);
  EXPECT_EQ(train.variants, 3u);
  EXPECT_EQ(train.augment.copies, 2u);
  EXPECT_EQ(train.max_ignore_permille, 100u);
  for (const char* split : {"val", "test"}) {
    const GeometryOptions other = SplitGeometry(options, split);
    EXPECT_EQ(other.crop_mode, CropMode::kCenter);
    EXPECT_EQ(other.variants, 1u);
    EXPECT_EQ(other.augment.copies, 0u);
    EXPECT_EQ(other.max_ignore_permille, 1000u);
  }
}

TEST(PackPlan, RecordLargerThanAShardStandsAlone) {
  PackOptions options;
  options.shard_bytes = 1;
  options.block_bytes = 1;
  PackPlan plan = Plan(MakeSet(3, 1, 3), options);
  EXPECT_EQ(plan.splits[0].shard_count, 3u);
  EXPECT_EQ(plan.records_per_block, 1u);
}

TEST(PackPlan, ShardsGrowBeyondTenThousand) {
  PackOptions options;
  options.shard_bytes = 1;
  PackPlan plan = Plan(MakeSet(20001, 1, 3), options);
  EXPECT_EQ(plan.splits[0].inputs_per_shard, 3u);
  EXPECT_LE(plan.splits[0].shard_count, 10000u);
}

TEST(PackPlan, TrainIsShuffledOthersAreSorted) {
  PackOptions options;
  PackPlan plan = Plan(MakeSet(200, 50, 3), options);
  std::vector<std::string> train = Keys(plan.splits[0]), val = Keys(plan.splits[1]);
  EXPECT_FALSE(std::is_sorted(train.begin(), train.end()));
  EXPECT_TRUE(std::is_sorted(val.begin(), val.end()));
  EXPECT_EQ(std::set<std::string>(train.begin(), train.end()).size(), 200u);
  EXPECT_EQ(Keys(Plan(MakeSet(200, 50, 3), options).splits[0]), train);
  options.seed = 2;
  EXPECT_NE(Keys(Plan(MakeSet(200, 50, 3), options).splits[0]), train);
  options.order = DiskOrder::kSorted;
  std::vector<std::string> sorted = Keys(Plan(MakeSet(200, 50, 3), options).splits[0]);
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  options.order = DiskOrder::kShuffled;
  std::vector<std::string> shuffled = Keys(Plan(MakeSet(200, 50, 3), options).splits[1]);
  EXPECT_FALSE(std::is_sorted(shuffled.begin(), shuffled.end()));
}

// A global shuffle, not a local one: sorted neighbours end far apart.
TEST(PackPlan, ShuffleMovesInputsFar) {
  PackPlan plan = Plan(MakeSet(1000, 1, 3), PackOptions());
  double distance = 0;
  for (size_t i = 0; i < 1000; ++i) {
    double from = std::stod(plan.splits[0].samples[i].key.substr(6)) - 100000;
    distance += std::abs(from - static_cast<double>(i)) / 1000;
  }
  EXPECT_NEAR(distance, 333, 40);  // the mean of |a - b| for uniform a and b
}

TEST(PackPlan, IdFollowsInputsAndOptionsThatChangeBytes) {
  const InputSet set = MakeSet(20, 5, 3);
  PackOptions options;
  const Digest id = Plan(set, options).dataset_id;
  PackOptions other_machine = options;
  other_machine.jobs = 7;
  other_machine.output = "/elsewhere";
  other_machine.source = "/another";
  other_machine.on_error.skip = true;
  EXPECT_EQ(Plan(set, other_machine).dataset_id, id);

  std::set<Digest> ids = {id};
  auto differs = [&](const InputSet& changed_set, const PackOptions& changed) {
    return ids.insert(Plan(changed_set, changed).dataset_id).second;
  };
  PackOptions changed = options;
  changed.seed = 9;
  EXPECT_TRUE(differs(set, changed));
  changed = options;
  changed.crop = ImageSize{4, 4};
  EXPECT_TRUE(differs(set, changed));
  changed.crop_mode = CropMode::kRandom;
  EXPECT_TRUE(differs(set, changed));
  changed.variants = 2;
  EXPECT_TRUE(differs(set, changed));
  changed.augment = *ParseAugments("flip");
  changed.augment.copies = 1;
  EXPECT_TRUE(differs(set, changed));
  changed.augment = *ParseAugments("flip,rotate");
  changed.augment.copies = 1;
  EXPECT_TRUE(differs(set, changed));
  changed.max_ignore_permille = 500;
  EXPECT_TRUE(differs(set, changed));
  changed = options;
  changed.label_codec = Codec::kRaw;
  EXPECT_TRUE(differs(set, changed));
  InputSet other = set;
  other.splits[0].samples[3].image.bytes = 11;
  EXPECT_TRUE(differs(other, options));
  other = set;
  other.splits[0].samples[3].label.bytes = 11;
  EXPECT_TRUE(differs(other, options));
  other = set;
  other.splits[0].samples[3].label.path = "another label of as many bytes";
  EXPECT_TRUE(differs(other, options));
  other = set;
  other.labels.parts_files = {{"annotations.json", 100}};
  EXPECT_TRUE(differs(other, options));
  other.labels.parts_files[0].bytes = 101;
  EXPECT_TRUE(differs(other, options));
  other = set;
  other.classes[1].name = "renamed";
  EXPECT_TRUE(differs(other, options));
  other = set;
  other.splits[0].samples.pop_back();
  EXPECT_TRUE(differs(other, options));
}

TEST(PackPlan, PaddingValueIsNoClass) {
  PackOptions options;
  EXPECT_FALSE(Plan(MakeSet(2, 1, 3), options).schema.ignore.has_value());
  options.crop = ImageSize{4, 4};
  EXPECT_EQ(Plan(MakeSet(2, 1, 255), options).schema.ignore, 255u);
  EXPECT_EQ(Plan(MakeSet(2, 1, 255), options).label_dtype, DType::kU8);
  EXPECT_EQ(Plan(MakeSet(2, 1, 256), options).schema.ignore, 65535u);
  EXPECT_EQ(Plan(MakeSet(2, 1, 256), options).label_dtype, DType::kU16);
  InputSet set = MakeSet(2, 1, 11);
  set.labels.ignore = 11;
  EXPECT_EQ(Plan(set, options).schema.ignore, 11u);
  EXPECT_FALSE(Plan(MakeSet(2, 1, 255), options).labels.ignore.has_value());
}

TEST(PackPlan, OptionsForTrainAreRefusedWithoutIt) {
  InputSet set = MakeSet(1, 1, 3);
  set.splits[0].name = "a";
  PackOptions options;
  options.crop = ImageSize{4, 4};
  options.crop_mode = CropMode::kRandom;
  options.variants = 2;
  const auto message = [&] { return MakePlan(set, options, {{10, 10}, {}}).status().message(); };
  EXPECT_NE(message().find("--variants is for the split train, and the set has none"),
            std::string::npos)
      << message();
  options.layout.splits = {"a", "val"};  // chosen so
  EXPECT_EQ(message(), "");
  options.layout.splits.clear();
  options.variants = 1;
  EXPECT_NE(message().find("--crop-mode is for the split train"), std::string::npos) << message();
  options.crop_mode = CropMode::kCenter;
  EXPECT_EQ(message(), "");
  options.augment.copies = 1;
  EXPECT_NE(message().find("--augment is for the split train"), std::string::npos) << message();
}

TEST(PackPlan, PadValueIsRefusedWhereNothingCanBePadded) {
  const InputSet set = MakeSet(1, 1, 3);
  const auto is_refused = [&](const PackOptions& options) {
    const Status status = MakePlan(set, options, {{10, 10}, {}}).status();
    EXPECT_TRUE(status.ok() || status.message().find("--pad-value") != std::string::npos)
        << status.ToString();
    return !status.ok();
  };
  const auto augmented = [](const char* text) {
    PackOptions options;
    options.pad_value = 7;
    options.augment = *ParseAugments(text);
    options.augment.copies = 1;
    return options;
  };
  for (const char* text : {"scale", "flip,rotate", "cutout"}) {
    EXPECT_FALSE(is_refused(augmented(text))) << text;
  }
  EXPECT_TRUE(is_refused(augmented("flip,crop,brightness,noise,blur")));
  PackOptions options;
  options.pad_value = 7;
  EXPECT_TRUE(is_refused(options));
  options.resize = ResizeRule{ResizeRule::Kind::kLongSide, {}, 8};
  EXPECT_TRUE(is_refused(options));
  options.crop = ImageSize{8, 8};
  for (const CropMode mode :
       {CropMode::kCenter, CropMode::kRandom, CropMode::kCorners, CropMode::kTile}) {
    options.crop_mode = mode;
    options.small_images = SmallImages::kPad;
    EXPECT_FALSE(is_refused(options)) << CropModeName(mode);
    options.small_images = SmallImages::kRefuse;
    EXPECT_EQ(is_refused(options), mode != CropMode::kTile) << CropModeName(mode);
  }
  options.crop_mode = CropMode::kCenter;
  options.eval_crop_mode = CropMode::kTile;
  EXPECT_FALSE(is_refused(options));
  options.resize.reset();
  options.bands.emplace();
  EXPECT_TRUE(is_refused(options));
}

TEST(PackPlan, LabelTypeHoldsClassesAndIgnore) {
  EXPECT_EQ(Plan(MakeSet(2, 1, 256), PackOptions()).label_dtype, DType::kU8);
  EXPECT_EQ(Plan(MakeSet(2, 1, 257), PackOptions()).label_dtype, DType::kU16);
  InputSet set = MakeSet(2, 1, 3);
  set.labels.ignore = 256;
  EXPECT_EQ(Plan(set, PackOptions()).label_dtype, DType::kU16);
}

TEST(PackPlan, OneHotShapes) {
  PackOptions options;
  options.label_encoding = LabelEncoding::kOneHotBits;
  EXPECT_EQ(Plan(MakeSet(2, 1, 9), options).schema.fields[1].shape,
            (std::vector<int64_t>{10, 10, 2}));
  options.label_encoding = LabelEncoding::kOneHotBytes;
  EXPECT_EQ(Plan(MakeSet(2, 1, 9), options).schema.fields[1].shape,
            (std::vector<int64_t>{10, 10, 9}));
}

TEST(PackPlan, SplitWithoutSamplesIsAnError) {
  InputSet set = MakeSet(2, 0, 3);
  set.splits[1].problems.push_back({"val/a.png", "no label"});
  Status status = MakePlan(set, PackOptions(), {{10, 10}, {}}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("val/a.png: no label"), std::string::npos);
}

}  // namespace
}  // namespace shardmill
