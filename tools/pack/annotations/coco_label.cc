#include <cmath>
#include <utility>

#include "tools/pack/annotations/annotation_label.h"
#include "tools/pack/inputs/json_document.h"

namespace shardmill {
namespace {

using rapidjson::Value;

// Crowds lie below all areas.
constexpr int64_t kCrowdLayer = INT64_MIN;

Status Damaged(const std::string& what) { return DataLossError("annotation: " + what); }

Result<rapidjson::Document> ParsePart(std::string_view text) {
  Result<rapidjson::Document> document = ParseJson(text);
  if (!document.ok()) return DataLossError("annotation: " + document.status().message());
  return document;
}

int64_t IntMember(const Value& value, const char* name) {
  const Value* member = FindMember(value, name);
  if (member == nullptr || !member->IsNumber()) return -1;
  if (member->IsInt64()) return member->GetInt64();
  // Programs that count with fractions write 3.0 for 3.
  const double number = member->GetDouble();
  const bool whole = number >= 0 && number < 1e15 && number == std::floor(number);
  return whole ? static_cast<int64_t>(number) : -1;
}

// Written as a number, or as true and false.
Result<bool> IsCrowd(const Value& annotation) {
  const Value* crowd = FindMember(annotation, "iscrowd");
  if (crowd == nullptr || crowd->IsNull()) return false;
  if (crowd->IsBool()) return crowd->GetBool();
  const int64_t number = IntMember(annotation, "iscrowd");
  if (number == 0 || number == 1) return number == 1;
  return Damaged("iscrowd is neither 0 nor 1");
}

Result<uint32_t> ClassOf(const Value& annotation, const ValueMap& map) {
  const int64_t category = IntMember(annotation, "category_id");
  const auto found = category < 0 || category >= int64_t{kLabelColorFlag}
                         ? map.ids.end()
                         : map.ids.find(static_cast<uint32_t>(category));
  if (found != map.ids.end()) return found->second;
  return Damaged("category_id " + std::to_string(category) + " is not one of the categories");
}

Result<std::vector<Point>> ParsePolygon(const Value& list) {
  std::vector<Point> ring;
  if (!list.IsArray() || list.Size() % 2 != 0) {
    return Damaged("a polygon is no list of pairs of numbers");
  }
  for (rapidjson::SizeType i = 0; i < list.Size(); i += 2) {
    if (!list[i].IsNumber() || !list[i + 1].IsNumber()) {
      return Damaged("a polygon holds something else than numbers");
    }
    ring.push_back({list[i].GetDouble(), list[i + 1].GetDouble()});
  }
  RETURN_IF_ERROR(CheckOutline(ring));
  return ring;
}

Result<std::vector<PixelRun>> FillPolygons(const Value& polygons, ImageSize size) {
  std::vector<PixelRun> runs;
  // As exports of boxes have it: drawn as nothing, the object would become background.
  if (polygons.Empty()) return Damaged("the segmentation is empty, so the object has no outline");
  for (const Value& polygon : polygons.GetArray()) {
    ASSIGN_OR_RETURN(const std::vector<Point> ring, ParsePolygon(polygon));
    Result<std::vector<PixelRun>> filled = FillRings({ring}, size);
    if (!filled.ok()) return Damaged(filled.status().message());
    runs.insert(runs.end(), filled->begin(), filled->end());
  }
  return runs;
}

Result<std::vector<uint64_t>> ParseCounts(const Value& segmentation) {
  const Value* counts = FindMember(segmentation, "counts");
  if (counts != nullptr && counts->IsString()) {
    return ParseCocoCounts({counts->GetString(), counts->GetStringLength()});
  }
  if (counts == nullptr || !counts->IsArray()) {
    return InvalidArgumentError("a mask has no counts");
  }
  std::vector<uint64_t> lengths;
  for (const Value& count : counts->GetArray()) {
    if (!count.IsUint64()) return InvalidArgumentError("a run length is no whole number");
    lengths.push_back(count.GetUint64());
  }
  return lengths;
}

Result<std::vector<PixelRun>> FillMask(const Value& segmentation, ImageSize size) {
  const Value* of = FindMember(segmentation, "size");
  const bool fits = of != nullptr && of->IsArray() && of->Size() == 2 && (*of)[0].IsUint() &&
                    (*of)[1].IsUint() && (*of)[0].GetUint() == size.height &&
                    (*of)[1].GetUint() == size.width;
  if (!fits) return Damaged("a mask has not the size of the image");
  Result<std::vector<uint64_t>> counts = ParseCounts(segmentation);
  if (!counts.ok()) return Damaged(counts.status().message());
  Result<std::vector<uint8_t>> mask = MaskOfCounts(*counts, size, RunOrder::kColumns);
  if (!mask.ok()) return Damaged(mask.status().message());
  return RunsOfMask(*mask, size, 0, 0, size);
}

Result<DrawnShape> ReadShape(std::string_view text, const ValueMap& map, ImageSize size) {
  ASSIGN_OR_RETURN(const rapidjson::Document annotation, ParsePart(text));
  DrawnShape shape;
  ASSIGN_OR_RETURN(shape.id, ClassOf(annotation, map));
  const Value* segmentation = FindMember(annotation, "segmentation");
  if (segmentation == nullptr || !(segmentation->IsArray() || segmentation->IsObject())) {
    return Damaged("there is no segmentation, neither polygons nor a mask");
  }
  ASSIGN_OR_RETURN(shape.runs, segmentation->IsArray() ? FillPolygons(*segmentation, size)
                                                       : FillMask(*segmentation, size));
  ASSIGN_OR_RETURN(const bool crowd, IsCrowd(annotation));
  shape.layer = crowd ? kCrowdLayer : -static_cast<int64_t>(shape.Area());
  return shape;
}

}  // namespace

Result<ShapeLabel> ReadCocoLabel(std::string_view entry,
                                 const std::vector<std::string_view>& annotations,
                                 const ValueMap& map, uint64_t max_pixels) {
  ShapeLabel label;
  ASSIGN_OR_RETURN(const rapidjson::Document image, ParsePart(entry));
  ASSIGN_OR_RETURN(label.size, CheckShapeSize(IntMember(image, "height"), IntMember(image, "width"),
                                              max_pixels));
  for (std::string_view text : annotations) {
    ASSIGN_OR_RETURN(DrawnShape shape, ReadShape(text, map, label.size));
    AddShape(std::move(shape), &label);
  }
  return label;
}

Result<SegmentClasses> ReadPanopticSegments(std::string_view text, const ValueMap& map,
                                            uint32_t ignore) {
  ASSIGN_OR_RETURN(const rapidjson::Document annotation, ParsePart(text));
  SegmentClasses segments = {{0, ignore}};
  const Value* list = FindMember(annotation, "segments_info");
  if (list == nullptr || !list->IsArray()) return Damaged("there is no segments_info");
  for (const Value& segment : list->GetArray()) {
    const int64_t id = IntMember(segment, "id");
    if (id < 1 || id > 0xFFFFFF) return Damaged("a segment has no id from 1 to 16,777,215");
    ASSIGN_OR_RETURN(const uint32_t class_id, ClassOf(segment, map));
    if (!segments.emplace(static_cast<uint32_t>(id), class_id).second) {
      return Damaged("segment " + std::to_string(id) + " stands twice");
    }
  }
  return segments;
}

Status DecodePanoptic(const SourceImage& image, const SegmentClasses& segments, ClassIdMap* map,
                      UnknownValues* unknown) {
  const bool rgb = image.layout == PixelLayout::kRgb || image.layout == PixelLayout::kRgba;
  if (!rgb || image.sample_bytes != 1) {
    return InvalidArgumentError("a panoptic picture must be RGB with 8 bits per channel");
  }
  map->size = image.size;
  map->bytes.resize(image.size.pixels() * DTypeBytes(map->dtype));
  const auto step = static_cast<size_t>(ChannelsOf(image.layout));
  const uint8_t* in = image.samples.data();
  uint32_t last = 0;
  auto found = segments.find(0);
  for (size_t i = 0, pixels = image.size.pixels(); i < pixels; ++i, in += step) {
    const uint32_t id = in[0] | uint32_t{in[1]} << 8 | uint32_t{in[2]} << 16;
    if (id != last) {
      last = id;
      found = segments.find(id);
    }
    if (found == segments.end()) unknown->Add(id, 1);
    const uint32_t class_id = found == segments.end() ? 0 : found->second;
    map->bytes[i * DTypeBytes(map->dtype)] = static_cast<uint8_t>(class_id);
    if (map->dtype == DType::kU16) map->bytes[2 * i + 1] = static_cast<uint8_t>(class_id >> 8);
  }
  return OkStatus();
}

}  // namespace shardmill
