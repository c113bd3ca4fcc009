#include "tools/pack/output/pack_state.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace shardmill {
namespace {

std::string EmptyFolder(const std::string& name) {
  const std::string path = testing::TempDir() + "/pack_state_" + name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

PackState Example() {
  PackState state;
  state.dataset_id = Digest128("a set");
  state.settings = {{"crop", "none"}, {"order", "train shuffled, others sorted"}};
  state.splits = {{"train", 1, {{"train/b 1.png", 10, 3, {5, -7}}, {"train/a.png", 11, 4, {1, 2}}}},
                  {"val", 0, {{"val/ü.png", 0, 0, {0, 0}}}}};
  return state;
}

std::string StateFile(const std::string& folder) { return folder + "/" + kPackStateName; }

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(PackState, ComesBackAsItWasWritten) {
  const std::string folder = EmptyFolder("round_trip");
  ASSERT_TRUE(WritePackState(folder, Example()).ok());
  const auto read = ReadPackState(folder);
  ASSERT_TRUE(read.ok() && read->state.has_value());
  const PackState& state = *read->state;
  EXPECT_TRUE(SameSet(state, Example()));
  ASSERT_EQ(state.splits.size(), 2u);
  EXPECT_EQ(state.splits[0].name, "train");
  EXPECT_EQ(state.splits[0].problems, 1u);
  ASSERT_EQ(state.splits[0].inputs.size(), 2u);
  const InputState& input = state.splits[0].inputs[0];
  EXPECT_EQ(input.key, "train/b 1.png");
  EXPECT_EQ(input.image_bytes, 10u);
  EXPECT_EQ(input.label_bytes, 3u);
  EXPECT_TRUE(input.times == (InputTimes{5, -7}));
  EXPECT_EQ(state.splits[1].inputs[0].key, "val/ü.png");
}

// A picture of segments, and the list beside it that says what they are.
TEST(PackState, LabelChangesWithTheFileThatItsPartsLieIn) {
  PackPlan plan;
  SplitPlan& split = plan.splits.emplace_back();
  split.name = "train";
  Sample sample;
  sample.key = "a.jpg";
  sample.image = {"a.jpg", 10, 1};
  sample.label = {"a.png", 10, 2};
  split.samples = {sample};
  plan.labels.parts_files = {{"list.json", 10, 2}};
  const PackState then = MakePackState(plan, PackOptions());
  EXPECT_EQ(FindChanges(plan, then, MakePackState(plan, PackOptions())).inputs, 0u);
  plan.labels.parts_files[0].changed_ns = 3;
  EXPECT_EQ(FindChanges(plan, then, MakePackState(plan, PackOptions())).inputs, 1u);
  plan.splits[0].samples[0].label.changed_ns = 3;
  EXPECT_EQ(FindChanges(plan, then, MakePackState(plan, PackOptions())).inputs, 1u);
}

TEST(PackState, ValueOfSeveralLinesComesBack) {
  const std::string folder = EmptyFolder("lines");
  PackState state = Example();
  for (const std::string value : {"a\nb", "\\n", "\\", "split\ttrain\n\\\n", "\n"}) {
    state.settings[0].second = value;
    ASSERT_TRUE(WritePackState(folder, state).ok());
    const auto read = ReadPackState(folder);
    ASSERT_TRUE(read.ok() && read->state.has_value()) << value;
    EXPECT_TRUE(SameSet(*read->state, state)) << value;
  }
}

TEST(PackState, ShardsAreRememberedAndSayWhetherTheyWereKept) {
  const std::string folder = EmptyFolder("shards");
  PackState state = Example();
  state.shards["train-00000-of-00003.shard"] = {Digest128("kept"), true};
  ASSERT_TRUE(WritePackState(folder, state).ok());
  ASSERT_TRUE(AddToPackState(folder, "train-00001-of-00003.shard", Digest128("made")).ok());
  ASSERT_TRUE(AddToPackState(folder, "train-00002-of-00003.shard", Digest128("first")).ok());
  ASSERT_TRUE(AddToPackState(folder, "train-00002-of-00003.shard", Digest128("again")).ok());
  const auto read = ReadPackState(folder);
  ASSERT_TRUE(read.ok() && read->state.has_value());
  const std::map<std::string, StateShard>& shards = read->state->shards;
  ASSERT_EQ(shards.size(), 3u);
  EXPECT_EQ(shards.at("train-00000-of-00003.shard").digest, Digest128("kept"));
  EXPECT_TRUE(shards.at("train-00000-of-00003.shard").kept);
  EXPECT_EQ(shards.at("train-00001-of-00003.shard").digest, Digest128("made"));
  EXPECT_FALSE(shards.at("train-00001-of-00003.shard").kept);
  EXPECT_EQ(shards.at("train-00002-of-00003.shard").digest, Digest128("again"));
}

// A line that was cut off or changed must not vouch for a shard, nor spoil the rest.
TEST(PackState, DamagedShardLineSaysNothing) {
  const std::string folder = EmptyFolder("shard_line");
  ASSERT_TRUE(WritePackState(folder, Example()).ok());
  const size_t begin = ReadText(StateFile(folder)).size();
  ASSERT_TRUE(AddToPackState(folder, "a.shard", Digest128("a")).ok());
  const std::string text = ReadText(StateFile(folder));
  for (size_t i = begin; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    for (const std::string& content : {damaged, text.substr(0, i)}) {
      std::ofstream(StateFile(folder)) << content;
      const auto read = ReadPackState(folder);
      ASSERT_TRUE(read->state.has_value()) << i;
      const bool only_end = i + 1 == text.size();  // the line is whole, its end is not
      EXPECT_EQ(read->state->shards.size(), only_end && content.size() == i ? 1u : 0u) << i;
    }
  }
}

TEST(PackState, WithoutStateNothingIsAdded) {
  const std::string folder = EmptyFolder("none");
  EXPECT_TRUE(AddToPackState(folder, "a.shard", Digest128("a")).ok());
  EXPECT_FALSE(ReadPackState(folder)->exists);
}

TEST(PackState, MissingOneIsNothing) {
  const auto read = ReadPackState(EmptyFolder("missing"));
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->exists);
  EXPECT_FALSE(read->damaged());
}

// Whatever is damaged, no shard may be kept because of it.
TEST(PackState, EveryChangedByteAndEveryCutMakesItWorthless) {
  const std::string folder = EmptyFolder("damage");
  ASSERT_TRUE(WritePackState(folder, Example()).ok());
  const std::string text = ReadText(StateFile(folder));
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    std::ofstream(StateFile(folder)) << damaged;
    ASSERT_TRUE(ReadPackState(folder)->damaged()) << "byte " << i;
    std::ofstream(StateFile(folder)) << text.substr(0, i);
    ASSERT_TRUE(ReadPackState(folder)->damaged()) << "cut at " << i;
  }
}

TEST(PackState, DifferencesAreNamed) {
  PackState now = Example();
  now.dataset_id = Digest128("another set");
  now.settings[0].second = "8x8";
  now.settings.push_back({"variants", "2"});
  now.splits[0].inputs[0].image_bytes = 12;
  now.splits[0].inputs[1].key = "train/c.png";
  now.splits.pop_back();
  EXPECT_FALSE(SameSet(Example(), now));
  const std::string text = DescribeDifference(Example(), now);
  EXPECT_EQ(text,
            "\n  crop was none, now it is 8x8"
            "\n  variants was absent, now it is 2"
            "\n  train/b 1.png had 10 bytes, now it has 12"
            "\n  train/c.png is new"
            "\n  train/a.png is gone"
            "\n  … and 1 more");
}

TEST(PackState, TimesAloneAreNoOtherSet) {
  PackState now = Example();
  now.splits[0].inputs[0].times.image_ns = 99;
  EXPECT_TRUE(SameSet(Example(), now));
}

}  // namespace
}  // namespace shardmill
