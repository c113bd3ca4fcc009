#include "tools/pack/annotations/annotation_label.h"

#include <gtest/gtest.h>

#include "tests/tools/pack/image_files.h"
#include "tools/pack/annotations/base64.h"
#include "tools/pack/annotations/coco_index.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxPixels = 1 << 20;
constexpr char kEntry[] = R"({"id": 1, "height": 4, "width": 6})";

std::string CocoError(const std::string& entry, const std::string& annotation) {
  ValueMap map;
  map.ids = {{3, 1}};
  const Status status = ReadCocoLabel(entry, {annotation}, map, kMaxPixels).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss) << annotation;
  return status.message();
}

TEST(CocoLabel, DamagedAnnotationsAreErrors) {
  const std::string begin = R"({"category_id": 3, "segmentation": )";
  EXPECT_NE(CocoError(kEntry, "{").find("no JSON"), std::string::npos);
  EXPECT_NE(CocoError(kEntry, R"({"category_id": 4, "segmentation": []})")
                .find("category_id 4 is not one of the categories"),
            std::string::npos);
  EXPECT_NE(CocoError(kEntry, R"({"category_id": 3})").find("no segmentation"), std::string::npos);
  EXPECT_NE(CocoError(kEntry, begin + "[[1, 2, 3]]}").find("pairs of numbers"), std::string::npos);
  EXPECT_NE(CocoError(kEntry, begin + "[[1, \"x\"]]}").find("else than numbers"),
            std::string::npos);
  EXPECT_NE(CocoError(kEntry, begin + "[[1, 1e300, 2, 2, 3, 3]]}").find("out of bounds"),
            std::string::npos);
  EXPECT_NE(CocoError(kEntry, begin + R"({"size": [6, 4], "counts": [24]}})").find("the size of"),
            std::string::npos);
  EXPECT_NE(CocoError(kEntry, begin + R"({"size": [4, 6], "counts": [23]}})").find("cover 23"),
            std::string::npos);
  EXPECT_NE(CocoError(kEntry, begin + R"({"size": [4, 6], "counts": [-1]}})").find("whole number"),
            std::string::npos);
  EXPECT_NE(CocoError(R"({"height": 0, "width": 6})", begin + "[]}").find("height and width"),
            std::string::npos);
}

TEST(CocoLabel, LimitOfPixelsIsAUsageError) {
  ValueMap map;
  EXPECT_EQ(ReadCocoLabel(kEntry, {}, map, 23).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(ReadCocoLabel(kEntry, {}, map, 24).ok());
}

TEST(PanopticSegments, DamagedSegmentsAreErrors) {
  ValueMap map;
  map.ids = {{3, 1}};
  auto error = [&](const std::string& text) {
    return ReadPanopticSegments(text, map, 255).status().message();
  };
  EXPECT_NE(error("{}").find("no segments_info"), std::string::npos);
  EXPECT_NE(error(R"({"segments_info": [{"id": 0, "category_id": 3}]})").find("no id from 1"),
            std::string::npos);
  EXPECT_NE(error(R"({"segments_info": [{"id": 5, "category_id": 9}]})").find("category_id 9"),
            std::string::npos);
  EXPECT_NE(error(R"({"segments_info": [{"id": 5, "category_id": 3},
                                        {"id": 5, "category_id": 3}]})")
                .find("segment 5 stands twice"),
            std::string::npos);
}

