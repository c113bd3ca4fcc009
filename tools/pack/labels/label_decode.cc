#include "tools/pack/labels/label_decode.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tools/pack/decode/no_data.h"
#include "tools/pack/labels/id_runs.h"
#include "tools/pack/labels/label_samples.h"
#include "tools/pack/labels/label_tolerance.h"
#include "tools/pack/labels/unused_class.h"

namespace shardmill {
namespace {

struct Names {
  std::string_view text, key;
};

constexpr Names kKindNames[kLabelKindCount] = {
    {"gray value", "gray_value"},
    {"palette index", "palette_index"},
    {"palette colour", "palette_color"},
    {"gray level as colour", "gray_color"},
    {"RGB colour", "rgb_color"},
    {"gray value in three channels", "gray_in_rgb"},
    {"ADE20K's number in red and green", "ade20k_code"},
    {"red channel", "red_value"},
    {"RGB colour by thresholds", "threshold_color"},
    {"segment ids", "segment_ids"},
    {"shapes drawn", "drawn_shapes"},
    {"nothing, there is no label and all is ignored", "no_label"},
};

uint32_t Threshold(uint32_t color) {
  // The highest bit of each channel, spread over the channel.
  return ((color >> 7) & 0x010101) * 255;
}

bool IsByColor(LabelKind kind) {
  return kind == kPaletteColor || kind == kGrayColor || kind == kRgbColor ||
         kind == kThresholdColor;
}

// The value that stands in a pixel of several bytes.
uint32_t PixelValue(const uint8_t* pixel, LabelKind kind, int sample_bytes) {
  switch (kind) {
    case kGrayColor:
      return ColorOfLevel(SampleAt(pixel, sample_bytes), 16);
    case kRgbColor:
    case kThresholdColor:
      return (uint32_t{pixel[0]} << 16 | uint32_t{pixel[1]} << 8 | pixel[2]) | kLabelColorFlag;
    case kAde20kCode:
      return uint32_t{pixel[0]} / 10 * 256 + pixel[1];
    default:
      return SampleAt(pixel, sample_bytes);
  }
}

}  // namespace

std::string_view LabelKindName(LabelKind kind) { return kKindNames[kind].text; }
std::string_view LabelKindKey(LabelKind kind) { return kKindNames[kind].key; }

void UnknownValues::Add(uint32_t value, uint64_t count) {
  auto found = pixels.find(value);
  if (found != pixels.end()) {
    found->second += count;
  } else if (pixels.size() < kMaxKept) {
    pixels.emplace(value, count);
  } else {
    pixels_of_values_not_kept += count;
  }
}

uint64_t UnknownValues::TotalPixels() const {
  uint64_t total = pixels_of_values_not_kept;
  for (const auto& [value, count] : pixels) total += count;
  return total;
}

std::string FormatLabelValue(uint32_t value) {
  if ((value & kLabelColorFlag) == 0) return "value " + std::to_string(value);
  char text[48];
  std::snprintf(text, sizeof text, "colour %u,%u,%u (#%06x)", (value >> 16) & 255,
                (value >> 8) & 255, value & 255, value & 0xFFFFFF);
  return text;
}

LabelDecoder::LabelDecoder(const LabelDecoderOptions& options)
    : class_count_(static_cast<uint32_t>(options.classes.size())),
      rules_(options.rules),
      dtype_(options.dtype),
      colors_(options.classes.size() + (rules_.map ? rules_.map->ids.size() : 0)) {
  for (const ClassInfo& info : options.classes) names_.push_back(info.name);
  // The first meaning of a colour stays: what the map says comes before the class table.
  if (rules_.map.has_value()) InsertMap(*rules_.map);
  if (rules_.colors_in_files || rules_.index_first) InsertColors(options.classes);
  colors_are_gray_ =
      !options.classes.empty() &&
      std::all_of(options.classes.begin(), options.classes.end(), [](const ClassInfo& info) {
        return !info.color.has_value() || IsGray(*info.color);
      });
  if (!maps_numbers_) LeaveOutUnused(options.classes);
  number_tolerance_ = CheckNumberTolerance(options.classes, rules_);
  color_tolerance_ = CheckColorTolerance(options.classes, rules_);
}

void LabelDecoder::InsertColors(const std::vector<ClassInfo>& classes) {
  std::unordered_map<uint32_t, int> uses;
  for (const ClassInfo& info : classes) {
    if (info.color.has_value()) ++uses[*info.color];
  }
  // A colour that several classes share names none of them.
  for (const ClassInfo& info : classes) {
    if (!info.color.has_value() || uses[*info.color] > 1) continue;
    colors_.Insert(*info.color, static_cast<int32_t>(info.id));
  }
}

void LabelDecoder::InsertMap(const ValueMap& map) {
  auto target = [&](uint32_t id) {
    return static_cast<int32_t>(id == ValueMap::kToIgnore ? rules_.ignore.value_or(0) : id);
  };
  maps_numbers_ = map.MapsNumbers();
  if (maps_numbers_) {
    number_ids_.assign(kSampleValues, map.others.has_value() ? target(*map.others) : kNoClass);
  }
  for (const auto& [value, id] : map.ids) {
    if ((value & kLabelColorFlag) != 0) {
      colors_.Insert(value & ~kLabelColorFlag, target(id));
    } else if (value < kSampleValues) {
      number_ids_[value] = target(id);
    }
  }
}

// A number that no class has is unknown, also where classes of higher numbers follow.
void LabelDecoder::LeaveOutUnused(const std::vector<ClassInfo>& classes) {
  if (std::none_of(classes.begin(), classes.end(), IsUnusedClass)) return;
  number_ids_.assign(kSampleValues, kNoClass);
  for (const ClassInfo& info : classes) {
    if (!IsUnusedClass(info)) number_ids_[info.id] = static_cast<int32_t>(info.id);
  }
  if (rules_.ignore.has_value()) number_ids_[*rules_.ignore] = static_cast<int32_t>(*rules_.ignore);
}

std::string LabelDecoder::NameOf(int32_t id) const {
  const auto place = static_cast<size_t>(id);
  return place < names_.size() ? "class '" + names_[place] + "'" : std::string("no class");
}

int32_t LabelDecoder::ExactNumber(uint32_t value) const {
  if (!number_ids_.empty()) return value < kSampleValues ? number_ids_[value] : kNoClass;
  return value < class_count_ || value == rules_.ignore ? static_cast<int32_t>(value) : kNoClass;
}

LabelDecoder::Answer LabelDecoder::FindNumber(uint32_t value) const {
  const int32_t exact = ExactNumber(value);
  if (exact != kNoClass || !rules_.tolerance.has_value()) return {exact, true};
  if (!number_tolerance_.ok()) return {kNoClass, true};
  for (uint32_t off = 1; off <= *rules_.tolerance; ++off) {
    const int32_t below = value >= off ? ExactNumber(value - off) : kNoClass;
    const int32_t near = below != kNoClass ? below : ExactNumber(value + off);
    if (near != kNoClass) return {near, false};
  }
  return {kNoClass, true};
}

LabelDecoder::Answer LabelDecoder::FindColor(uint32_t color) const {
  const bool threshold = rules_.code == PixelCode::kThreshold;
  const uint32_t wanted = threshold ? Threshold(color) : color;
  const int32_t exact = colors_.Find(wanted);
  if (exact != kNoClass || !rules_.tolerance.has_value()) return {exact, wanted == color};
  return {colors_.FindNear(color, *rules_.tolerance), false};
}

Result<LabelKind> LabelDecoder::ClassifyPalette(const SourceImage& image) const {
  bool by_color = rules_.palette == PaletteReading::kColor;
  if (rules_.palette == PaletteReading::kAuto && rules_.colors_in_files && !rules_.index_first) {
    // A map of numbers alone says that it is the index that means something.
    by_color = !rules_.map_is_given || !maps_numbers_ || rules_.map->MapsColors();
  }
  if (by_color && colors_.empty()) {
    return InvalidArgumentError(
        "--palette color needs the colours of the classes; give them with --classes FILE "
        "(name,r,g,b)");
  }
  if (by_color && rules_.palette == PaletteReading::kAuto) return ComparePalette(image);
  return by_color ? kPaletteColor : kPaletteIndex;
}

// By colour, but for palettes in which each index is its own gray level, which programs write for
// gray files. Entries that no pixel uses are filled up with anything and do not count. Colours of
// another set than the class table's are refused rather than read by index: in the next file they
// might be the table's.
Result<LabelKind> LabelDecoder::ComparePalette(const SourceImage& image) const {
  bool any_color = false, all_colors = true, all_indices = true, all_own_levels = true;
  for (uint32_t index : ValuesOf(image)) {
    if (index >= image.palette.size()) return kPaletteColor;
    const uint32_t color = image.palette[index];
    const bool has_class = FindColor(color).id != kNoClass;
    any_color |= has_class;
    all_colors = all_colors && has_class;
    all_indices = all_indices && FindNumber(index).id != kNoClass;
    all_own_levels = all_own_levels && color == GrayColor(index);
  }
  if (all_colors || !all_indices) return kPaletteColor;
  if (all_own_levels) return kPaletteIndex;
  if (any_color) return kPaletteColor;
  return InvalidArgumentError(
      "none of the colours of this palette file is in the class table, and all its indices are "
      "class ids; if the index is the label, say so with --palette index");
}

Result<LabelKind> LabelDecoder::ClassifyRgb(const SourceImage& image) const {
  if (rules_.code == PixelCode::kRedChannel) return kRedValue;
  if (rules_.code == PixelCode::kAde20k && image.sample_bytes == 1) return kAde20kCode;
  const bool is_gray = rules_.code == PixelCode::kPlain && AllChannelsAreEqual(image);
  if (is_gray && (colors_.empty() || rules_.gray == GrayReading::kValue)) return kGrayInRgb;
  if (is_gray && rules_.gray == GrayReading::kAuto) RETURN_IF_ERROR(CheckGrayInRgb(image));
  if (colors_.empty()) {
    return InvalidArgumentError(
        "this label holds colours, and the colours of the classes are not known; give them with "
        "--classes FILE (name,r,g,b)");
  }
  if (image.sample_bytes != 1) {
    return InvalidArgumentError("a colour label with 16 bits per channel; save it with 8");
  }
  return rules_.code == PixelCode::kThreshold ? kThresholdColor : kRgbColor;
}

Result<LabelKind> LabelDecoder::Classify(const SourceImage& image) const {
  RETURN_IF_ERROR(CheckTransparency(image));
  switch (image.layout) {
    case PixelLayout::kPalette:
      return ClassifyPalette(image);
    case PixelLayout::kRgb:
    case PixelLayout::kRgba:
      return ClassifyRgb(image);
    case PixelLayout::kGrayAlpha:
      return InvalidArgumentError("a label with gray and alpha channels; save it as plain gray");
    case PixelLayout::kGray:
      break;
  }
  return ClassifyGray(image);
}

// By value, unless the classes have colours and a gray level may be one of them.
Result<LabelKind> LabelDecoder::ClassifyGray(const SourceImage& image) const {
  if (rules_.code == PixelCode::kAde20k) {
    return InvalidArgumentError("a gray label, where ids stand in the red and green channels");
  }
  if (rules_.gray == GrayReading::kColor && colors_.empty()) {
    return InvalidArgumentError(
        "--gray color needs the colours of the classes; give them with --classes FILE "
        "(name,r,g,b)");
  }
  if (rules_.gray == GrayReading::kColor) return kGrayColor;
  if (rules_.gray == GrayReading::kValue || maps_numbers_ || colors_.empty()) return kGrayValue;
  return rules_.code == PixelCode::kThreshold ? Result<LabelKind>(kGrayColor) : CompareGray(image);
}

// The reading in which all values of the file mean something. Some sets hold ids beside a table of
// colours, others white for the second class; and programs that make PNG files smaller store
// colours that are gray by chance as gray. Where both readings fit and differ, only the user knows.
Result<LabelKind> LabelDecoder::CompareGray(const SourceImage& image) const {
  const GrayReadings readings = ReadBothWays(image);
  RETURN_IF_ERROR(readings.doubt);
  const bool gray_classes = rules_.colors_in_files && colors_are_gray_;
  if (readings.values_fit == readings.colors_fit) return gray_classes ? kGrayColor : kGrayValue;
  return readings.colors_fit && rules_.colors_in_files ? kGrayColor : kGrayValue;
}

// Files of three channels hold colours, also where these are gray. But programs that save ids in
// three equal channels make files of several small values. One value alone is no sign of it: a file
// may show a single class in black.
Status LabelDecoder::CheckGrayInRgb(const SourceImage& image) const {
  const GrayReadings readings = ReadBothWays(image);
  return readings.values > 1 ? readings.doubt : OkStatus();
}

LabelDecoder::GrayReadings LabelDecoder::ReadBothWays(const SourceImage& image) const {
  GrayReadings readings;
  bool &values_fit = readings.values_fit, &colors_fit = readings.colors_fit;
  std::string difference;
  for (uint32_t value : ValuesOf(image)) {
    ++readings.values;
    const uint32_t color = ColorOfLevel(value, image.stored_bits);
    const bool has_color = (color & kLabelColorFlag) != 0;
    const int32_t by_value = FindNumber(value).id;
    const int32_t by_color = has_color ? FindColor(color & ~kLabelColorFlag).id : kNoClass;
    values_fit = values_fit && by_value != kNoClass;
    colors_fit = colors_fit && by_color != kNoClass;
    if (!difference.empty() || by_value == by_color || !values_fit || !colors_fit) continue;
    difference = "gray value " + std::to_string(value) + " means " + NameOf(by_value) +
                 ", but its " + FormatLabelValue(color) + " means " + NameOf(by_color);
  }
  if (values_fit && colors_fit && !difference.empty()) {
    readings.doubt =
        InvalidArgumentError(difference + "; say which holds with --gray value or --gray color");
  }
  return readings;
}

// A map or a tolerance that means nothing for the file would be recorded and have no effect.
Status LabelDecoder::CheckKind(LabelKind kind) const {
  const bool by_color = IsByColor(kind);
  RETURN_IF_ERROR(by_color ? color_tolerance_ : number_tolerance_);
  if (!rules_.map_is_given) return OkStatus();
  if (by_color ? rules_.map->MapsColors() : maps_numbers_) return OkStatus();
  return InvalidArgumentError(
      std::string("--map has rules for ") + (by_color ? "numbers" : "colours") +
      " alone, and this label is read by " + std::string(LabelKindName(kind)) +
      (by_color ? "; write the values in the map as #rrggbb, or have palette and gray files read "
                  "by number with --palette index and --gray value"
                : "; write the values in the map as numbers"));
}

// Pixels without data would count as a class. The file says one number for all its channels.
Status LabelDecoder::CheckNoData(const SourceImage& image, LabelKind kind) const {
  const std::optional<uint32_t> found = NoDataSample(image);
  if (!found.has_value()) return OkStatus();
  const uint32_t sample = *found;
  uint32_t value = sample;
  if (kind == kPaletteColor) {
    if (sample >= image.palette.size()) return OkStatus();
    value = image.palette[sample] | kLabelColorFlag;
  } else if (kind == kGrayColor) {
    value = ColorOfLevel(sample, image.stored_bits);
  } else if (IsByColor(kind)) {
    value = GrayColor(sample) | kLabelColorFlag;
  } else if (kind == kAde20kCode) {
    value = sample / 10 * 256 + sample;
  }
  const bool is_color = (value & kLabelColorFlag) != 0;
  if (IsByColor(kind) && !is_color) return OkStatus();
  const bool decided =
      rules_.map_is_given && (is_color ? rules_.map->ids.count(value) > 0 : maps_numbers_);
  const int32_t id = is_color ? FindColor(value & ~kLabelColorFlag).id : FindNumber(value).id;
  if (decided || id < 0 || id >= static_cast<int32_t>(class_count_)) return OkStatus();
  const std::string shown = FormatLabelValue(value);
  const std::string in_map = is_color ? shown.substr(shown.find('#'), 7) : std::to_string(value);
  return InvalidArgumentError("its " + shown + " means no data, as the file says, and also " +
                              NameOf(id) + "; say which holds with --map FILE, as in '" + in_map +
                              " ignore'");
}

// Programs that make PNG files smaller re-order palettes, and others write palettes that have
// nothing to do with the classes: where the two readings differ, only the user knows.
Status LabelDecoder::CheckPalette(const SourceImage& image) const {
  if (rules_.palette != PaletteReading::kAuto || colors_.empty()) return OkStatus();
  std::array<int32_t, 256> color_ids;
  bool any = false;
  for (uint32_t i = 0; i < 256; ++i) {
    const int32_t index = ExactNumber(i);
    const bool has_color = i < image.palette.size();
    color_ids[i] = has_color && index != kNoClass ? colors_.Find(image.palette[i]) : kNoClass;
    if (color_ids[i] == index) color_ids[i] = kNoClass;
    any |= color_ids[i] != kNoClass;
  }
  if (!any) return OkStatus();
  for (uint8_t index : image.samples) {
    if (color_ids[index] == kNoClass) continue;
    return InvalidArgumentError(
        "palette index " + std::to_string(index) + " means " + NameOf(ExactNumber(index)) +
        ", but its " + FormatLabelValue(image.palette[index] | kLabelColorFlag) + " means " +
        NameOf(color_ids[index]) + "; say which holds with --palette index or --palette color");
  }
  return OkStatus();
}

Result<DecodedLabel> LabelDecoder::Decode(const SourceImage& image, ClassIdMap* map,
                                          UnknownValues* unknown) const {
  DecodedLabel label;
  ASSIGN_OR_RETURN(label.kind, Classify(image));
  if (image.full_level != 0 && IsByColor(label.kind)) {
    return InvalidArgumentError("a label of colours whose samples go up to " +
                                std::to_string(image.full_level) + "; save it with 255");
  }
  RETURN_IF_ERROR(CheckKind(label.kind));
  RETURN_IF_ERROR(CheckNoData(image, label.kind));
  if (image.layout == PixelLayout::kPalette) RETURN_IF_ERROR(CheckPalette(image));
  map->size = image.size;
  map->dtype = dtype_;
  map->bytes.resize(image.size.pixels() * DTypeBytes(dtype_));
  if (dtype_ == DType::kU8) {
    DecodeAs<uint8_t>(image, map, unknown, &label);
  } else {
    DecodeAs<uint16_t>(image, map, unknown, &label);
  }
  return label;
}

template <typename Id>
void LabelDecoder::DecodeAs(const SourceImage& image, ClassIdMap* map, UnknownValues* unknown,
                            DecodedLabel* label) const {
  auto* ids = reinterpret_cast<Id*>(map->bytes.data());
  if (ChannelsOf(image.layout) == 1 && image.sample_bytes == 1) {
    DecodeBytes(image, ids, unknown, label);
  } else {
    DecodePixels(image, ids, unknown, label);
  }
}

template <typename Id>
void LabelDecoder::DecodePixels(const SourceImage& image, Id* ids, UnknownValues* unknown,
                                DecodedLabel* label) const {
  const LabelKind kind = label->kind;
  const bool by_color = IsByColor(kind);
  const uint8_t* in = image.samples.data();
  const auto step = static_cast<size_t>(ChannelsOf(image.layout) * image.sample_bytes);
  for (size_t i = 0, pixels = image.size.pixels(); i < pixels;) {
    const size_t run = PixelRun(in, pixels - i, step);
    const uint32_t value = PixelValue(in, kind, image.sample_bytes);
    const bool between = by_color && (value & kLabelColorFlag) == 0;
    const Answer answer = between    ? Answer{kNoClass, true}
                          : by_color ? FindColor(value & ~kLabelColorFlag)
                                     : FindNumber(value);
    std::fill_n(ids + i, run, static_cast<Id>(answer.id));
    if (answer.id == kNoClass) {
      unknown->Add(value, run);
    } else {
      label->approximated += answer.exact ? 0 : run;
    }
    i += run;
    in += run * step;
  }
}

// One byte per pixel: a table of 256 answers, and a histogram where there is more to tell.
template <typename Id>
void LabelDecoder::DecodeBytes(const SourceImage& image, Id* ids, UnknownValues* unknown,
                               DecodedLabel* label) const {
  const bool by_color = IsByColor(label->kind);
  std::array<Id, 256> table;
  std::array<uint32_t, 256> value_of = {};
  std::array<Answer, 256> answers;
  std::array<uint8_t, 256> is_odd = {};
  for (uint32_t i = 0; i < 256; ++i) {
    const uint32_t level = std::min(i, (1u << image.stored_bits) - 1);
    const uint32_t color = label->kind == kGrayColor
                               ? ColorOfLevel(level, image.stored_bits) & ~kLabelColorFlag
                           : i < image.palette.size() ? image.palette[i]
                                                      : 0;
    answers[i] = by_color ? FindColor(color) : FindNumber(i);
    table[i] = static_cast<Id>(answers[i].id);
    value_of[i] = by_color ? color | kLabelColorFlag : i;
    is_odd[i] = answers[i].id == kNoClass || !answers[i].exact;
  }
  const bool can_be_clipped = !by_color && class_count_ > 256;
  if (can_be_clipped) is_odd[255] = 1;
  bool any_odd = false, any_changes = sizeof(Id) > 1;
  const uint8_t* in = image.samples.data();
  const size_t pixels = image.samples.size();
  for (size_t i = 0; i < pixels; i = RunEnd(in, i, pixels)) {
    any_odd |= is_odd[in[i]] != 0;
    any_changes |= table[in[i]] != in[i];
  }
  if (!any_changes) std::copy_n(in, pixels, ids);
  for (size_t i = 0; any_changes && i < pixels;) {
    const size_t end = RunEnd(in, i, pixels);
    std::fill(ids + i, ids + end, table[in[i]]);
    i = end;
  }
  if (!any_odd) return;
  std::array<uint64_t, 256> counts = {};
  for (uint8_t sample : image.samples) ++counts[sample];
  for (uint32_t i = 0; i < 256; ++i) {
    if (counts[i] == 0) continue;
    if (answers[i].id == kNoClass) {
      unknown->Add(value_of[i], counts[i]);
    } else if (!answers[i].exact) {
      label->approximated += counts[i];
    }
  }
  label->may_be_clipped = can_be_clipped && counts[255] > 0;
}

}  // namespace shardmill
