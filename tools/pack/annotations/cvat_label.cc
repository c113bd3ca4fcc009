#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <utility>

#include "pugixml.hpp"
#include "tools/pack/annotations/annotation_label.h"
#include "tools/pack/inputs/text_lines.h"

namespace shardmill {
namespace {

bool IsNumber(const char* text) {
  char* end = nullptr;
  std::strtod(text, &end);
  return end != text && *end == '\0';
}

// "x,y;x,y;…"
Result<std::vector<Point>> ParsePoints(std::string_view text) {
  std::vector<Point> points;
  while (!text.empty()) {
    const std::string pair(text.substr(0, text.find(';')));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    char* end = nullptr;
    Point point;
    point.x = std::strtod(pair.c_str(), &end);
    if (end == pair.c_str() || *end != ',') return DataLossError("damaged points of a shape");
    const char* second = end + 1;
    point.y = std::strtod(second, &end);
    if (end == second || *end != '\0') return DataLossError("damaged points of a shape");
    points.push_back(point);
  }
  return points;
}

// What is missing would count as 0.
Status CheckAttributes(const pugi::xml_node& node, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (!IsNumber(node.attribute(name).value())) {
      return DataLossError(std::string("the ") + name + " of a " + node.name() + " is no number");
    }
  }
  return OkStatus();
}

Result<std::vector<PixelRun>> FillPolygon(const pugi::xml_node& node, ImageSize size) {
  ASSIGN_OR_RETURN(const std::vector<Point> points, ParsePoints(node.attribute("points").value()));
  RETURN_IF_ERROR(CheckOutline(points));
  return FillRings({points}, size);
}

Result<std::vector<PixelRun>> FillBox(const pugi::xml_node& node, ImageSize size) {
  if (node.attribute("rotation").as_double(0) != 0) {
    return DataLossError("a rotated box cannot be drawn; make it a polygon");
  }
  RETURN_IF_ERROR(CheckAttributes(node, {"xtl", "ytl", "xbr", "ybr"}));
  const Point a = {node.attribute("xtl").as_double(), node.attribute("ytl").as_double()};
  const Point b = {node.attribute("xbr").as_double(), node.attribute("ybr").as_double()};
  return FillRings({{a, {b.x, a.y}, b, {a.x, b.y}}}, size);
}

// Run lengths by rows over the box of the mask.
Result<std::vector<PixelRun>> FillMask(const pugi::xml_node& node, ImageSize size) {
  RETURN_IF_ERROR(CheckAttributes(node, {"left", "top", "width", "height"}));
  const ImageSize box = {node.attribute("height").as_uint(), node.attribute("width").as_uint()};
  if (box.height > size.height || box.width > size.width || box.pixels() == 0) {
    return DataLossError("a mask is larger than the image");
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> fields,
                   SplitFields(node.attribute("rle").value(), ','));
  std::vector<uint64_t> counts;
  for (const std::string& field : fields) {
    uint64_t count = 0;
    auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), count);
    if (error != std::errc() || end != field.data() + field.size()) {
      return DataLossError("a run length of a mask is no number");
    }
    counts.push_back(count);
  }
  ASSIGN_OR_RETURN(const std::vector<uint8_t> mask, MaskOfCounts(counts, box, RunOrder::kRows));
  return RunsOfMask(mask, box, node.attribute("top").as_int(), node.attribute("left").as_int(),
                    size);
}

}  // namespace

Result<ShapeLabel> ReadCvatLabel(std::string_view xml, const ShapeNames& names,
                                 uint64_t max_pixels) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size());
  if (!parsed) return DataLossError(std::string("damaged XML: ") + parsed.description());
  const pugi::xml_node image = document.child("image");
  ShapeLabel label;
  ASSIGN_OR_RETURN(label.size, CheckShapeSize(image.attribute("height").as_llong(-1),
                                              image.attribute("width").as_llong(-1), max_pixels));
  for (const pugi::xml_node& node : image.children()) {
    const std::string kind = node.name();
    if (kind == "tag" || kind == "attribute") continue;
    Result<std::vector<PixelRun>> runs = InvalidArgumentError("");
    if (kind == "polygon") {
      runs = FillPolygon(node, label.size);
    } else if (kind == "box") {
      runs = FillBox(node, label.size);
    } else if (kind == "mask") {
      runs = FillMask(node, label.size);
    } else if (kind == "points" || kind == "polyline" || kind == "skeleton" || kind.empty()) {
      label.without_area += kind.empty() ? 0 : 1;
      continue;
    } else {
      return DataLossError("a shape of kind '" + kind + "' cannot be drawn");
    }
    if (!runs.ok()) return DataLossError(runs.status().message());
    DrawnShape shape;
    ASSIGN_OR_RETURN(shape.id, names.Find(node.attribute("label").value()));
    if (node.attribute("z_order")) RETURN_IF_ERROR(CheckAttributes(node, {"z_order"}));
    shape.layer = node.attribute("z_order").as_llong(0);
    shape.runs = *std::move(runs);
    AddShape(std::move(shape), &label);
  }
  return label;
}

}  // namespace shardmill
