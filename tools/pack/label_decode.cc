#include "tools/pack/label_decode.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace shardmill {
namespace {

struct Names {
  std::string_view text, key;
};

constexpr Names kKindNames[kLabelKindCount] = {
    {"gray value", "gray_value"},        {"palette index", "palette_index"},
    {"palette colour", "palette_color"}, {"gray level as colour", "gray_color"},
    {"RGB colour", "rgb_color"},
};

constexpr uint32_t GrayColor(uint32_t level) { return level << 16 | level << 8 | level; }

bool IsRunOfEight(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word == bytes[0] * 0x0101010101010101u;
}

bool IsGray(uint32_t color) { return color == GrayColor(color & 255); }

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
  if ((value & UnknownValues::kColorFlag) == 0) return "value " + std::to_string(value);
  char text[48];
  std::snprintf(text, sizeof text, "colour %u,%u,%u (#%06x)", (value >> 16) & 255,
                (value >> 8) & 255, value & 255, value & 0xFFFFFF);
  return text;
}

LabelDecoder::LabelDecoder(const LabelDecoderOptions& options)
    : class_count_(static_cast<uint32_t>(options.classes.size())),
      colors_in_files_(options.colors_in_files),
      ignore_(options.ignore),
      dtype_(options.dtype) {
  // At most a quarter full, so that a look-up seldom needs a second step.
  int bits = 4;
  while ((size_t{1} << bits) < 4 * options.classes.size()) ++bits;
  slots_.assign(size_t{1} << bits, {0, kNoClass});
  slot_shift_ = 32 - bits;
  colors_are_gray_ = !options.classes.empty();
  for (const ClassInfo& info : options.classes) {
    if (!info.color.has_value()) continue;
    InsertColor(*info.color, static_cast<int32_t>(info.id));
    colors_are_gray_ = colors_are_gray_ && IsGray(*info.color);
  }
}

void LabelDecoder::InsertColor(uint32_t color, int32_t id) {
  size_t slot = (color * 0x9E3779B1u) >> slot_shift_;
  while (slots_[slot].id != kNoClass) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = {color, id};
}

int32_t LabelDecoder::FindColor(uint32_t color) const {
  size_t slot = (color * 0x9E3779B1u) >> slot_shift_;
  while (slots_[slot].id != kNoClass) {
    if (slots_[slot].color == color) return slots_[slot].id;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return kNoClass;
}

int32_t LabelDecoder::FindIndex(uint32_t value) const {
  return value < class_count_ || value == ignore_ ? static_cast<int32_t>(value) : kNoClass;
}

Result<LabelKind> LabelDecoder::Classify(const SourceImage& image) const {
  switch (image.layout) {
    case PixelLayout::kPalette:
      return colors_in_files_ ? kPaletteColor : kPaletteIndex;
    case PixelLayout::kGray:
      // With a table of gray levels only, as in {0,0,0} and {255,255,255}, gray is a colour.
      return colors_in_files_ && colors_are_gray_ && image.stored_bits == 8 ? kGrayColor
                                                                            : kGrayValue;
    case PixelLayout::kRgb:
    case PixelLayout::kRgba:
      break;
    case PixelLayout::kGrayAlpha:
      return InvalidArgumentError("a label with gray and alpha channels; save it as plain gray");
  }
  if (!colors_in_files_) {
    return InvalidArgumentError(
        "this label holds colours, and the colours of the classes are not known; give them with "
        "--classes FILE (name,r,g,b)");
  }
  if (image.sample_bytes != 1) {
    return InvalidArgumentError("a colour label with 16 bits per channel; save it with 8");
  }
  return kRgbColor;
}

Result<LabelKind> LabelDecoder::Decode(const SourceImage& image, ClassIdMap* map,
                                       UnknownValues* unknown) const {
  ASSIGN_OR_RETURN(LabelKind kind, Classify(image));
  map->size = image.size;
  map->dtype = dtype_;
  map->bytes.resize(image.size.pixels() * DTypeBytes(dtype_));
  if (dtype_ == DType::kU8) {
    DecodeAs<uint8_t>(image, kind, map, unknown);
  } else {
    DecodeAs<uint16_t>(image, kind, map, unknown);
  }
  return kind;
}

template <typename Id>
void LabelDecoder::DecodeAs(const SourceImage& image, LabelKind kind, ClassIdMap* map,
                            UnknownValues* unknown) const {
  auto* ids = reinterpret_cast<Id*>(map->bytes.data());
  if (kind == kRgbColor) {
    DecodeColors(image, ids, unknown);
  } else if (image.sample_bytes == 2) {
    DecodeWideGray(image, ids, unknown);
  } else {
    DecodeBytes(image, kind, ids, unknown);
  }
}

// Labels consist of long runs of one colour, so the last answer is tried first.
template <typename Id>
void LabelDecoder::DecodeColors(const SourceImage& image, Id* ids, UnknownValues* unknown) const {
  const uint8_t* in = image.samples.data();
  const int step = ChannelsOf(image.layout);
  uint32_t last_color = 0;
  int32_t last_id = FindColor(0);
  for (size_t i = 0, pixels = image.size.pixels(); i < pixels; ++i, in += step) {
    uint32_t color = uint32_t{in[0]} << 16 | uint32_t{in[1]} << 8 | in[2];
    if (color != last_color) {
      last_color = color;
      last_id = FindColor(color);
    }
    ids[i] = static_cast<Id>(last_id);
    if (last_id == kNoClass) unknown->Add(color | UnknownValues::kColorFlag, 1);
  }
}

// One byte per pixel: a table of 256 answers, and a histogram to find the unknown ones.
template <typename Id>
void LabelDecoder::DecodeBytes(const SourceImage& image, LabelKind kind, Id* ids,
                               UnknownValues* unknown) const {
  std::array<Id, 256> table;
  std::array<uint32_t, 256> value_of = {};
  std::array<uint8_t, 256> is_unknown = {};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t color = kind == kGrayColor         ? GrayColor(i)
                     : i < image.palette.size() ? image.palette[i]
                                                : 0;
    bool by_color = kind == kGrayColor || kind == kPaletteColor;
    int32_t id = by_color ? FindColor(color) : FindIndex(i);
    table[i] = static_cast<Id>(id);
    value_of[i] = by_color ? color | UnknownValues::kColorFlag : i;
    is_unknown[i] = id == kNoClass;
  }
  bool any_unknown = false;
  const uint8_t* in = image.samples.data();
  const size_t pixels = image.samples.size();
  for (size_t i = 0; i < pixels;) {
    // Eight pixels at once where they are of one run, which they mostly are.
    const size_t step = i + 8 <= pixels && IsRunOfEight(in + i) ? 8 : 1;
    std::fill_n(ids + i, step, table[in[i]]);
    any_unknown |= is_unknown[in[i]] != 0;
    i += step;
  }
  if (!any_unknown) return;
  for (uint8_t sample : image.samples) {
    if (is_unknown[sample] != 0) unknown->Add(value_of[sample], 1);
  }
}

template <typename Id>
void LabelDecoder::DecodeWideGray(const SourceImage& image, Id* ids, UnknownValues* unknown) const {
  for (size_t i = 0, pixels = image.size.pixels(); i < pixels; ++i) {
    uint16_t value;
    std::memcpy(&value, &image.samples[2 * i], sizeof value);
    int32_t id = FindIndex(value);
    ids[i] = static_cast<Id>(id);
    if (id == kNoClass) unknown->Add(value, 1);
  }
}

}  // namespace shardmill