TEST(CocoIndex, PartsLieWhereTheyAreSaidToLie) {
  const std::string text =
      "\xEF\xBB\xBF{ \"info\": {\"images\": [{\"id\": 5}]},\n"
      "\"annotations\": [ {\"id\": 1, \"image_id\": 20, \"segmentation\": [[1.5,2,3,4]]},\n"
      "{\"image_id\": 10, \"x\": {\"id\": 7}} , {\"image_id\": 99}],\n"
      "\"images\": [{\"file_name\": \"a \\u00fc.jpg\", \"id\": 10}, {\"id\": 20}],"
      "\"categories\": [{\"id\": 9, \"name\": \"b\"}, {\"id\": 2, \"name\": \"a\"}] }";
  TestFolder folder("coco_index");
  folder.Write("x.json", text);
  Result<CocoIndex> index = ReadCocoIndex(folder.At("x.json"));
  ASSERT_TRUE(index.ok()) << index.status().ToString();
  ASSERT_EQ(index->images.size(), 2u);
  EXPECT_EQ(index->images[0].file_name, "a ü.jpg");
  auto part = [&](const FilePart& p) { return text.substr(p.offset, p.bytes); };
  EXPECT_EQ(part(index->images[1].entry), "{\"id\": 20}");
  ASSERT_EQ(index->images[0].parts.size(), 1u);
  EXPECT_EQ(part(index->images[0].parts[0]), "{\"image_id\": 10, \"x\": {\"id\": 7}}");
  EXPECT_EQ(part(index->images[1].parts[0]).front(), '{');
  EXPECT_EQ(part(index->images[1].parts[0]).back(), '}');
  EXPECT_EQ(index->annotations, 3u);
  EXPECT_EQ(index->annotations_without_image, 1u);
  EXPECT_EQ(index->categories[0].name, "a");
}

TEST(CocoIndex, WholeNumbersAreIdsHoweverTheyAreWritten) {
  TestFolder folder("coco_ids");
  folder.Write("x.json", R"({"images": [{"id": 4294967296}, {"id": 3.0}, {"id": 9007199254740993}],
      "annotations": [{"image_id": 3}, {"image_id": 4294967296.0}, {"image_id": 9007199254740993}],
      "categories": [{"id": 1099511627776, "name": "a"}]})");
  Result<CocoIndex> index = ReadCocoIndex(folder.At("x.json"));
  ASSERT_TRUE(index.ok()) << index.status().ToString();
  EXPECT_EQ(index->annotations_without_image, 0u);
  EXPECT_EQ(index->images[0].id, int64_t{1} << 32);
  EXPECT_EQ(index->images[2].id, 9007199254740993);
  EXPECT_EQ(index->images[2].parts.size(), 1u);
  EXPECT_EQ(index->categories[0].id, int64_t{1} << 40);
  EXPECT_TRUE(index->has_annotations);
  folder.Write("x.json", R"({"images": [{"id": 1}], "annotations": null})");
  EXPECT_FALSE(ReadCocoIndex(folder.At("x.json"))->has_annotations);
}

TEST(CocoIndex, ListsOfSomethingElseAreErrors) {
  TestFolder folder("coco_lists");
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {R"("images": [], "annotations": [[{"image_id": 1}]])", "holds lists in place of"},
           {R"("images": [], "annotations": [{"image_id": 1}, 7])", "else than objects"},
           {R"("images": [], "annotations": ["x"])", "else than objects"},
           {R"("images": [], "annotations": {"image_id": 1})", "'annotations' is no list"},
           {R"("images": [], "annotations": 5)", "'annotations' is no list"},
           {R"("images": [], "images": [])", "there are two lists 'images'"},
           {R"("image": [])", "there is no list 'images'"},
           {R"("images": [{"id": 1.5}])", "is no whole number"},
           {R"("images": [{"id": 18446744073709551615}])", "is beyond 9,223"}}) {
    folder.Write("x.json", "{" + text + "}");
    const Status status = ReadCocoIndex(folder.At("x.json")).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_NE(status.message().find("x.json: "), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
  }
}

