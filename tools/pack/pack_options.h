// What `shardmill pack` was asked to do. Plain data; the defaults are those of the command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reader/schema.h"
#include "tools/pack/geometry/placement.h"
#include "tools/pack/inputs/split_plan.h"
#include "tools/pack/layouts/layout.h"
#include "tools/pack/records/codec_choice.h"
#include "tools/pack/records/raster.h"

namespace shardmill {

enum class DiskOrder {
  kByDefault,  // train shuffled, other splits sorted
  kShuffled,
  kSorted,
};

// What happens to inputs that cannot be packed.
struct ErrorPolicy {
  bool skip = false;  // false: the first one ends the pack
  // With `skip`: more than so many change the exit code, and keep a set from being replaced. Not
  // given: one changes the exit code, and any number of them replaces a set.
  std::optional<uint64_t> limit = {};

  uint64_t allowed() const { return limit.value_or(0); }
};

// Images that are smaller than the crop, on one side or both.
enum class SmallImages {
  kPad,
  kRefuse,  // an error of that input
};

// Shards `first` to `last` of a plan, numbered through all splits.
struct ShardSlice {
  uint64_t first = 0, last = 0;
};

struct PackOptions {
  std::string source;
  std::string output;
  LayoutOptions layout;
  SplitRule split_rule;

  std::optional<ResizeRule> resize;
  std::optional<ImageSize> crop;
  CropMode crop_mode = CropMode::kCenter;  // of train
  CropMode eval_crop_mode = CropMode::kCenter;
  uint32_t variants = 1;      // of each image of train, with CropMode::kRandom
  uint32_t tile_overlap = 0;  // pixels
  SmallImages small_images = SmallImages::kPad;
  bool fast_resize = false;             // JPEG files are decoded at a fraction of their size first
  AugmentOptions augment;               // of train
  uint32_t max_ignore_permille = 1000;  // of the windows of train; 1000: any
  LabelEncoding label_encoding = LabelEncoding::kIndex;
  DType image_type = DType::kU8;  // or kU16
  CodecChoice image_codec = Codec::kRaw;
  CodecChoice label_codec = Codec::kZstd;
  DiskOrder order = DiskOrder::kByDefault;
  uint64_t seed = 1;
  uint8_t pad_value = 0;             // of images
  std::optional<BandOptions> bands;  // store TIFF rasters as they are, not as RGB

  ErrorPolicy on_error;
  uint64_t max_pixels = uint64_t{1} << 28;     // of a source image
  uint64_t shard_bytes = uint64_t{512} << 20;  // targets, of uncompressed records
  uint64_t block_bytes = uint64_t{16} << 20;

  int jobs = 0;  // 0: all CPUs
  bool dry_run = false;
  bool overwrite = false;
  std::optional<ShardSlice> slice;  // only these shards, and no manifest
  bool finish = false;              // only the manifest, of shards that are there
  bool quiet = false;
};

}  // namespace shardmill
