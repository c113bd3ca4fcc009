// How the label files of a set are to be understood. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shardmill {

// A label value that is a colour is 0xRRGGBB with this flag; others are numbers.
constexpr uint32_t kLabelColorFlag = 1u << 31;

struct SourceFile {
  std::string path;        // below the source folder
  uint64_t bytes = 0;      // when it was listed
  int64_t changed_ns = 0;  // likewise: when it was changed last, since 1970
};

// Class ids for the values of label files, in place of the values themselves.
struct ValueMap {
  static constexpr uint32_t kToIgnore = UINT32_MAX;  // an "id": the pixel has no class

  std::map<uint32_t, uint32_t> ids;  // by value
  std::optional<uint32_t> others;    // for numbers that are not in `ids`

  bool MapsNumbers() const {
    return others.has_value() || (!ids.empty() && ids.begin()->first < kLabelColorFlag);
  }
  bool MapsColors() const { return !ids.empty() && ids.rbegin()->first >= kLabelColorFlag; }
};

// How the channels of a pixel make its value.
enum class PixelCode {
  kPlain,       // gray value, palette index or exact colour
  kAde20k,      // (R / 10) * 256 + G, as the full ADE20K set stores it
  kRedChannel,  // red alone
  kThreshold,   // the colour whose channels are 0 below 128 and 255 from there on
};

// Which reading of a palette file holds.
enum class PaletteReading {
  kAuto,   // by colour when the class colours are those of the files, else by index
  kIndex,  // and the colours are not looked at
  kColor,
};

// What a gray file holds where the classes have colours, so that a gray level may be one of them.
enum class GrayReading {
  kAuto,   // what fits all values of the file; where both do and differ, the file is refused
  kValue,  // class ids
  kColor,  // the colour (v, v, v), v scaled to 8 bits
};

// What the label files are.
enum class LabelForm {
  kImage,
  kCoco,      // parts of a JSON file: the image's entry, then its annotations
  kPanoptic,  // a picture of segment ids, and a part of a JSON file that says what they are
  kLabelme,   // a JSON file of shapes
  kCvat,      // a part of an XML file: the <image> element
};

struct LabelRules {
  LabelForm form = LabelForm::kImage;
  std::vector<SourceFile> parts_files;  // below the source folder
  PixelCode code = PixelCode::kPlain;
  // Files of colours are read by the colours of the class table.
  bool colors_in_files = false;
  // The class colours are also what palettes hold, but the index is the label: files in which the
  // two disagree are refused.
  bool index_first = false;
  PaletteReading palette = PaletteReading::kAuto;
  GrayReading gray = GrayReading::kAuto;
  // Values and colours that miss those of a class by at most this much per channel are taken for
  // it. Without it nothing is ever rounded, and files of lossy formats are refused.
  std::optional<uint32_t> tolerance;
  std::optional<ValueMap> map;
  bool map_is_given = false;  // by the user: then each label must be read by what it has rules for
  uint32_t background = 0;    // of drawn shapes: the class where there is none
  std::optional<uint32_t> ignore;  // the value of records, and without a map of files, for no class
};

}  // namespace shardmill
