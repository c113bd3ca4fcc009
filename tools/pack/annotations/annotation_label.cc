#include "tools/pack/annotations/annotation_label.h"

#include <utility>

#include "tools/pack/labels/class_label.h"

namespace shardmill {

Result<uint32_t> ShapeNames::Find(std::string_view name) const {
  if (ignore.has_value() && MeansIgnore(name)) return *ignore;
  const auto found = ids.find(name);
  if (found != ids.end()) return found->second;
  // Numbers are ids, however they are written.
  if (const std::optional<int64_t> number = ParseWholeNumber(name)) {
    const auto by_number = ids.find(std::to_string(*number));
    if (by_number != ids.end()) return by_number->second;
  }
  return DataLossError("the label '" + std::string(name) + "' is not in the class table");
}

void AddShape(DrawnShape shape, ShapeLabel* label) {
  if (shape.runs.empty()) {
    ++label->without_area;
  } else {
    label->shapes.push_back(std::move(shape));
  }
}

Status CheckOutline(const std::vector<Point>& points) {
  if (points.size() >= 3) return OkStatus();
  return DataLossError("a polygon of " + std::to_string(points.size()) + " points has no area");
}

bool MeansIgnore(std::string_view name) { return name == "__ignore__"; }

Result<ImageSize> CheckShapeSize(int64_t height, int64_t width, uint64_t max_pixels) {
  if (height < 1 || width < 1 || height > int64_t{kMaxImageSide} ||
      width > int64_t{kMaxImageSide}) {
    return DataLossError("the annotation gives no usable height and width of the image");
  }
  const ImageSize size = {static_cast<uint32_t>(height), static_cast<uint32_t>(width)};
  if (size.pixels() <= max_pixels) return size;
  return InvalidArgumentError(DescribeImageSize(size) + " is more than --max-pixels " +
                              std::to_string(max_pixels));
}

}  // namespace shardmill
