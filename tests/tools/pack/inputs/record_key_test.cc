#include "tools/pack/inputs/record_key.h"

#include <gtest/gtest.h>

#include "reader/names.h"

namespace shardmill {
namespace {

TEST(RecordKey, OrdinaryPathsAreUnchanged) {
  for (const char* path : {"train/a.png", "track 2.0 (clean).png", "图片/Ünï.png",
                           "U\u0308 decomposed.png", "v1.0/22.0/1.1.png"}) {
    EXPECT_EQ(*RecordKey(path), path);
  }
}

TEST(RecordKey, ControlAndInvalidBytesAreEscaped) {
  EXPECT_EQ(*RecordKey("a\nb.png"), "a%0Ab.png");
  EXPECT_EQ(*RecordKey("caf\xe9.png"), "caf%E9.png");
  EXPECT_EQ(*RecordKey("\xc0\xaf"), "%C0%AF");
  // A control character of two bytes, the end of a line, and what turns the direction of text.
  EXPECT_EQ(*RecordKey("a\u009b2Jb.png"), "a%C2%9B2Jb.png");
  EXPECT_EQ(*RecordKey("a\u2028b\u202e.png"), "a%E2%80%A8b%E2%80%AE.png");
  EXPECT_EQ(*RecordKey("\u2069\u2027"), "%E2%81%A9\u2027");
  EXPECT_TRUE(IsRecordKey(*RecordKey("\x01\x7f\xff\xfe")));
}

TEST(RecordKey, DifferentPathsHaveDifferentKeys) {
  EXPECT_EQ(*RecordKey("%41.png"), "%2541.png");
  EXPECT_EQ(*RecordKey("100%"), "100%25");
  EXPECT_NE(*RecordKey("a%0Ab.png"), *RecordKey("a\nb.png"));
  EXPECT_NE(*RecordKey("caf%E9"), *RecordKey("caf\xe9"));
  // The key of variant 2 of "a.png" is "a.png#v2".
  EXPECT_EQ(*RecordKey("a.png#v2"), "a.png%23v2");
  EXPECT_EQ(*RecordKey("#v10"), "%23v10");
  for (const char* path : {"a#v2.png", "a#1", "a#v", "v2", "#"}) EXPECT_EQ(*RecordKey(path), path);
}

TEST(RecordKey, TooLongIsAnError) {
  EXPECT_TRUE(RecordKey(std::string(4096, 'a')).ok());
  EXPECT_EQ(RecordKey(std::string(4097, 'a')).status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(RecordKey(std::string(2000, '\n')).ok());  // escaped it is 6,000 bytes
}

}  // namespace
}  // namespace shardmill
