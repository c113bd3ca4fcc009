#include "tools/pack/geometry/placement.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "reader/base/checksum.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

// The piece of a side that a window shows: first pixel and count.
struct Span {
  uint32_t first = 0, count = 0;
};
Span VisibleSpan(uint32_t side, int32_t offset, uint32_t window) {
  int64_t first = std::max<int64_t>(0, offset);
  int64_t end = std::min<int64_t>(side, int64_t{offset} + window);
  if (end <= first) return {};
  return {static_cast<uint32_t>(first), static_cast<uint32_t>(end - first)};
}

// The offset of a window in the middle of a side: half the room, rounded down, also where it is
// negative.
int32_t CenterOffset(uint32_t side, uint32_t window) {
  const int64_t room = int64_t{side} - int64_t{window};
  return static_cast<int32_t>(room >= 0 ? room / 2 : -((-room + 1) / 2));
}

int32_t RandomOffset(uint32_t side, uint32_t window, RandomStream* random) {
  if (side <= window) return CenterOffset(side, window);
  return static_cast<int32_t>(random->Below(uint64_t{side} - window + 1));
}

int32_t LastOffset(uint32_t side, uint32_t window) {
  return side <= window ? CenterOffset(side, window) : static_cast<int32_t>(side - window);
}
int32_t FirstOffset(uint32_t side, uint32_t window) {
  return side <= window ? CenterOffset(side, window) : 0;
}

// Tiles along a side: enough that the last one reaches its end.
uint64_t TilesAlong(uint32_t side, uint32_t window, uint32_t overlap) {
  if (side <= window) return 1;
  const uint64_t step = window - overlap;
  return 1 + (uint64_t{side} - window + step - 1) / step;
}

using Offsets = std::vector<std::pair<int32_t, int32_t>>;  // y, x

Offsets CornerOffsets(ImageSize image, ImageSize window) {
  const int32_t top = FirstOffset(image.height, window.height);
  const int32_t left = FirstOffset(image.width, window.width);
  const int32_t bottom = LastOffset(image.height, window.height);
  const int32_t right = LastOffset(image.width, window.width);
  const std::pair<int32_t, int32_t> wanted[] = {
      {top, left},
      {top, right},
      {bottom, left},
      {bottom, right},
      {CenterOffset(image.height, window.height), CenterOffset(image.width, window.width)}};
  Offsets offsets;
  for (const auto& offset : wanted) {
    if (std::find(offsets.begin(), offsets.end(), offset) == offsets.end())
      offsets.push_back(offset);
  }
  return offsets;
}

Offsets TileOffsets(ImageSize image, ImageSize window, uint32_t overlap) {
  const uint64_t rows = TilesAlong(image.height, window.height, overlap);
  const uint64_t columns = TilesAlong(image.width, window.width, overlap);
  Offsets offsets;
  for (uint64_t row = 0; row < rows; ++row) {
    for (uint64_t column = 0; column < columns; ++column) {
      offsets.emplace_back(static_cast<int32_t>(row * (window.height - overlap)),
                           static_cast<int32_t>(column * (window.width - overlap)));
    }
  }
  return offsets;
}

uint64_t SeedOf(uint64_t seed, std::string_view key, uint32_t attempt) {
  const uint64_t mixed = Checksum64(key.data(), key.size()) ^ MixBits(seed + 1);
  return MixBits(mixed + attempt * 0x9E3779B97F4A7C15u);
}

// The windows that follow from the sizes alone; one, where they are drawn.
Offsets FixedOffsets(const GeometryOptions& options, ImageSize image, ImageSize window) {
  if (!options.crop.has_value()) return {{0, 0}};
  switch (options.crop_mode) {
    case CropMode::kCorners:
      return CornerOffsets(image, window);
    case CropMode::kTile:
      return TileOffsets(image, window, options.tile_overlap);
    case CropMode::kCenter:
    case CropMode::kRandom:
      break;
  }
  return {{CenterOffset(image.height, window.height), CenterOffset(image.width, window.width)}};
}

