#include "reader/console/text_table.h"

#include <gtest/gtest.h>

namespace shardmill {
namespace {

TEST(DisplayWidth, CountsWhatATerminalShows) {
  EXPECT_EQ(DisplayWidth(""), 0u);
  EXPECT_EQ(DisplayWidth("road"), 4u);
  EXPECT_EQ(DisplayWidth("352 × 480"), 9u);
  EXPECT_EQ(DisplayWidth("道路"), 4u);
  EXPECT_EQ(DisplayWidth("e\xcc\x81"), 1u);  // e and a combining accent
  EXPECT_EQ(DisplayWidth("\x1b[48;2;1;2;3m  \x1b[0m"), 2u);
}

TEST(DisplayWidth, BytesThatAreNoUtf8CountOneEach) {
  EXPECT_EQ(DisplayWidth("\xff\xfe"), 2u);
  EXPECT_EQ(DisplayWidth("a\xe3\x81"), 3u);
}

TEST(TextTable, AlignsColumnsAndLeavesNoBlanksAtLineEnds) {
  TextTable table({{"class", TextTable::Align::kLeft},
                   {"share", TextTable::Align::kRight},
                   {"", TextTable::Align::kLeft}});
  table.AddRow({"道路", "9.5 %", ""});
  table.AddRow({"building", "12.0 %", "x"});
  EXPECT_EQ(table.ToString(2, false),
            "  class      share\n"
            "  道路       9.5 %\n"
            "  building  12.0 %  x\n");
}

TEST(TextTable, ColoredTitlesAreUnderlined) {
  TextTable table({{"a", TextTable::Align::kLeft}});
  table.AddRow({"b"});
  EXPECT_EQ(table.ToString(0, true), "\x1b[4ma\x1b[0m\nb\n");
}

}  // namespace
}  // namespace shardmill
