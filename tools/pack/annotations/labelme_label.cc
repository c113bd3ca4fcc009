#include <algorithm>
#include <cmath>
#include <utility>

#include "reader/console/units.h"
#include "tools/pack/annotations/annotation_label.h"
#include "tools/pack/annotations/base64.h"
#include "tools/pack/decode/image_decode.h"
#include "tools/pack/inputs/json_document.h"

namespace shardmill {
namespace {

using rapidjson::Value;

Result<std::vector<Point>> ParsePoints(const Value& shape) {
  const Value* list = FindMember(shape, "points");
  if (list == nullptr || !list->IsArray()) return DataLossError("a shape has no points");
  std::vector<Point> points;
  for (const Value& point : list->GetArray()) {
    if (!point.IsArray() || point.Size() != 2 || !point[0].IsNumber() || !point[1].IsNumber()) {
      return DataLossError("a point of a shape is no pair of numbers");
    }
    points.push_back({point[0].GetDouble(), point[1].GetDouble()});
  }
  return points;
}

std::vector<Point> Rectangle(Point a, Point b) { return {a, {b.x, a.y}, b, {a.x, b.y}}; }

// A mask is a gray PNG over the rectangle between two points.
Result<std::vector<PixelRun>> FillMask(const Value& shape, const std::vector<Point>& points,
                                       ImageSize size) {
  const std::optional<std::string> png = DecodeBase64(TextMember(shape, "mask"));
  if (points.empty() || !png.has_value()) return DataLossError("a mask is damaged");
  SourceImage mask;
  RETURN_IF_ERROR(ImageDecoder().Decode(*png, size.pixels(), &mask).WithContext("a mask"));
  if (ChannelsOf(mask.layout) != 1 || mask.sample_bytes != 1) {
    return DataLossError("a mask is no gray picture of 8 bits");
  }
  const double left = std::round(std::clamp(points[0].x, -kMaxCoordinate, kMaxCoordinate));
  const double top = std::round(std::clamp(points[0].y, -kMaxCoordinate, kMaxCoordinate));
  if (std::isnan(left) || std::isnan(top)) return DataLossError("a mask lies nowhere");
  return RunsOfMask(mask.samples, mask.size, static_cast<int64_t>(top), static_cast<int64_t>(left),
                    size);
}

// Nothing for shapes without an area.
Result<std::optional<std::vector<PixelRun>>> Fill(const Value& shape, ImageSize size) {
  using Runs = std::optional<std::vector<PixelRun>>;
  const std::string type = TextMember(shape, "shape_type");
  ASSIGN_OR_RETURN(const std::vector<Point> points, ParsePoints(shape));
  Result<std::vector<PixelRun>> runs = InvalidArgumentError("");
  if (type.empty() || type == "polygon") {
    RETURN_IF_ERROR(CheckOutline(points));
    runs = FillRings({points}, size);
  } else if ((type == "rectangle" || type == "rotation") && points.size() == 4) {
    runs = FillRings({points}, size);  // corner by corner, as tools write them that turn boxes
  } else if (type == "rectangle" && points.size() == 2) {
    runs = FillRings({Rectangle(points[0], points[1])}, size);
  } else if (type == "circle" && points.size() == 2) {
    const double radius = std::hypot(points[1].x - points[0].x, points[1].y - points[0].y);
    runs = FillCircle(points[0], radius, size);
  } else if (type == "mask") {
    runs = FillMask(shape, points, size);
  } else if (type == "point" || type == "points" || type == "line" || type == "linestrip") {
    return Runs();
  } else {
    return DataLossError("a shape of type '" + type + "' with " + FormatCount(points.size()) +
                         (points.size() == 1 ? " point" : " points") + " cannot be drawn");
  }
  if (!runs.ok()) return DataLossError(runs.status().message());
  return Runs(*std::move(runs));
}

bool IsGiven(const Value& value, const char* name) {
  const Value* member = FindMember(value, name);
  return member != nullptr && !member->IsNull();
}

int64_t SizeMember(const Value& value, const char* name) {
  const Value* member = FindMember(value, name);
  return member != nullptr && member->IsInt64() ? member->GetInt64() : -1;
}

}  // namespace

Result<std::string> EmbeddedImage(std::string_view json) {
  Result<rapidjson::Document> document = ParseJson(json);
  if (!document.ok()) return DataLossError(document.status().message());
  std::optional<std::string> image = DecodeBase64(TextMember(*document, "imageData"));
  if (image.has_value()) return *std::move(image);
  return DataLossError("its imageData is no base64");
}

Result<ShapeLabel> ReadLabelmeLabel(std::string_view json, const ShapeNames& names,
                                    uint64_t max_pixels,
                                    const std::function<Result<ImageSize>()>& image_size) {
  Result<rapidjson::Document> document = ParseJson(json);
  if (!document.ok()) return DataLossError(document.status().message());
  ShapeLabel label;
  if (IsGiven(*document, "imageHeight") || IsGiven(*document, "imageWidth")) {
    ASSIGN_OR_RETURN(label.size, CheckShapeSize(SizeMember(*document, "imageHeight"),
                                                SizeMember(*document, "imageWidth"), max_pixels));
  } else {
    const Result<ImageSize> size = image_size();
    if (!size.ok()) return size.status().WithContext("its image");
    label.size = *size;
  }
  const Value* shapes = FindMember(*document, "shapes");
  if (shapes == nullptr || !shapes->IsArray()) return DataLossError("there are no shapes");
  for (const Value& value : shapes->GetArray()) {
    DrawnShape shape;
    ASSIGN_OR_RETURN(shape.id, names.Find(TextMember(value, "label")));
    ASSIGN_OR_RETURN(auto runs, Fill(value, label.size));
    if (!runs.has_value()) {
      ++label.without_area;
      continue;
    }
    shape.runs = *std::move(runs);
    AddShape(std::move(shape), &label);
  }
  return label;
}

}  // namespace shardmill
