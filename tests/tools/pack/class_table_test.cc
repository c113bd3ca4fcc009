#include "tools/pack/class_table.h"

#include <gtest/gtest.h>

namespace shardmill {
namespace {

void ExpectTwoClasses(std::string_view text) {
  Result<std::vector<ClassInfo>> classes = ParseClassTable(text);
  ASSERT_TRUE(classes.ok()) << classes.status().ToString() << "\n" << text;
  ASSERT_EQ(classes->size(), 2u) << text;
  EXPECT_EQ((*classes)[0].name, "sky");
  EXPECT_EQ((*classes)[0].color, 0x8080FFu);
  EXPECT_EQ((*classes)[1].id, 1u);
  EXPECT_EQ((*classes)[1].name, "road way");
  EXPECT_EQ((*classes)[1].color, 0x00DB00u);
}

TEST(ClassTable, FormsThatOccur) {
  ExpectTwoClasses("name,r,g,b\nsky,128,128,255\nroad way,0,219,0\n");
  ExpectTwoClasses(
      "name, r, g, b\nsky, 128, 128, 255\nroad way, 0, 219, 0");  // blanks, no last end
  ExpectTwoClasses("\xEF\xBB\xBFName,R,G,B\r\nsky,128,128,255\r\nroad way,0,219,0\r\n\r\n");
  ExpectTwoClasses("name,r,g,b\nsky,128.0,128.0,255.0\nroad way,0.0,219.0,0.00\n");
  ExpectTwoClasses("sky,128,128,255\nroad way,0,219,0\n");  // without header
  ExpectTwoClasses("name,r,g,b,class_11\nsky,128,128,255,1\nroad way,0,219,0,0\n");  // fifth column
  ExpectTwoClasses("id,b,g,r,name\n7,255,128,128,sky\n9,0,219,0,road way\n");
  ExpectTwoClasses("name;r;g;b\nsky;128;128;255\nroad way;0;219;0\n");
  ExpectTwoClasses("\"name\",\"r\",\"g\",\"b\"\n\"sky\",\"128\",\"128\",\"255\"\nroad way,0,219,0");
}

TEST(ClassTable, FormsOfOtherPrograms) {
  ExpectTwoClasses("# label:color_rgb:parts:actions\nsky:128,128,255::\nroad way:0,219,0::\n");
  ExpectTwoClasses("128 128 255\tsky\r\n0 219   0 road way");
  ExpectTwoClasses(
      "[{\"name\":\"sky\",\"color\":[128,128,255]},"
      "{\"id\":1,\"name\":\"road way\",\"color\":\"#00DB00\"}]");
  ExpectTwoClasses(
      "\n{\"x\":1,\"classes\":[{\"title\":\"sky\",\"color\":[128,128,255,255]},"
      "{\"label\":\"road way\",\"color\":[0,219,0]}]}");
}

TEST(ClassTable, NamesAloneHaveNoColors) {
  for (const char* text : {"sky\nroad\n", "name\nsky\nroad\n"}) {
    Result<std::vector<ClassInfo>> classes = ParseClassTable(text);
    ASSERT_TRUE(classes.ok()) << classes.status().ToString();
    EXPECT_EQ(classes->size(), 2u);
    EXPECT_FALSE(AllHaveColors(*classes));
  }
}

void ExpectError(std::string_view text, const std::string& message) {
  Status status = ParseClassTable(text).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
  EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
}

TEST(ClassTable, MistakesNameTheLine) {
  ExpectError("", "empty");
  ExpectError("name,r,g,b\n", "no class");
  ExpectError("name,r,g,b\nsky,1,2,3\nsky,4,5,6\n", "line 3: class 'sky' stands in line 2");
  ExpectError("name,r,g,b\nsky,1,2,3\nroad,1,2,3\n",
              "line 3: class 'road' has the colour of line 2");
  ExpectError("name,r,g,b\nsky,1,2,256\n", "line 2");
  ExpectError("name,r,g,b\nsky,1,2.5,3\n", "line 2");
  ExpectError("name,r,g,b\nsky,1,2\n", "line 2");
  ExpectError("name,r,g,b\nsky,-1,2,3\n", "line 2");
  ExpectError("name,r,g,b\n,1,2,3\n", "line 2: the class has no name");
  ExpectError("title,red\nsky,1\n", "line 1");
  ExpectError("name,r,g,b\nb\x01d,1,2,3\n", "line 2");
}

TEST(ClassTable, MistakesInOtherForms) {
  ExpectError("a:1,2,3::\nb:1,2,3::\n", "line 2: class 'b' has the colour of line 1");
  ExpectError("1 2 3 a\n4 5 6 a\n", "line 2: class 'a' stands in line 1");
  ExpectError("[\"a\", {\"color\": [1,2,3]}]", "class 1 has no name");
  ExpectError("[{\"id\":7,\"name\":\"a\"}]", "class 0, 'a', has another id");
  ExpectError("[{\"name\":\"a\",\"color\":[1,2,300]}]", "neither [r, g, b] nor");
  ExpectError("{\"names\": []}", "no list 'labels'");
  ExpectError("{\n\"labels\": [", "line 2: this is no JSON");
  ExpectError("[]", "empty");
  ExpectError(std::string(100000, '['), "this is no JSON");
}

TEST(ClassTable, MissingFileIsNamed) {
  Status status = ReadClassTable("/nonexistent/class_dict.csv").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("class_dict.csv"), std::string::npos);
}

}  // namespace
}  // namespace shardmill
