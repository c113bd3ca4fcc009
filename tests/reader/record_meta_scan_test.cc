#include "reader/record_meta_scan.h"

#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "proto/record_meta.pb.h"
#include "reader/names.h"

namespace shardmill {
namespace {

std::string Scan(const std::string& bytes) {
  std::string storage;
  return std::string(
      ScanRecordKey(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &storage));
}

// What protobuf makes of the same bytes.
std::string Parse(const std::string& bytes) {
  proto::RecordMeta meta;
  return meta.ParseFromString(bytes) && IsRecordKey(meta.key()) ? meta.key() : std::string();
}

proto::RecordMeta FullMeta() {
  proto::RecordMeta meta;
  meta.set_key(
      "seq/stra\xC3\x9F"
      "e 01.png#v3");
  meta.set_source_height(720);
  meta.set_source_width(960);
  meta.set_crop_y(-5);
  meta.set_crop_x(2147483647);
  meta.set_crop_height(352);
  meta.set_crop_width(480);
  meta.set_variant(3);
  meta.set_seed(0xFFFFFFFFFFFFFFFF);
  return meta;
}

TEST(RecordMetaScan, WhatTheWritersMakeHasItsKey) {
  proto::RecordMeta meta = FullMeta();
  EXPECT_EQ(Scan(meta.SerializeAsString()), meta.key());
  meta.Clear();
  for (const size_t length : {1, 7, 8, 9, 127, 128, 4096}) {
    meta.set_key(std::string(length, 'k'));
    EXPECT_EQ(Scan(meta.SerializeAsString()), meta.key()) << length;
  }
}

TEST(RecordMetaScan, WhatIsNoKeyOrNoMessageHasNone) {
  proto::RecordMeta meta;
  EXPECT_EQ(Scan(""), "");
  EXPECT_EQ(Scan(meta.SerializeAsString()), "");
  for (const std::string& key : {std::string(4097, 'k'), std::string("a\nb"), std::string("\x7F"),
                                 std::string("abcdefg\x1F"), std::string("\0", 1)}) {
    meta.set_key(key);
    EXPECT_EQ(Scan(meta.SerializeAsString()), "") << key;
  }
  EXPECT_EQ(Scan("\x0A\x05"
                 "abc"),
            "");                            // the key is cut
  EXPECT_EQ(Scan("\x0A\x02\xC3\x28"), "");  // it is not UTF-8
  EXPECT_EQ(Scan("\x0A\x01"
                 "a\x10"),
            "");  // a number is cut
  EXPECT_EQ(Scan(std::string("\x0A\x01"
                             "a\x10") +
                 std::string(11, '\x80')),
            "");
}

TEST(RecordMetaScan, OtherFormsOfTheSameMessageAreRead) {
  EXPECT_EQ(Scan("\x10\x07\x0A\x03"
                 "key"),
            "key");  // another order
  EXPECT_EQ(Scan("\x0A\x03"
                 "old\x0A\x03"
                 "new"),
            "new");  // the last one counts
  EXPECT_EQ(Scan(std::string("\x0A\x83\x80\x00key", 7)),
            "key");  // a length in three bytes
  EXPECT_EQ(Scan("\x0A\x03"
                 "key\x82\x01\x02xx"),
            "key");  // an unknown field
}

TEST(RecordMetaScan, AgreesWithProtobufOnDamagedMessages) {
  const google::protobuf::LogSilencer silencer;  // it speaks up at each text that is not UTF-8
  const std::string sound = FullMeta().SerializeAsString();
  std::mt19937_64 random(7);
  const auto expect_same = [](const std::string& bytes) {
    ASSERT_EQ(Scan(bytes), Parse(bytes)) << testing::PrintToString(bytes);
  };
  for (size_t i = 0; i < sound.size(); ++i) {
    expect_same(sound.substr(0, i));
    expect_same(sound.substr(i));
    for (int value = 0; value < 256; ++value) {
      std::string bytes = sound;
      bytes[i] = static_cast<char>(value);
      expect_same(bytes);
    }
  }
  for (int round = 0; round < 100000; ++round) {
    std::string bytes = sound;
    for (uint64_t change = random() % 4; change <= 4; ++change) {
      const size_t at = random() % bytes.size();
      // Small numbers make tags and lengths.
      const char value = static_cast<char>(random() % 2 == 0 ? random() % 100 : random() % 256);
      if (random() % 3 == 0) {
        bytes.insert(at, 1, value);
      } else {
        bytes[at] = value;
      }
    }
    expect_same(bytes);
  }
}

}  // namespace
}  // namespace shardmill
