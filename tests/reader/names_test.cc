#include "reader/names.h"

#include <gtest/gtest.h>

#include <string>

namespace shardmill {
namespace {

TEST(PlainName, LettersDigitsAndThreeSigns) {
  for (const char* name : {"a", "train", "0", "val_2.part-3", "A.b"}) {
    EXPECT_TRUE(IsPlainName(name)) << name;
  }
  for (const char* name : {"", ".", "..", ".a", "-a", "_a", "a/b", "a b", "a\n", "ä", "a\\b"}) {
    EXPECT_FALSE(IsPlainName(name)) << name;
  }
  EXPECT_TRUE(IsPlainName(std::string(64, 'a')));
  EXPECT_FALSE(IsPlainName(std::string(65, 'a')));
  EXPECT_FALSE(IsPlainName(std::string_view("a\0b", 3)));
}

TEST(Utf8, AcceptsEveryLengthAndRefusesMalformedOnes) {
  for (const char* text :
       {"", "abc", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsValidUtf8(text)) << text;
  }
  for (const char* text :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF", "\xED\xA0\x80",
        "\xE2\x82", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "a\xFE"}) {
    EXPECT_FALSE(IsValidUtf8(text)) << text;
  }
}

TEST(RecordKey, NoControlCharactersAndNotTooLong) {
  EXPECT_TRUE(IsRecordKey("seq/0001.png#v2"));
  EXPECT_TRUE(IsRecordKey("Straße.png"));
  EXPECT_TRUE(IsRecordKey(std::string(kMaxKeyBytes, 'k')));
  EXPECT_FALSE(IsRecordKey(std::string(kMaxKeyBytes + 1, 'k')));
  for (const char* key : {"", "a\tb", "a\x7F", "a\xFF", "\x1B[2J"}) {
    EXPECT_FALSE(IsRecordKey(key)) << key;
  }
}

// Eight bytes are looked at in one go: each place in keys of every length up to three times that.
TEST(RecordKey, ControlCharacterIsFoundAnywhere) {
  for (size_t length = 1; length <= 24; ++length) {
    for (const char fill : {' ', 'k', '~'}) {
      EXPECT_TRUE(IsRecordKey(std::string(length, fill))) << length << fill;
      for (size_t i = 0; i < length; ++i) {
        for (const char bad : {'\0', '\x1F', '\x7F', '\x80', '\xFF'}) {
          std::string key(length, fill);
          key[i] = bad;
          EXPECT_FALSE(IsRecordKey(key)) << length << fill << " at " << i;
        }
      }
    }
  }
}

TEST(ShardFileName, GoesBothWays) {
  EXPECT_EQ(ShardFileName("train", 2, 4), "train-00002-of-00004.shard");
  EXPECT_EQ(ShardFileName("a-00001-of-00002", 0, 10000), "a-00001-of-00002-00000-of-10000.shard");
  const auto name = ParseShardFileName("a-00001-of-00002-00009-of-10000.shard");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->split, "a-00001-of-00002");
  EXPECT_EQ(name->number, 9u);
  EXPECT_EQ(name->count, 10000u);
}

TEST(ShardFileName, EverythingElseIsNoShard) {
  for (const char* name :
       {"", ".shard", "train.shard", "train-00000-of-00000.shard", "train-00001-of-00001.shard",
        "train-0000-of-00001.shard", "train-000000-of-00001.shard", "-00000-of-00001.shard",
        "train-00000-of-00001.shard.tmp-7", "train-00000-of-00001", "train-00000-of-10001.shard",
        "tr/ain-00000-of-00001.shard", "train 00000-of-00001.shard",
        "train-+0000-of-00001.shard"}) {
    EXPECT_FALSE(ParseShardFileName(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace shardmill
