#include "tools/pack/labels/unknown_report.h"

#include <gtest/gtest.h>

namespace shardmill {
namespace {

UnknownValues Values(const std::vector<std::pair<uint32_t, uint64_t>>& counts) {
  UnknownValues values;
  for (const auto& [value, count] : counts) values.Add(value, count);
  return values;
}

LabelRules Rules(bool colors_in_files) {
  LabelRules rules;
  rules.colors_in_files = colors_in_files;
  return rules;
}

constexpr uint32_t kFlag = UnknownValues::kColorFlag;

TEST(UnknownReport, WorstValuesComeFirstWithFiles) {
  UnknownReport report;
  report.Add("a.png", Values({{kFlag | 0x102030, 5}, {kFlag | 0xFFFFFF, 1000}}));
  report.Add("b.png", Values({{kFlag | 0x102030, 6}}));
  std::string text = report.Describe(3, Rules(true));
  EXPECT_EQ(text.find("2 label files hold 1,011 pixels whose values are none of the 3 classes"), 0u)
      << text;
  size_t white = text.find("colour 255,255,255 (#ffffff): 1,000 pixels in 1 file: a.png");
  size_t other = text.find("colour 16,32,48 (#102030): 11 pixels in 2 files: a.png, b.png");
  EXPECT_NE(white, std::string::npos) << text;
  EXPECT_NE(other, std::string::npos) << text;
  EXPECT_LT(white, other);
}

TEST(UnknownReport, IdsSavedAsColorsAreRecognised) {
  UnknownReport report;
  report.Add("a.png", Values({{kFlag | 0x000000, 5}, {kFlag | 0x020202, 7}}));
  EXPECT_NE(report.Describe(3, Rules(true)).find("class ids saved as RGB"), std::string::npos);
}

TEST(UnknownReport, ColorsOfPalettesNameTheIndex) {
  UnknownReport report;
  report.Add("a.png", Values({{kFlag | 0x000000, 5}, {kFlag | 0x020202, 7}}), true);
  const std::string text = report.Describe(3, Rules(true));
  EXPECT_NE(text.find("--palette index"), std::string::npos) << text;
  EXPECT_EQ(text.find("saved as RGB"), std::string::npos) << text;
}

TEST(UnknownReport, OneValueMayBeIgnore) {
  UnknownReport report;
  report.Add("a.png", Values({{255, 5}}));
  EXPECT_NE(report.Describe(3, Rules(false)).find("--ignore 255"), std::string::npos);
}

TEST(UnknownReport, WhiteBesideTwoClassesMayBeTheSecondOfThem) {
  UnknownReport report;
  report.Add("a.png", Values({{255, 5}}));
  const std::string text = report.Describe(2, Rules(false));
  EXPECT_NE(text.find("--ignore 255"), std::string::npos) << text;
  EXPECT_NE(text.find("--map binary"), std::string::npos) << text;
  EXPECT_EQ(report.Describe(3, Rules(false)).find("binary"), std::string::npos);
}

TEST(UnknownReport, RawIdsOfCityscapesAreRecognised) {
  UnknownReport report;
  report.Add("a.png", Values({{33, 5}, {26, 7}}));
  EXPECT_NE(report.Describe(19, Rules(false)).find("--map cityscapes"), std::string::npos);
  EXPECT_EQ(report.Describe(20, Rules(false)).find("cityscapes"), std::string::npos);
}

TEST(UnknownReport, LabelsThatWereShiftedAlreadyAreRecognised) {
  UnknownReport report;
  report.Add("a.png", Values({{255, 5}}));
  LabelRules rules;
  rules.map.emplace();
  rules.map->ids = {{0, ValueMap::kToIgnore}, {1, 0}};
  EXPECT_NE(report.Describe(1, rules).find("--map none --ignore 255"), std::string::npos);
}

TEST(UnknownReport, SeveralNumbersMayBeMapped) {
  UnknownReport report;
  report.Add("a.png", Values({{96, 5}, {128, 7}}));
  EXPECT_NE(report.Describe(3, Rules(false)).find("--map FILE"), std::string::npos);
}

TEST(UnknownReport, ManyValuesPointToInterpolation) {
  UnknownReport report;
  UnknownValues values;
  for (uint32_t i = 0; i < 1000; ++i) values.Add(kFlag | (i * 7919), 1);
  report.Add("a.png", values);
  std::string text = report.Describe(3, Rules(true));
  EXPECT_NE(text.find("smoothing or lossy compression"), std::string::npos);
  EXPECT_NE(text.find("1,000 values in all"), std::string::npos);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 20);
}

}  // namespace
}  // namespace shardmill
