#include "tools/pack/labels/value_map.h"

#include <gtest/gtest.h>

#include "tests/tools/pack/image_files.h"

namespace shardmill {
namespace {

const std::vector<ClassInfo> kClasses = {{0, "sky", {}}, {1, "side walk", {}}, {2, "7", {}}};

std::string Formatted(const std::string& text) {
  Result<ValueMap> map = ParseValueMap(text, kClasses);
  return map.ok() ? FormatValueMap(*map) : map.status().message();
}

TEST(ValueMap, FormsOfRules) {
  EXPECT_EQ(Formatted("96 1\r\n128\t2\r\n"), "96 1; 128 2");
  EXPECT_EQ(Formatted("96->1\n97 -> 2\n98,ignore # far away\n# nothing\n"), "96-97 1-2; 98 ignore");
  EXPECT_EQ(Formatted("0 ignore\n1-150 0-149\n"), "0 ignore; 1-150 0-149");
  EXPECT_EQ(Formatted("0-6 ignore\n7-9 1\n* 0\n"), "0-6 ignore; 7-9 1; * 0");
  EXPECT_EQ(Formatted("#FF8000 sky\n#ff8001 side walk\n#000000 Ignore"),
            "#000000 ignore; #ff8000 0; #ff8001 1");
  EXPECT_EQ(Formatted("5 7\n"), "5 2") << "a class name wins over a number";
}

TEST(ValueMap, MistakesNameTheLine) {
  EXPECT_EQ(Formatted("1 0\n1 1\n"), "line 2: the value stands in another line already");
  EXPECT_EQ(Formatted("\n5\n"), "line 2: expected a value and what it becomes");
  EXPECT_EQ(Formatted("1-3 0-1\n"), "line 1: the ranges 1-3 and 0-1 differ in length");
  EXPECT_EQ(Formatted("70000 0\n").substr(0, 17), "line 1: '70000' i");
  EXPECT_EQ(Formatted("3-1 0\n").substr(0, 15), "line 1: '3-1' i");
  EXPECT_EQ(Formatted("1 tree\n").substr(0, 16), "line 1: 'tree' i");
  EXPECT_EQ(Formatted("# only this\n"), "the value map has no rule");
}

TEST(ValueMap, NameThatIsTheIdOfAnotherClassIsRefused) {
  const std::vector<ClassInfo> classes = {{0, "1", {}}, {1, "0", {}}, {2, "2", {}}};
  EXPECT_EQ(ParseValueMap("9 1\n", classes).status().message(),
            "line 1: '1' may be an id, or the name of class 0");
  EXPECT_EQ(FormatValueMap(*ParseValueMap("9 2\n", classes)), "9 2");
}

TEST(ValueMap, FormattedTextIsAMapAgain) {
  for (const std::string& name : ValueMapNames()) {
    const ValueMap map = NamedValueMap(name);
    std::string text = FormatValueMap(map);
    for (char& c : text) c = c == ';' ? '\n' : c;
    EXPECT_EQ(ParseValueMap(text, {})->ids, map.ids) << name;
  }
}

TEST(ValueMap, CityscapesKeepsNineteenClasses) {
  const ValueMap map = NamedValueMap("cityscapes");
  std::map<uint32_t, int> uses;
  for (const auto& [value, id] : map.ids) ++uses[id];
  for (uint32_t id = 0; id < 19; ++id) EXPECT_EQ(uses[id], 1) << id;
  EXPECT_EQ(uses.size(), 20u);
  EXPECT_EQ(map.ids.at(7), 0u);    // road
  EXPECT_EQ(map.ids.at(11), 2u);   // building
  EXPECT_EQ(map.ids.at(17), 5u);   // pole
  EXPECT_EQ(map.ids.at(26), 13u);  // car
  EXPECT_EQ(map.ids.at(33), 18u);  // bicycle
  EXPECT_EQ(map.ids.at(0), ValueMap::kToIgnore);
  EXPECT_EQ(map.ids.count(34), 0u);
}

TEST(ValueMap, IdsBeyondTheClassesAreRefused) {
  EXPECT_TRUE(CheckValueMap(NamedValueMap("cityscapes"), std::vector<ClassInfo>(19)).ok());
  const Status status = CheckValueMap(NamedValueMap("cityscapes"), std::vector<ClassInfo>(18));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("gives class id 18, but there are 18 classes"),
            std::string::npos);
}

TEST(ValueMap, OthersAreForNumbersAlone) {
  const Status status = ParseValueMap("#000000 0\n#ff0000 1\n* ignore\n", kClasses).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("* stands for the other numbers"), std::string::npos);
  EXPECT_TRUE(ParseValueMap("#ff0000 1\n0 0\n* ignore\n", kClasses).ok());
}

TEST(ValueMap, FileOrProfile) {
  TestFolder folder("value_maps");
  folder.Write("map.txt", "4 1\n");
  EXPECT_EQ(ReadValueMap(folder.At("map.txt"), kClasses)->ids.at(4), 1u);
  EXPECT_EQ(ReadValueMap("binary", kClasses)->ids.at(255), 1u);
  folder.Write("bad.txt", "4\n");
  EXPECT_EQ(ReadValueMap(folder.At("bad.txt"), kClasses)
                .status()
                .message()
                .find(folder.At("bad.txt") + ": line 1"),
            0u);
  const Status missing = ReadValueMap("citiscapes", kClasses).status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_NE(missing.message().find("cityscapes"), std::string::npos);
}

}  // namespace
}  // namespace shardmill