TEST(CocoIndex, DamagedFilesAreErrors) {
  TestFolder folder("coco_damaged");
  auto error = [&](const std::string& text, StatusCode code = StatusCode::kInvalidArgument) {
    folder.Write("x.json", text);
    const Status status = ReadCocoIndex(folder.At("x.json")).status();
    EXPECT_EQ(status.code(), code) << text.substr(0, 80);
    EXPECT_NE(status.message().find("x.json"), std::string::npos);
    return status.message();
  };
  EXPECT_NE(error("", StatusCode::kDataLoss).find("no JSON, from byte 0 on"), std::string::npos);
  EXPECT_NE(error("{\"images\": [{\"id\": 1}", StatusCode::kDataLoss).find("no JSON"),
            std::string::npos);
  EXPECT_NE(error("{\"images\": [{\"id\": 1}, {\"id\": 1}]}").find("two images have the id 1"),
            std::string::npos);
  EXPECT_NE(error("{\"images\": [{}]}").find("has no id"), std::string::npos);
  EXPECT_NE(error("{\"annotations\": [{}]}").find("no image_id"), std::string::npos);
  EXPECT_NE(
      error("{\"images\": [], \"categories\": [{\"id\": 1}, {\"id\": 1}]}").find("two categories"),
      std::string::npos);
  EXPECT_NE(error(std::string(200000, '['), StatusCode::kDataLoss).find("no JSON"),
            std::string::npos);
}

Result<ImageSize> NoImage() { return DataLossError("it is cut"); }

// As versions before 3.11 write them, and tools that give no size.
TEST(LabelmeLabel, WithoutASizeTheImageTellsIt) {
  ShapeNames names;
  names.ids = {{"a", 1}};
  for (const char* size : {"", R"("imageHeight": null, "imageWidth": null, )"}) {
    const std::string json = std::string("{") + size +
                             R"("shapes": [{"label": "a", "points": [[0, 0], [2, 0], [2, 3]]}]})";
    const auto image_size = [] { return Result<ImageSize>(ImageSize{4, 6}); };
    const Result<ShapeLabel> label = ReadLabelmeLabel(json, names, kMaxPixels, image_size);
    ASSERT_TRUE(label.ok()) << label.status().ToString();
    EXPECT_EQ(label->size, (ImageSize{4, 6}));
    EXPECT_EQ(label->shapes.size(), 1u);
    EXPECT_NE(ReadLabelmeLabel(json, names, kMaxPixels, NoImage).status().message().find("cut"),
              std::string::npos);
  }
}

TEST(LabelmeLabel, RectangleOfFourPointsIsDrawnCornerByCorner) {
  ShapeNames names;
  names.ids = {{"a", 1}};
  const auto runs = [&](const std::string& type, const std::string& points) {
    const std::string json = R"({"imageHeight": 9, "imageWidth": 9, "shapes": [{"label": "a",
        "shape_type": ")" + type +
                             R"(", "points": )" + points + "}]}";
    const Result<ShapeLabel> label = ReadLabelmeLabel(json, names, kMaxPixels, NoImage);
    EXPECT_TRUE(label.ok()) << label.status().ToString();
    size_t pixels = 0;
    for (const DrawnShape& shape : label->shapes) {
      for (const PixelRun& run : shape.runs) pixels += run.end - run.begin;
    }
    return pixels;
  };
  EXPECT_EQ(runs("rectangle", "[[1, 2], [4, 7]]"), 15u);
  EXPECT_EQ(runs("rectangle", "[[1, 2], [4, 2], [4, 7], [1, 7]]"), 15u);
  // A box that was turned by 45 degrees covers half of the box around it.
  EXPECT_EQ(runs("rotation", "[[4, 0], [8, 4], [4, 8], [0, 4]]"), 32u);
}