uint64_t CountWindows(const GeometryOptions& options, ImageSize image) {
  if (!options.crop.has_value()) return 1;
  const ImageSize window = *options.crop;
  switch (options.crop_mode) {
    case CropMode::kRandom:
      return options.variants;
    case CropMode::kCorners:
      return CornerOffsets(image, window).size();
    case CropMode::kTile:
      return TilesAlong(image.height, window.height, options.tile_overlap) *
             TilesAlong(image.width, window.width, options.tile_overlap);
    case CropMode::kCenter:
      break;
  }
  return 1;
}

uint32_t RecordsPerWindow(const GeometryOptions& options) { return 1 + options.augment.copies; }

// Puts the record `placement->variant` where it belongs; `fixed` is the window without any chance.
void Draw(const GeometryOptions& options, std::string_view key, uint32_t attempt,
          const std::pair<int32_t, int32_t>& fixed, Placement* placement) {
  const ImageSize image = placement->resized, window = placement->window;
  const bool augmented = placement->variant % RecordsPerWindow(options) != 0;
  const bool anywhere = options.crop.has_value() && options.crop_mode == CropMode::kRandom;
  std::tie(placement->y, placement->x) = fixed;
  if (!augmented && !anywhere) return;
  placement->seed = SeedOf(options.seed, VariantKey(key, placement->variant), attempt);
  RandomStream random(placement->seed);
  if (augmented) {
    const AugmentFrame frame = {image, window, placement->y, placement->x,
                                anywhere || options.augment.Has(kAugmentCrop)};
    const DrawnAugmentation drawn = DrawAugmentation(options.augment, frame, &random);
    placement->augmentation = drawn.augmentation;
    placement->y = drawn.y;
    placement->x = drawn.x;
  } else {
    placement->y = RandomOffset(image.height, window.height, &random);
    placement->x = RandomOffset(image.width, window.width, &random);
  }
}

}  // namespace

std::string_view CropModeName(CropMode mode) {
  switch (mode) {
    case CropMode::kRandom:
      return "random";
    case CropMode::kCorners:
      return "corners";
    case CropMode::kTile:
      return "tile";
    case CropMode::kCenter:
      break;
  }
  return "center";
}

ImageSize ResizeRule::Apply(ImageSize source) const {
  if (kind == Kind::kExact) return size;
  const bool height_counts = (source.height <= source.width) == (kind == Kind::kShortSide);
  const uint64_t from = height_counts ? source.height : source.width;
  const uint64_t other = height_counts ? source.width : source.height;
  const uint64_t scaled = (2 * other * side + from) / (2 * std::max<uint64_t>(1, from));
  const auto new_other = static_cast<uint32_t>(std::clamp<uint64_t>(scaled, 1, UINT32_MAX));
  return height_counts ? ImageSize{side, new_other} : ImageSize{new_other, side};
}

Result<ResizeRule> ParseResize(std::string_view text) {
  ResizeRule rule;
  const size_t equals = text.find('=');
  const Status error = InvalidArgumentError("'" + std::string(text) +
                                            "' is no size; write HEIGHTxWIDTH, short=N or long=N");
  if (equals == std::string_view::npos) {
    const Result<ImageSize> size = ParseImageSize(text);
    if (!size.ok()) return error;
    rule.size = *size;
    return rule;
  }
  const std::string_view name = text.substr(0, equals);
  const Result<uint64_t> side = ParseUnsigned(text.substr(equals + 1), kMaxImageSide);
  if ((name != "short" && name != "long") || !side.ok() || *side == 0) return error;
  rule.kind = name == "short" ? ResizeRule::Kind::kShortSide : ResizeRule::Kind::kLongSide;
  rule.side = static_cast<uint32_t>(*side);
  return rule;
}

std::string FormatResize(const ResizeRule& rule) {
  if (rule.kind == ResizeRule::Kind::kExact) return FormatImageSize(rule.size);
  return (rule.kind == ResizeRule::Kind::kShortSide ? "short=" : "long=") +
         std::to_string(rule.side);
}

