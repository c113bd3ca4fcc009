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
#include "tools/pack/source_image.h"

namespace shardmill {

// Class ids of one image: u8, or u16 in native byte order.
struct ClassIdMap {
  ImageSize size;
  DType dtype = DType::kU8;
  std::vector<uint8_t> bytes;  // dense rows
};

// How the pixels of a label file were understood.
enum LabelKind { kGrayValue, kPaletteIndex, kPaletteColor, kGrayColor, kRgbColor, kLabelKindCount };
std::string_view LabelKindName(LabelKind kind);  // "gray value", …
std::string_view LabelKindKey(LabelKind kind);   // "gray_value", …: a stable key
using LabelKindCounts = std::array<uint64_t, kLabelKindCount>;

// Values of a label file that are neither a class nor ignore.
struct UnknownValues {
  // A colour as 0xRRGGBB with kColorFlag set, or a gray value or palette index.
  static constexpr uint32_t kColorFlag = 1u << 31;
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
  // The colours of the classes are those in the label files; else they are for display only.
  bool colors_in_files = false;
  std::optional<uint32_t> ignore;  // that label files may hold
  DType dtype = DType::kU8;
};

// Immutable after construction: one object serves all threads.
class LabelDecoder {
 public:
  explicit LabelDecoder(const LabelDecoderOptions& options);

  // Pixels with unknown values are counted in `unknown` and hold an arbitrary id in `map`.
  // InvalidArgument when the kind of file cannot be a label.
  Result<LabelKind> Decode(const SourceImage& image, ClassIdMap* map, UnknownValues* unknown) const;

 private:
  struct Slot {
    uint32_t color;
    int32_t id;  // kNoClass: free
  };
  static constexpr int32_t kNoClass = -1;

  void InsertColor(uint32_t color, int32_t id);
  int32_t FindColor(uint32_t color) const;
  int32_t FindIndex(uint32_t value) const;
  Result<LabelKind> Classify(const SourceImage& image) const;

  template <typename Id>
  void DecodeAs(const SourceImage& image, LabelKind kind, ClassIdMap* map,
                UnknownValues* unknown) const;
  template <typename Id>
  void DecodeColors(const SourceImage& image, Id* ids, UnknownValues* unknown) const;
  template <typename Id>
  void DecodeBytes(const SourceImage& image, LabelKind kind, Id* ids, UnknownValues* unknown) const;
  template <typename Id>
  void DecodeWideGray(const SourceImage& image, Id* ids, UnknownValues* unknown) const;

  uint32_t class_count_;
  bool colors_in_files_;
  bool colors_are_gray_;  // all of them
  std::optional<uint32_t> ignore_;
  DType dtype_;
  std::vector<Slot> slots_;  // open addressing; the size is a power of two
  int slot_shift_ = 0;
};

}  // namespace shardmill
