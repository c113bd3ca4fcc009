#include "tools/pack/inputs/split_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace shardmill {
namespace {

// `drives` drives of `frames` frames each.
InputSet Drives(int drives, int frames) {
  InputSet set;
  set.layout = "pairs";
  set.task = Task::kClassification;
  InputSplit train;
  train.name = "train";
  for (int drive = 0; drive < drives; ++drive) {
    for (int frame = 0; frame < frames; ++frame) {
      const std::string key =
          "drive" + std::to_string(1000 + drive) + "_" + std::to_string(100 + frame) + ".png";
      train.samples.push_back({key, {key, 1}, {}, static_cast<uint32_t>(drive % 3)});
    }
  }
  set.splits.push_back(train);
  return set;
}

SplitRule Rule(SplitRule::By by, const std::string& shares) {
  SplitRule rule;
  rule.by = by;
  rule.shares = *ParseShares(shares);
  rule.group_pattern = "drive(\\d+)_";
  return rule;
}

std::map<std::string, std::string> SplitOfKeys(const InputSet& set) {
  std::map<std::string, std::string> splits;
  for (const InputSplit& split : set.splits) {
    for (const Sample& sample : split.samples) {
      EXPECT_TRUE(splits.emplace(sample.key, split.name).second) << sample.key;
    }
  }
  return splits;
}

InputSet Made(const SplitRule& rule, uint64_t seed, InputSet set) {
  const Status status = MakeSplits(rule, seed, &set);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return set;
}

TEST(SplitPlan, SharesAreMet) {
  const InputSet set =
      Made(Rule(SplitRule::By::kRatio, "train=0.7,val=0.2,test=0.1"), 1, Drives(100, 100));
  ASSERT_EQ(set.splits.size(), 3u);
  EXPECT_NEAR(static_cast<double>(set.splits[0].samples.size()), 7000, 230);  // five deviations
  EXPECT_NEAR(static_cast<double>(set.splits[1].samples.size()), 2000, 200);
  EXPECT_NEAR(static_cast<double>(set.splits[2].samples.size()), 1000, 150);
  EXPECT_EQ(SplitOfKeys(set).size(), 10000u);
  for (const InputSplit& split : set.splits) {
    EXPECT_TRUE(std::is_sorted(split.samples.begin(), split.samples.end(),
                               [](const Sample& a, const Sample& b) { return a.key < b.key; }));
  }
}

TEST(SplitPlan, NoGroupIsInTwoSplits) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const InputSet set =
        Made(Rule(SplitRule::By::kGroup, "train=0.5,val=0.3,test=0.2"), seed, Drives(60, 5));
    std::map<std::string, std::set<std::string>> splits_of_drive;
    for (const auto& [key, split] : SplitOfKeys(set)) {
      splits_of_drive[key.substr(0, 9)].insert(split);
    }
    EXPECT_EQ(splits_of_drive.size(), 60u);
    for (const auto& [drive, splits] : splits_of_drive) EXPECT_EQ(splits.size(), 1u) << drive;
  }
}

TEST(SplitPlan, NewAndRemovedFilesMoveNoOthers) {
  for (SplitRule::By by : {SplitRule::By::kRatio, SplitRule::By::kGroup}) {
    const SplitRule rule = Rule(by, "train=0.6,val=0.4");
    const auto before = SplitOfKeys(Made(rule, 7, Drives(50, 4)));
    InputSet more = Drives(90, 5);
    more.splits[0].samples.erase(more.splits[0].samples.begin() + 17);
    const auto after = SplitOfKeys(Made(rule, 7, more));
    int compared = 0;
    for (const auto& [key, split] : before) {
      if (after.count(key) == 0) continue;
      EXPECT_EQ(after.at(key), split) << key;
      ++compared;
    }
    EXPECT_GE(compared, 199);
  }
}

TEST(SplitPlan, SeedChangesTheSplits) {
  const SplitRule rule = Rule(SplitRule::By::kRatio, "train=0.5,val=0.5");
  const auto one = SplitOfKeys(Made(rule, 1, Drives(50, 4)));
  EXPECT_EQ(SplitOfKeys(Made(rule, 1, Drives(50, 4))), one);
  EXPECT_NE(SplitOfKeys(Made(rule, 2, Drives(50, 4))), one);
}

