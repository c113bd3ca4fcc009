// Labels that annotation files describe as shapes: what one image's part of them says.
//
// Free functions without state. Errors are DataLoss: the file is damaged, or says what cannot be
// drawn.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/annotations/drawn_shapes.h"
#include "tools/pack/labels/label_decode.h"
#include "tools/pack/labels/label_rules.h"

namespace shardmill {

struct ShapeLabel {
  ImageSize size;
  std::vector<DrawnShape> shapes;
  // Left out because they cover no pixel: points and lines, areas in which the centre of no pixel
  // lies, and areas outside the image.
  uint64_t without_area = 0;
};

// Adds a shape that has been filled, or counts it when it covers no pixel.
void AddShape(DrawnShape shape, ShapeLabel* label);

// DataLoss for an outline of fewer than three points: it is lost, not small.
Status CheckOutline(const std::vector<Point>& points);

// What becomes of names; those that mean "no class" become the ignore value.
struct ShapeNames {
  std::map<std::string, uint32_t, std::less<>> ids;
  std::optional<uint32_t> ignore;

  Result<uint32_t> Find(std::string_view name) const;
};
// Names that tools give to areas that count as nothing.
bool MeansIgnore(std::string_view name);

// COCO: `entry` is the image's, `annotations` are its own. Category ids become class ids through
// `map`, in which every target is one. Crowds lie lowest, then larger areas below smaller ones: an
// object before another is mostly the smaller one, and COCO does not say which lies above.
Result<ShapeLabel> ReadCocoLabel(std::string_view entry,
                                 const std::vector<std::string_view>& annotations,
                                 const ValueMap& map, uint64_t max_pixels);

// COCO panoptic: class ids by the segment ids of its picture. 0 is nothing, and becomes ignore.
using SegmentClasses = std::map<uint32_t, uint32_t>;
Result<SegmentClasses> ReadPanopticSegments(std::string_view annotation, const ValueMap& map,
                                            uint32_t ignore);
// Pixels of unknown segments are counted in `unknown`. InvalidArgument unless `image` is RGB of 8
// bits.
Status DecodePanoptic(const SourceImage& image, const SegmentClasses& segments, ClassIdMap* map,
                      UnknownValues* unknown);

// labelme: the content of a JSON file. Later shapes lie above earlier ones. `image_size` is called
// where the file does not give the size, as those of old versions.
Result<ShapeLabel> ReadLabelmeLabel(std::string_view json, const ShapeNames& names,
                                    uint64_t max_pixels,
                                    const std::function<Result<ImageSize>()>& image_size);

// The image file that a labelme file holds; DataLoss when there is none.
Result<std::string> EmbeddedImage(std::string_view json);

// CVAT: an <image> element. Shapes of a higher z_order lie above, then later ones.
Result<ShapeLabel> ReadCvatLabel(std::string_view xml, const ShapeNames& names,
                                 uint64_t max_pixels);

// A height and a width of a file, checked.
Result<ImageSize> CheckShapeSize(int64_t height, int64_t width, uint64_t max_pixels);

}  // namespace shardmill