Region Placement::Visible() const {
  Span rows = VisibleSpan(resized.height, y, window.height);
  Span columns = VisibleSpan(resized.width, x, window.width);
  if (rows.count == 0 || columns.count == 0) return {};
  return {rows.first, columns.first, {rows.count, columns.count}};
}

std::vector<PixelSpan> Placement::ShownRows() const {
  if (augmentation.has_value()) return InsideSpans(augmentation->map, window, resized);
  const Region visible = Visible();
  const uint32_t top = VisibleRow(), left = VisibleColumn();
  std::vector<PixelSpan> rows(window.height);
  for (uint32_t y = 0; y < visible.size.height; ++y) {
    rows[top + y] = {left, left + visible.size.width};
  }
  return rows;
}

Placement Placement::Within(const Region& part) const {
  if (resized != source) return *this;  // then the part is the whole
  Placement within = *this;
  within.source = within.resized = part.size;
  within.y -= static_cast<int32_t>(part.y);
  within.x -= static_cast<int32_t>(part.x);
  return within;
}

std::string VariantKey(std::string_view key, uint32_t variant) {
  std::string text(key);
  if (variant > 0) text += "#v" + std::to_string(variant);
  return text;
}

bool RecordsDependOnSize(const GeometryOptions& options) {
  return options.crop.has_value() &&
         (options.crop_mode == CropMode::kCorners || options.crop_mode == CropMode::kTile);
}

uint64_t CountRecords(const GeometryOptions& options, ImageSize source) {
  const ImageSize image = options.resize ? options.resize->Apply(source) : source;
  return CountWindows(options, image) * RecordsPerWindow(options);
}

Result<std::vector<Placement>> PlaceRecords(const GeometryOptions& options, ImageSize source,
                                            std::string_view key) {
  Placement placement;
  placement.source = source;
  placement.resized = options.resize ? options.resize->Apply(source) : source;
  placement.window = options.crop.value_or(placement.resized);
  const uint64_t count = CountRecords(options, source);
  if (count > kMaxRecordsPerSource) {
    return DataLossError("an image of " + DescribeImageSize(placement.resized) + " gives " +
                         FormatCount(count) + " records of " + DescribeImageSize(placement.window) +
                         "; at most " + FormatCount(kMaxRecordsPerSource) +
                         " are made of one image");
  }
  if (options.augment.copies > 0 &&
      std::max(placement.resized.height, placement.resized.width) > kMaxImageSide) {
    return DataLossError("an image with a side of more than " + FormatCount(kMaxImageSide) +
                         " pixels cannot be augmented");
  }
  const Offsets fixed = FixedOffsets(options, placement.resized, placement.window);
  std::vector<Placement> placements(count, placement);
  for (uint32_t variant = 0; variant < count; ++variant) {
    const uint32_t window = variant / RecordsPerWindow(options);
    placements[variant].variant = variant;
    Draw(options, key, 0, fixed[std::min<size_t>(window, fixed.size() - 1)], &placements[variant]);
  }
  return placements;
}

Placement PlaceAgain(const GeometryOptions& options, const Placement& placement,
                     std::string_view key, uint32_t attempt) {
  const Offsets fixed = FixedOffsets(options, placement.resized, placement.window);
  const uint32_t window = placement.variant / RecordsPerWindow(options);
  Placement again = placement;
  Draw(options, key, attempt, fixed[std::min<size_t>(window, fixed.size() - 1)], &again);
  return again;
}

Region VisibleInAny(const std::vector<Placement>& placements) {
  uint32_t top = UINT32_MAX, left = UINT32_MAX, bottom = 0, right = 0;
  for (const Placement& placement : placements) {
    const Region visible = placement.Visible();
    if (visible.size.pixels() == 0) continue;
    top = std::min(top, visible.y);
    left = std::min(left, visible.x);
    bottom = std::max(bottom, visible.y + visible.size.height);
    right = std::max(right, visible.x + visible.size.width);
  }
  if (bottom == 0) return {};
  return {top, left, {bottom - top, right - left}};
}

}  // namespace shardmill
