#include "reader/console/terminal.h"

#include <gtest/gtest.h>

namespace shardmill {
namespace {

TEST(EscapeControl, OrdinaryTextIsUnchanged) {
  for (const char* text : {"", "a b.png", "图片/Ünï.png", "U\u0308 decomposed", "😀"}) {
    EXPECT_EQ(EscapeControl(text), text);
  }
}

TEST(EscapeControl, ControlCharactersBecomeVisible) {
  EXPECT_EQ(EscapeControl("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(EscapeControl("line\nforged\r"), "line\\x0aforged\\x0d");
  EXPECT_EQ(EscapeControl("\x7f"), "\\x7f");
  EXPECT_EQ(EscapeControl("\xc2\x9b"), "\\xc2\\x9b");  // the C1 form of "escape ["
  EXPECT_EQ(EscapeControl("a\u202eb\u2066"), "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6");
  EXPECT_EQ(EscapeControl("\u2027\u2028\u202f\u2065\u206a"),
            "\u2027\\xe2\\x80\\xa8\u202f\u2065\u206a");
}

TEST(EscapeControl, BytesThatAreNotUtf8BecomeVisible) {
  EXPECT_EQ(EscapeControl("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(EscapeControl("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(EscapeControl("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(EscapeControl("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(EscapeControl("\xe5\x9b"), "\\xe5\\x9b");  // cut
}

TEST(EscapeControl, LineEndsCanBeKept) {
  EXPECT_EQ(EscapeControl("a\nb\t", KeepLineEnds::kYes), "a\nb\\x09");
}

}  // namespace
}  // namespace shardmill
