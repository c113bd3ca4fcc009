#include "tools/pack/inputs/text_lines.h"

#include <gtest/gtest.h>

namespace shardmill {
namespace {

std::vector<std::string> Texts(std::string_view text) {
  std::vector<std::string> texts;
  Result<std::vector<TextLine>> lines = SplitLines(text);
  EXPECT_TRUE(lines.ok());
  for (const TextLine& line : *lines) texts.push_back(line.text);
  return texts;
}

TEST(TextLines, AllLineEndsAndAByteOrderMark) {
  const std::vector<std::string> expected = {"a b", "c"};
  EXPECT_EQ(Texts("a b\nc\n"), expected);
  EXPECT_EQ(Texts("a b\r\nc\r\n"), expected);
  EXPECT_EQ(Texts("a b\rc\r"), expected);
  EXPECT_EQ(Texts("a b\nc"), expected);
  EXPECT_EQ(Texts("\xEF\xBB\xBF  a b\t\n\n   \nc"), expected);
  EXPECT_TRUE(Texts("").empty());
  EXPECT_TRUE(Texts("\r\n\r\n").empty());
}

TEST(TextLines, NumbersCountEmptyLines) {
  Result<std::vector<TextLine>> lines = SplitLines("a\r\n\r\nb\n");
  ASSERT_TRUE(lines.ok());
  EXPECT_EQ((*lines)[1].number, 3u);
}

TEST(TextLines, ZeroBytesAreNoText) {
  EXPECT_EQ(SplitLines(std::string_view("a\0b", 3)).status().code(), StatusCode::kInvalidArgument);
}

TEST(TextLines, FieldsMayBeQuoted) {
  EXPECT_EQ(*SplitFields("a, b ,c", ','), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(*SplitFields("\"a, b\",\"say \"\"c\"\"\"", ','),
            (std::vector<std::string>{"a, b", "say \"c\""}));
  EXPECT_EQ(*SplitFields("a,,", ','), (std::vector<std::string>{"a", "", ""}));
  EXPECT_FALSE(SplitFields("\"a", ',').ok());
  EXPECT_FALSE(SplitFields("\"a\" b,c", ',').ok());
}

TEST(TextLines, BlanksAndCase) {
  EXPECT_EQ(TrimBlanks(" \t a b \t"), "a b");
  EXPECT_EQ(TrimBlanks(" \t "), "");
  EXPECT_EQ(LowerCase("TrAin_Ü"), "train_Ü");
}

}  // namespace
}  // namespace shardmill
