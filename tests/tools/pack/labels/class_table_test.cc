#include "tools/pack/labels/class_table.h"

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

void ExpectError(std::string_view text, const std::string& message) {
  Status status = ParseClassTable(text).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
  EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
}

TEST(ClassTable, FormsThatOccur) {
  ExpectTwoClasses("name,r,g,b\nsky,128,128,255\nroad way,0,219,0\n");
  ExpectTwoClasses(
      "name, r, g, b\nsky, 128, 128, 255\nroad way, 0, 219, 0");  // blanks, no last end
  ExpectTwoClasses("\xEF\xBB\xBFName,R,G,B\r\nsky,128,128,255\r\nroad way,0,219,0\r\n\r\n");
  ExpectTwoClasses("name,r,g,b\nsky,128.0,128.0,255.0\nroad way,0.0,219.0,0.00\n");
  ExpectTwoClasses("sky,128,128,255\nroad way,0,219,0\n");  // without header
  ExpectTwoClasses("name,r,g,b,class_11\nsky,128,128,255,1\nroad way,0,219,0,0\n");  // fifth column
  ExpectTwoClasses("id,b,g,r,name\n1,0,219,0,road way\n0,255,128,128,sky\n");
  ExpectTwoClasses("1,road way,0,219,0\n0,sky,128,128,255\n");  // likewise
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

TEST(ClassTable, LinesThatBeginWithAHashAreComments) {
  ExpectTwoClasses("# my classes\nname,r,g,b\nsky,128,128,255\n# streets\nroad way,0,219,0\n");
  const auto classes = ParseClassTable("# my classes\nsky\nroad\n");
  ASSERT_TRUE(classes.ok()) << classes.status().ToString();
  ASSERT_EQ(classes->size(), 2u);
  EXPECT_EQ((*classes)[0].name, "sky");
  ExpectError("# nothing\n", "the class table is empty");
}

// Each of them would be one class more, and the names of the others shifted by one.
TEST(ClassTable, NamesThatLookLikeAnotherFormAreRefused) {
  ExpectError("name r g b\nroad 0 0 0\nsky 1 2 3\n", "line 1: the lines below end in three");
  ExpectError("names:\n  0: road\n  1: sky\n", "line 1: it ends in a colon");
  ExpectError("id name\n0 road\n1 sky\n", "line 1: all other lines begin with numbers");
  ExpectError("road 2\nsky 0\ncar 1\n", "line 1: the lines below end in numbers");
  ExpectError("nc: 3\nnames:\n- road\n- sky\n", "line 1: it gives a number of classes");
  ExpectError("road\n- sky\n", "line 2: it begins with a dash");
  ExpectError("// my classes\nroad\nsky\n", "line 1: it looks like a comment");
  ExpectError("road\n% sky\n", "line 2: it looks like a comment");
  ExpectError("road=2\nsky=0\n", "line 1: all lines end in = and a number");
  ExpectError("0. road\n1. sky\n", "line 1: all lines begin with numbers");
  ExpectError("0) road\n1) sky\n", "line 1: all lines begin with numbers");
  ExpectError("'road'\n'sky'\n", "line 1: it stands in single quotes");
  ExpectError("a\nwall, brick\nc\n", "line 2: 2 columns, and the first row has 1");
  for (const char* text :
       {"background\nclass 1\nclass 2\n", "name\nBoeing 747\nAirbus 320\n",
        "a\n\"wall, brick\"\nc 2\n", "one\n", "a=1\nb\n", "1st floor\n2nd floor\n", "nc\nnd\n"}) {
    EXPECT_TRUE(ParseClassTable(text).ok()) << text << ParseClassTable(text).status().ToString();
  }
}

TEST(ClassTable, PixelValuesAreIds) {
  const auto classes = ParseClassTable("Pixel Value, Class\n 1, cat\n 0, background\n");
  ASSERT_TRUE(classes.ok()) << classes.status().ToString();
  ASSERT_EQ(classes->size(), 2u);
  EXPECT_EQ((*classes)[0].name, "background");
  EXPECT_EQ((*classes)[1].name, "cat");
}

TEST(ClassTable, IdsArePlacesAndMayHaveGaps) {
  for (const char* text :
       {"id,name\n5,road way\n0,sky\n2,tree\n", "name;class_id\nsky;0\ntree;2\nroad way;5\n",
        "label,index\nroad way,5\nsky,0\ntree,2\n", "0: sky\n2: tree\n5: road way\n",
        "2 tree\n5 road way\n0 sky\n", "0\tsky\n5\troad way\n2\ttree\n",
        "[{\"id\":5,\"name\":\"road way\"},{\"id\":0,\"name\":\"sky\"},"
        "{\"id\":2,\"name\":\"tree\"}]"}) {
    Result<std::vector<ClassInfo>> classes = ParseClassTable(text);
    ASSERT_TRUE(classes.ok()) << classes.status().ToString() << "\n" << text;
    std::vector<std::string> names;
    for (const ClassInfo& info : *classes) {
      EXPECT_EQ(info.id, names.size());
      names.push_back(info.name);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"sky", "unused 1", "tree", "unused 3", "unused 4",
                                               "road way"}))
        << text;
  }
  // Ids that no class has need no colour.
  EXPECT_TRUE(AllHaveColors(*ParseClassTable("id,name,r,g,b\n1,a,1,2,3\n3,b,4,5,6\n")));
}

TEST(ClassTable, MistakesInIdsNameTheLine) {
  ExpectError("id,name\n1,a\n1,b\n", "line 3: class 'b' has the id 1 of class 'a'");
  ExpectError("id,name\n-1,a\n", "line 2: the id '-1' of class 'a' is no whole number");
  ExpectError("id,name\n,a\n", "line 2: the id '' of class 'a'");
  ExpectError("name,id\na\n", "line 2: the id '' of class 'a'");
  ExpectError("id,name\n65535,a\n", "line 2: class 'a' has the id 65535; ids go from 0 to 65534");
  ExpectError("0: a\n0: b\n", "line 2: class 'b' has the id 0 of class 'a'");
  ExpectError("[{\"name\":\"a\"},{\"id\":7,\"name\":\"b\"}]", "has the id 7, and other classes");
  ExpectError("[{\"name\":\"a\",\"id\":\"0\"}]", "has an id that is no whole number");
  ExpectError("id,name,r,g\n0,a,1,2\n", "line 1: neither a header");
}

TEST(ClassTable, NamesAloneHaveNoColors) {
  for (const char* text :
       {"sky\nroad\n", "name\nsky\nroad\n", "Class Name\nsky\nroad\n", "classes\nsky\nroad\n"}) {
    Result<std::vector<ClassInfo>> classes = ParseClassTable(text);
    ASSERT_TRUE(classes.ok()) << classes.status().ToString();
    EXPECT_EQ(classes->size(), 2u);
    EXPECT_FALSE(AllHaveColors(*classes));
  }
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
