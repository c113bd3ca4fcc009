#include "tools/pack/unknown_report.h"

#include <gtest/gtest.h>

namespace shardmill {
namespace {

UnknownValues Values(const std::vector<std::pair<uint32_t, uint64_t>>& counts) {
  UnknownValues values;
  for (const auto& [value, count] : counts) values.Add(value, count);
  return values;
}

constexpr uint32_t kFlag = UnknownValues::kColorFlag;

TEST(UnknownReport, WorstValuesComeFirstWithFiles) {
  UnknownReport report;
  report.Add("a.png", Values({{kFlag | 0x102030, 5}, {kFlag | 0xFFFFFF, 1000}}));
  report.Add("b.png", Values({{kFlag | 0x102030, 6}}));
  std::string text = report.Describe(3, true);
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
  EXPECT_NE(report.Describe(3, true).find("class ids saved as RGB"), std::string::npos);
}

TEST(UnknownReport, OneValueMayBeIgnore) {
  UnknownReport report;
  report.Add("a.png", Values({{255, 5}}));
  EXPECT_NE(report.Describe(3, false).find("--ignore 255"), std::string::npos);
}

TEST(UnknownReport, WhiteBesideTwoClassesMayBeTheSecondOfThem) {
  UnknownReport report;
  report.Add("a.png", Values({{255, 5}}));
  const std::string text = report.Describe(2, false);
  EXPECT_NE(text.find("--ignore 255"), std::string::npos) << text;
  EXPECT_NE(text.find("0,0,0 and 255,255,255"), std::string::npos) << text;
  EXPECT_EQ(report.Describe(3, false).find("255,255,255"), std::string::npos);
}

TEST(UnknownReport, ManyValuesPointToInterpolation) {
  UnknownReport report;
  UnknownValues values;
  for (uint32_t i = 0; i < 1000; ++i) values.Add(kFlag | (i * 7919), 1);
  report.Add("a.png", values);
  std::string text = report.Describe(3, true);
  EXPECT_NE(text.find("smoothing or lossy compression"), std::string::npos);
  EXPECT_NE(text.find("1,000 values in all"), std::string::npos);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 20);
}

}  // namespace
}  // namespace shardmill