TEST(LabelmeLabel, WhatCannotBeDrawnIsAnError) {
  ShapeNames names;
  names.ids = {{"a", 1}};
  auto error = [&](const std::string& shape) {
    const std::string json = R"({"imageHeight": 4, "imageWidth": 6, "shapes": [)" + shape + "]}";
    const Status status = ReadLabelmeLabel(json, names, kMaxPixels, NoImage).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << shape;
    return status.message();
  };
  EXPECT_NE(error(R"({"label": "b", "points": []})").find("'b' is not in the class table"),
            std::string::npos);
  EXPECT_NE(error(R"({"label": "a"})").find("no points"), std::string::npos);
  EXPECT_NE(error(R"({"label": "a", "points": [[1]]})").find("no pair"), std::string::npos);
  EXPECT_NE(error(R"({"label": "a", "points": [[1, 2]], "shape_type": "spline"})").find("spline"),
            std::string::npos);
  EXPECT_NE(error(R"({"label": "a", "points": [[1, 2]], "shape_type": "mask", "mask": "*"})")
                .find("a mask is damaged"),
            std::string::npos);
  EXPECT_NE(
      error(R"({"label": "a", "points": [[1, 2], [1, 3], [4, 3]], "shape_type": "rectangle"})")
          .find("'rectangle' with 3 points cannot be drawn"),
      std::string::npos);
  for (const char* json : {R"({"shapes": [], "imageHeight": 3})", R"({"shapes": []})",
                           R"({"shapes": [], "imageHeight": 0, "imageWidth": 0})"}) {
    EXPECT_EQ(ReadLabelmeLabel(json, names, kMaxPixels, NoImage).status().code(),
              StatusCode::kDataLoss);
  }
  // Without an ignore value its name is one like others.
  EXPECT_NE(error(R"({"label": "__ignore__", "points": []})").find("class table"),
            std::string::npos);
}

TEST(CvatLabel, WhatCannotBeDrawnIsAnError) {
  ShapeNames names;
  names.ids = {{"a", 1}};
  auto error = [&](const std::string& shape) {
    const std::string xml = "<image height=\"4\" width=\"6\">" + shape + "</image>";
    const Status status = ReadCvatLabel(xml, names, kMaxPixels).status();
    EXPECT_FALSE(status.ok()) << shape;
    return status.message();
  };
  EXPECT_NE(error("<polygon label=\"b\" points=\"0,0;1,1;2,0\"/>").find("'b' is not"),
            std::string::npos);
  EXPECT_NE(error("<polygon label=\"a\" points=\"0,0;1\"/>").find("damaged points"),
            std::string::npos);
  EXPECT_NE(error("<polygon label=\"a\" points=\"nan,0;1,1;2,0\"/>").find("no number"),
            std::string::npos);
  EXPECT_NE(error("<ellipse label=\"a\"/>").find("'ellipse' cannot be drawn"), std::string::npos);
  EXPECT_NE(error("<box label=\"a\" rotation=\"3\"/>").find("rotated"), std::string::npos);
  EXPECT_NE(error("<mask label=\"a\" rle=\"1,2\" left=\"0\" top=\"0\" height=\"9\" width=\"1\"/>")
                .find("larger"),
            std::string::npos);
  EXPECT_NE(error("<mask label=\"a\" rle=\"1,2\" left=\"0\" top=\"0\" height=\"1\" width=\"2\"/>")
                .find("cover more"),
            std::string::npos);
  EXPECT_NE(error("<mask label=\"a\" rle=\"1,2\" top=\"0\" height=\"1\" width=\"2\"/>")
                .find("the left of a mask is no number"),
            std::string::npos);
  EXPECT_NE(error("<box label=\"a\" xtl=\"0\" ytl=\"0\" xbr=\"2x\" ybr=\"1\"/>")
                .find("the xbr of a box is no number"),
            std::string::npos);
  EXPECT_NE(error("<polygon label=\"a\" points=\"\"/>").find("a polygon of 0 points"),
            std::string::npos);
  EXPECT_FALSE(ReadCvatLabel("<image height=\"4\"", names, kMaxPixels).ok());
}

TEST(Base64, KnownTexts) {
  EXPECT_EQ(DecodeBase64("TWFu"), "Man");
  EXPECT_EQ(DecodeBase64("TWE="), "Ma");
  EXPECT_EQ(DecodeBase64("TQ=="), "M");
  EXPECT_EQ(DecodeBase64("TW\nFu"), "Man");
  EXPECT_EQ(DecodeBase64(""), "");
  for (const char* bad : {"TWF", "T===", "TW=u", "TW*u", "===="}) {
    EXPECT_FALSE(DecodeBase64(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace shardmill
