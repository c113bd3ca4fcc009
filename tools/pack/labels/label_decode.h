// Turns a decoded label image into class ids: by index where the file stores indices, by exact
// colour where it stores colours. A value that means no class is counted and never becomes one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"
#include "tools/pack/decode/source_image.h"
#include "tools/pack/labels/color_table.h"
#include "tools/pack/labels/label_rules.h"

namespace shardmill {

// Class ids of one image: u8, or u16 in native byte order.
struct ClassIdMap {
  ImageSize size;
  DType dtype = DType::kU8;
  std::vector<uint8_t> bytes;  // dense rows
};

// How the pixels of a label file were understood.
enum LabelKind {
  kGrayValue,
  kPaletteIndex,
  kPaletteColor,
  kGrayColor,
  kRgbColor,
  kGrayInRgb,
  kAde20kCode,
  kRedValue,
  kThresholdColor,
  kSegmentIds,
  kDrawnShapes,  // no image: polygons and masks of an annotation file
  kNoLabel,      // of a test split: all of it is ignored
  kLabelKindCount,
};
std::string_view LabelKindName(LabelKind kind);  // "gray value", …
std::string_view LabelKindKey(LabelKind kind);   // "gray_value", …: a stable key
using LabelKindCounts = std::array<uint64_t, kLabelKindCount>;

// Values of a label file that are neither a class nor ignore.
struct UnknownValues {
  static constexpr uint32_t kColorFlag = kLabelColorFlag;
  // A photograph in the place of a label has as many values as pixels: only so many are kept.
  static constexpr size_t kMaxKept = 4096;

  std::unordered_map<uint32_t, uint64_t> pixels;  // by value
  uint64_t pixels_of_values_not_kept = 0;

  bool empty() const { return pixels.empty(); }
  void Add(uint32_t value, uint64_t count);
  uint64_t TotalPixels() const;
};
std::string FormatLabelValue(uint32_t value);  // "colour 12,0,255 (#0c00ff)", "value 12"

struct LabelDecoderOptions {
  std::vector<ClassInfo> classes;
  LabelRules rules;
  DType dtype = DType::kU8;
};

struct DecodedLabel {
  LabelKind kind = kGrayValue;
  uint64_t approximated = 0;    // pixels whose value missed that of their class, and was rounded
  uint64_t without_area = 0;    // shapes of annotations that cover no pixel: left out
  bool may_be_clipped = false;  // 8 bits, 255 occurs, and there are class ids beyond
};

// Immutable after construction: one object serves all threads.
class LabelDecoder {
 public:
  explicit LabelDecoder(const LabelDecoderOptions& options);

  // Pixels with unknown values are counted in `unknown` and hold an arbitrary id in `map`.
  // InvalidArgument when the kind of file cannot be a label, when index and colour of a palette
  // file, or value and colour of a gray file, name different classes, and when the map or the
  // tolerance of the rules does not fit the kind of file.
  Result<DecodedLabel> Decode(const SourceImage& image, ClassIdMap* map,
                              UnknownValues* unknown) const;

  DType dtype() const { return dtype_; }
  const std::vector<std::string>& names() const { return names_; }  // by class id

 private:
  static constexpr int32_t kNoClass = ColorTable::kNone;

  struct Answer {
    int32_t id;
    bool exact;
  };
  Answer FindColor(uint32_t color) const;
  Answer FindNumber(uint32_t value) const;
  int32_t ExactNumber(uint32_t value) const;
  void InsertColors(const std::vector<ClassInfo>& classes);
  void InsertMap(const ValueMap& map);
  void LeaveOutUnused(const std::vector<ClassInfo>& classes);

  Result<LabelKind> Classify(const SourceImage& image) const;
  Result<LabelKind> ClassifyPalette(const SourceImage& image) const;
  Result<LabelKind> ComparePalette(const SourceImage& image) const;
  Result<LabelKind> ClassifyRgb(const SourceImage& image) const;
  Result<LabelKind> ClassifyGray(const SourceImage& image) const;
  Result<LabelKind> CompareGray(const SourceImage& image) const;
  // What the values of a gray file are as ids, and as colours.
  struct GrayReadings {
    bool values_fit = true, colors_fit = true;  // each value means something
    size_t values = 0;                          // different ones
    Status doubt;                               // both fit and differ
  };
  GrayReadings ReadBothWays(const SourceImage& image) const;
  Status CheckGrayInRgb(const SourceImage& image) const;
  Status CheckPalette(const SourceImage& image) const;
  Status CheckKind(LabelKind kind) const;
  Status CheckNoData(const SourceImage& image, LabelKind kind) const;
  std::string NameOf(int32_t id) const;

  template <typename Id>
  void DecodeAs(const SourceImage& image, ClassIdMap* map, UnknownValues* unknown,
                DecodedLabel* label) const;
  template <typename Id>
  void DecodePixels(const SourceImage& image, Id* ids, UnknownValues* unknown,
                    DecodedLabel* label) const;
  template <typename Id>
  void DecodeBytes(const SourceImage& image, Id* ids, UnknownValues* unknown,
                   DecodedLabel* label) const;

  std::vector<std::string> names_;  // by class id
  uint32_t class_count_;
  LabelRules rules_;
  bool colors_are_gray_;  // all of them
  DType dtype_;
  ColorTable colors_;
  std::vector<int32_t> number_ids_;            // by value; empty: values are class ids
  bool maps_numbers_ = false;                  // the map does
  Status number_tolerance_, color_tolerance_;  // whether the tolerance fits numbers and colours
};

}  // namespace shardmill