TEST(SplitPlan, BalancedSplitsHaveTheSharesOfEachClass) {
  SplitRule rule = Rule(SplitRule::By::kRatio, "train=0.8,val=0.2");
  rule.balanced = true;
  const InputSet set = Made(rule, 3, Drives(30, 10));  // 100 of each of three classes
  std::map<uint32_t, int> in_val;
  for (const Sample& sample : set.splits[1].samples) ++in_val[sample.class_id];
  EXPECT_EQ(in_val, (std::map<uint32_t, int>{{0, 20}, {1, 20}, {2, 20}}));
  InputSet maps = Drives(3, 3);
  maps.task = Task::kSegmentation;
  EXPECT_EQ(MakeSplits(rule, 3, &maps).code(), StatusCode::kInvalidArgument);
}

TEST(SplitPlan, ExistingSplitsAreDividedAnew) {
  InputSet set = Drives(20, 10);
  InputSplit val;
  val.name = "val";
  val.samples.assign(set.splits[0].samples.end() - 20, set.splits[0].samples.end());
  set.splits[0].samples.resize(180);
  val.problems.push_back({"lonely.png", "no label"});
  set.splits.push_back(val);
  set.notes = {"the folder has no splits: made train and val 90/10"};
  set = Made(Rule(SplitRule::By::kRatio, "a=0.5,b=0.5"), 1, set);
  EXPECT_EQ(SplitOfKeys(set).size(), 200u);
  EXPECT_EQ(set.splits[0].name, "a");
  EXPECT_EQ(set.splits[0].problems.size(), 1u);
  ASSERT_EQ(set.notes.size(), 1u);
  EXPECT_EQ(set.notes[0].rfind("splits made of 200 inputs: a ", 0), 0u) << set.notes[0];
}

TEST(SplitPlan, PatternsWithoutCapturesMatchAsAWhole) {
  SplitRule rule = Rule(SplitRule::By::kGroup, "train=0.5,val=0.5");
  rule.group_pattern = "^drive[0-9]+";
  const auto whole = SplitOfKeys(Made(rule, 1, Drives(40, 3)));
  std::map<std::string, std::set<std::string>> splits_of_drive;
  for (const auto& [key, split] : whole) splits_of_drive[key.substr(0, 9)].insert(split);
  for (const auto& [drive, splits] : splits_of_drive) EXPECT_EQ(splits.size(), 1u);
}

TEST(SplitPlan, PatternMistakesAreErrors) {
  SplitRule rule = Rule(SplitRule::By::kGroup, "train=0.5,val=0.5");
  InputSet set = Drives(3, 3);
  set.splits[0].samples.push_back({"odd.png", {"odd.png", 1}, {}, 0});
  Status status = MakeSplits(rule, 1, &set);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("not found in 1 of 10 keys:\n  odd.png"), std::string::npos)
      << status.message();
  rule.group_pattern = "drive(";
  set = Drives(3, 3);
  EXPECT_EQ(MakeSplits(rule, 1, &set).code(), StatusCode::kInvalidArgument);
}

// There are more ways to divide the letters than could ever be tried.
TEST(SplitPlan, PatternThatWouldTakeForEverIsAnError) {
  SplitRule rule = Rule(SplitRule::By::kGroup, "train=0.5,val=0.5");
  const std::string key = std::string(40, 'a') + ".png";
  InputSet set = Drives(3, 3);
  set.splits[0].samples.push_back({key, {key, 1}, {}, 0});
  // The second one looks at no character on most of its ways.
  for (const char* pattern : {"(a+)+!|drive(\\d+)", "(|){30}$!|drive(\\d+)"}) {
    rule.group_pattern = pattern;
    InputSet copy = set;
    const Status status = MakeSplits(rule, 1, &copy);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("too many steps with the key "), std::string::npos)
        << status.message();
  }
}

TEST(SplitPlan, SplitWithoutInputIsAnError) {
  InputSet set = Drives(1, 3);
  const Status status = MakeSplits(Rule(SplitRule::By::kGroup, "train=0.5,val=0.5"), 1, &set);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("gets no input"), std::string::npos) << status.message();
}

TEST(SplitPlan, SharesAreParsed) {
  for (const char* text : {"train=0.8,val=0.1,test=0.1", "a=1", "x=0.001,y=0.999"}) {
    auto shares = ParseShares(text);
    ASSERT_TRUE(shares.ok()) << text << shares.status().ToString();
    EXPECT_EQ(FormatShares(*shares), text);
  }
  EXPECT_EQ(FormatShares(*ParseShares("Train=0.5,validation=0.5")), "train=0.5,val=0.5");
  for (const char* text :
       {"train=0.5,Training=0.5", "", "train", "train=", "train=0.5", "train=0.5,val=0.6",
        "a=0.5,a=0.5", "=1", "../x=1", "a=1,", "a=0,b=1", "a=-1,b=2"}) {
    EXPECT_EQ(ParseShares(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace shardmill
