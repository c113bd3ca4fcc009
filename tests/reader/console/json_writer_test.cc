#include "reader/console/json_writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace shardmill {
namespace {

TEST(JsonWriter, NestedDocumentIsIndentedAndKeepsItsOrder) {
  JsonWriter json;
  json.BeginObject();
  json.Key("z").Number(1);
  json.Key("list").BeginArray();
  json.String("a").Bool(true).Null();
  json.EndArray();
  json.Key("empty").BeginObject().EndObject();
  json.EndObject();
  EXPECT_EQ(json.Take(),
            "{\n"
            "  \"z\": 1,\n"
            "  \"list\": [\n"
            "    \"a\",\n"
            "    true,\n"
            "    null\n"
            "  ],\n"
            "  \"empty\": {}\n"
            "}\n");
}

TEST(JsonWriter, NumbersAreExact) {
  JsonWriter json;
  json.BeginArray();
  json.Number(std::numeric_limits<uint64_t>::max());
  json.Number(std::numeric_limits<int64_t>::min());
  json.Number(0.1);
  json.Number(std::numeric_limits<double>::infinity());
  json.EndArray();
  EXPECT_EQ(json.Take(),
            "[\n  18446744073709551615,\n  -9223372036854775808,\n  0.1,\n  null\n]\n");
}

TEST(JsonQuote, EscapesControlCharactersAndQuotes) {
  EXPECT_EQ(JsonQuote("a\"b\\c\n\t\r\x01\x7f"), R"("a\"b\\c\n\t\r\u0001\u007f")");
  EXPECT_EQ(JsonQuote("Straße 道"), "\"Straße 道\"");
}

TEST(JsonQuote, BytesThatAreNoUtf8BecomeReplacementCharacters) {
  const std::string replacement = "\xef\xbf\xbd";
  EXPECT_EQ(JsonQuote("a\xff"), "\"a" + replacement + "\"");
  EXPECT_EQ(JsonQuote("\xc0\x80"), "\"" + replacement + replacement + "\"");
  EXPECT_EQ(JsonQuote("\xed\xa0\x80"), "\"" + replacement + replacement + replacement + "\"");
}

TEST(JsonWriter, OneLineStyleHasNoLineEndsInside) {
  JsonWriter json(JsonStyle::kOneLine);
  json.BeginObject();
  json.Key("a").Number(1);
  json.Key("b").BeginArray();
  json.String("x\ny").Null();
  json.EndArray();
  json.EndObject();
  EXPECT_EQ(json.Take(), "{\"a\": 1, \"b\": [\"x\\ny\", null]}\n");
}

}  // namespace
}  // namespace shardmill
