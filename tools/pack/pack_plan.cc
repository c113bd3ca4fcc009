#include "tools/pack/pack_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "reader/base/version.h"
#include "reader/names.h"
#include "reader/serialize.h"
#include "reader/shard_format.h"
#include "tools/pack/labels/value_map.h"
#include "tools/pack/set_options.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

// What a record takes beside its fields and names (checksums, offsets, metadata), a shard for its
// summary, and a class in that; no less than they need.
constexpr uint64_t kRecordOverheadBytes = 512, kSummaryBytes = 4096, kClassSummaryBytes = 64;
constexpr uint32_t kPaddingU8 = 255, kPaddingU16 = 65535;

std::string_view OrderName(DiskOrder order) {
  switch (order) {
    case DiskOrder::kShuffled:
      return "shuffled";
    case DiskOrder::kSorted:
      return "sorted";
    case DiskOrder::kByDefault:
      break;
  }
  return "train shuffled, others sorted";
}

// The ignore value of the records: the files' own, or where records may need padding, or have no
// label, one that no class has.
std::optional<uint32_t> RecordIgnore(const InputSet& set, const PackOptions& options) {
  if (set.task == Task::kClassification) return std::nullopt;
  const auto is_unlabelled = [](const InputSplit& split) {
    return !split.samples.empty() && split.samples.front().label.path.empty();
  };
  const bool needs_one = options.crop.has_value() || options.augment.copies > 0 || options.bands ||
                         std::any_of(set.splits.begin(), set.splits.end(), is_unlabelled);
  if (set.labels.ignore.has_value() || !needs_one) return set.labels.ignore;
  return set.classes.size() <= kPaddingU8 ? kPaddingU8 : kPaddingU16;
}

DType IdType(const RecordSchema& schema) {
  uint64_t largest = schema.classes.empty() ? 0 : schema.classes.size() - 1;
  largest = std::max<uint64_t>(largest, schema.ignore.value_or(0));
  return largest <= 255 ? DType::kU8 : DType::kU16;
}

// Height and width of a record; both vary where the set has no size.
std::vector<int64_t> Sides(ImageSize window) {
  if (window.pixels() == 0) return {kVariableDim, kVariableDim};
  return {window.height, window.width};
}

FieldSpec ImageField(ImageSize window, const PackOptions& options, const RasterForm& raster) {
  FieldSpec field;
  field.name = "image";
  field.dtype = options.bands ? raster.dtype : options.image_type;
  field.shape = Sides(window);
  field.shape.push_back(options.bands ? raster.bands : 3);
  field.codec = options.image_codec.codec;
  field.role = Role::kImage;
  return field;
}

FieldSpec ArrayField(const ArrayForm& form, Codec codec) {
  FieldSpec field;
  field.name = "features";
  field.dtype = form.dtype;
  field.shape = form.shape;
  field.codec = codec;
  return field;
}

FieldSpec LabelField(Task task, ImageSize window, int64_t classes, DType id_type,
                     const PackOptions& options) {
  FieldSpec field;
  field.name = "label";
  field.encoding = options.label_encoding;
  field.role = task == Task::kSegmentation ? Role::kClassMap : Role::kClassId;
  field.dtype = options.label_encoding == LabelEncoding::kIndex ? id_type : DType::kU8;
  if (task == Task::kSegmentation) field.shape = Sides(window);
  // A class id takes a byte or two: nothing to compress.
  field.codec = task == Task::kSegmentation ? options.label_codec.codec : Codec::kRaw;
  switch (options.label_encoding) {
    case LabelEncoding::kOneHotBits:
      field.shape.push_back((classes + 7) / 8);
      break;
    case LabelEncoding::kOneHotBytes:
      field.shape.push_back(classes);
      break;
    default:
      if (task == Task::kClassification) field.shape = {1};
      break;
  }
  return field;
}

// Ties shards to the class table they were made with.
std::string ClassTableDigest(const RecordSchema& schema) {
  proto::ShardSchema message;
  RecordSchemaToProto(schema, &message);
  message.clear_fields();
  return DigestToHex(Digest128(SerializeDeterministic(message)));
}

std::string_view PaletteName(PaletteReading palette) {
  return palette == PaletteReading::kIndex   ? "index"
         : palette == PaletteReading::kColor ? "color"
                                             : "auto";
}

std::string_view GrayName(GrayReading gray) {
  return gray == GrayReading::kValue ? "value" : gray == GrayReading::kColor ? "color" : "auto";
}

proto::Recipe MakeRecipe(const PackOptions& options, const std::string& layout,
                         const LabelRules& labels, const RecordSchema& schema) {
  auto size = [](const std::optional<ImageSize>& value) {
    return value.has_value() ? FormatImageSize(*value) : "none";
  };
  const bool augmented = options.augment.copies > 0;
  const SplitRule& split_rule = options.split_rule;
  const std::pair<std::string, std::string> values[] = {
      {"augment", std::to_string(options.augment.copies)},
      {"augment-with", augmented ? FormatAugments(options.augment) : "none"},
      {"bands", options.bands ? FormatBands(options.bands->bands) : "none"},
      {"block-size", FormatBytesFlag(options.block_bytes)},
      {"class-table", ClassTableDigest(schema)},
      {"crop", size(options.crop)},
      {"crop-mode", options.crop ? std::string(CropModeName(options.crop_mode)) : "none"},
      {"eval-crop-mode", options.crop ? std::string(CropModeName(options.eval_crop_mode)) : "none"},
      {"fast-resize", options.fast_resize ? "yes" : "no"},
      {"gray", std::string(GrayName(labels.gray))},
      {"group-pattern", split_rule.by == SplitRule::By::kGroup ? split_rule.group_pattern : "none"},
      {"ignore", schema.ignore ? std::to_string(*schema.ignore) : "none"},
      {"image-codec", FormatCodecChoice(options.image_codec)},
      {"label-codec", FormatCodecChoice(options.label_codec)},
      {"label-tolerance", labels.tolerance ? std::to_string(*labels.tolerance) : "none"},
      {"map", labels.map ? FormatValueMap(*labels.map) : "none"},
      {"max-ignore", FormatThousandths(options.max_ignore_permille)},
      {"no-data",
       options.bands && options.bands->no_data ? std::to_string(*options.bands->no_data) : "none"},
      {"one-hot", options.label_encoding == LabelEncoding::kOneHotBits    ? "bits"
                  : options.label_encoding == LabelEncoding::kOneHotBytes ? "bytes"
                                                                          : "none"},
      {"order", std::string(OrderName(options.order))},
      {"orientation", "applied"},
      {"pad-value", std::to_string(options.pad_value)},
      {"palette", std::string(PaletteName(labels.palette))},
      {"resize", options.resize ? FormatResize(*options.resize) : "none"},
      {"seed", std::to_string(options.seed)},
      {"shard-size", FormatBytesFlag(options.shard_bytes)},
      {"small-images", options.small_images == SmallImages::kPad ? "pad" : "refuse"},
      {"split", split_rule.shares.empty() ? "none" : FormatShares(split_rule.shares)},
      {"split-balanced", split_rule.balanced ? "yes" : "no"},
      {"split-by", std::string(SplitByName(split_rule.by))},
      {"tile-overlap", std::to_string(options.tile_overlap)},
      {"variants", std::to_string(options.variants)},
  };
  proto::Recipe recipe;
  recipe.set_tool_version(std::string(kVersion));
  recipe.set_layout(layout);
  for (const auto& [name, value] : values) {
    // A type that is not the usual one comes at its place in the order of names.
    if (name == "label-codec" && options.image_type != DType::kU8) {
      proto::Recipe::Option* type = recipe.add_options();
      type->set_name("image-type");
      type->set_value(std::string(DTypeName(options.image_type)));
    }
    proto::Recipe::Option* option = recipe.add_options();
    option->set_name(name);
    option->set_value(value);
  }
  return recipe;
}

void AddNumber(uint64_t number, DigestStream* digest) {
  uint8_t bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(number >> (8 * i));
  digest->Update(bytes, sizeof bytes);
}

void AddText(std::string_view text, DigestStream* digest) {
  AddNumber(text.size(), digest);
  digest->Update(text);
}

// Of the recipe and the sorted list of inputs; every length is part of it, so that no two lists
// give the same bytes. A key does not tell which label belongs to its image: a list or an option
// does.
Digest DatasetId(const proto::Recipe& recipe, const InputSet& set) {
  DigestStream digest;
  AddText(SerializeDeterministic(recipe), &digest);
  for (const InputSplit& split : set.splits) {
    AddText(split.name, &digest);
    AddNumber(split.samples.size(), &digest);
    for (const Sample& sample : split.samples) {
      AddText(sample.key, &digest);
      AddNumber(sample.image.bytes, &digest);
      AddText(sample.label.path, &digest);
      AddNumber(sample.label.bytes, &digest);
      AddNumber(sample.class_id, &digest);
    }
    AddNumber(split.problems.size(), &digest);
    for (const Problem& problem : split.problems) AddText(problem.key, &digest);
  }
  AddNumber(set.labels.parts_files.size(), &digest);
  for (const SourceFile& file : set.labels.parts_files) {
    AddText(file.path, &digest);
    AddNumber(file.bytes, &digest);
  }
  return digest.Value();
}

void Shuffle(uint64_t seed, const std::string& split, std::vector<Sample>* samples) {
  RandomStream random(MixBits(seed) ^ Checksum64(split.data(), split.size()));
  for (uint64_t i = samples->size(); i > 1; --i) {
    std::swap((*samples)[i - 1], (*samples)[random.Below(i)]);
  }
}

// Bytes of a record of the field; `pixels` counts where its sides vary.
Result<uint64_t> RecordBytes(const FieldSpec& field, uint64_t pixels) {
  if (field.IsFixedShape()) return field.TensorBytes(std::vector<uint32_t>());
  ASSIGN_OR_RETURN(const uint64_t pixel_bytes, field.TensorBytes({1, 1}));
  return pixel_bytes * std::max<uint64_t>(1, pixels);
}

// Inputs per shard, from what an input gives on average.
uint64_t InputsPerShard(const PackOptions& options, const SplitPlan& split, uint64_t record_bytes) {
  const uint64_t inputs = std::max<uint64_t>(1, split.samples.size());
  const uint64_t records = std::max(inputs, split.expected_records);
  const unsigned __int128 split_bytes = static_cast<unsigned __int128>(records) * record_bytes;
  const unsigned __int128 wanted =
      static_cast<unsigned __int128>(options.shard_bytes) * inputs / split_bytes;
  const auto per_shard = static_cast<uint64_t>(std::min<unsigned __int128>(wanted, inputs));
  // The shards grow when there would be more of them than a split may have.
  return std::max<uint64_t>({1, per_shard, (inputs + kMaxShards - 1) / kMaxShards});
}

SplitPlan PlanSplit(InputSplit split, const PackOptions& options, uint64_t record_bytes,
                    std::optional<uint64_t> records) {
  SplitPlan plan;
  const bool train = split.name == "train";
  plan.name = split.name;
  plan.samples = std::move(split.samples);
  plan.problems = std::move(split.problems);
  plan.geometry = SplitGeometry(options, plan.name);
  const bool shuffled =
      options.order == DiskOrder::kShuffled || (options.order == DiskOrder::kByDefault && train);
  if (shuffled) Shuffle(options.seed, plan.name, &plan.samples);
  const uint64_t inputs = plan.samples.size();
  plan.expected_records = records.value_or(inputs * CountRecords(plan.geometry, {}));
  plan.inputs_per_shard = InputsPerShard(options, plan, record_bytes);
  plan.shard_count = static_cast<uint32_t>(
      std::max<uint64_t>(1, (inputs + plan.inputs_per_shard - 1) / plan.inputs_per_shard));
  return plan;
}

// No more than a shard will hold.
uint32_t RecordsPerBlock(const PackOptions& options, const PackPlan& plan) {
  const uint64_t per_block = std::max<uint64_t>(1, options.block_bytes / plan.record_bytes);
  uint64_t per_shard = 1;
  for (const SplitPlan& split : plan.splits) {
    const uint64_t per_input = split.expected_records / split.samples.size() + 1;
    per_shard = std::max(per_shard, split.inputs_per_shard * per_input);
  }
  return static_cast<uint32_t>(std::min<uint64_t>({per_block, per_shard, uint64_t{1} << 20}));
}

}  // namespace

uint64_t PackPlan::inputs() const {
  uint64_t count = 0;
  for (const SplitPlan& split : splits) count += split.samples.size() + split.problems.size();
  return count;
}

uint64_t PackPlan::source_bytes() const {
  uint64_t bytes = 0;
  for (const SplitPlan& split : splits) {
    for (const Sample& sample : split.samples) {
      bytes += (sample.image_is_embedded ? 0 : sample.image.bytes) + sample.label.bytes;
    }
  }
  return bytes;
}

std::vector<PlannedShard> PackPlan::AllShards() const {
  std::vector<PlannedShard> shards;
  for (uint32_t split = 0; split < splits.size(); ++split) {
    for (uint32_t k = 0; k < splits[split].shard_count; ++k) shards.push_back({split, k});
  }
  return shards;
}

ShardPlan PackPlan::ShardPlanOf(const PlannedShard& shard) const {
  const SplitPlan& split = splits[shard.split];
  ShardPlan plan;
  plan.split = split.name;
  plan.shard_number = shard.number;
  plan.shard_count = split.shard_count;
  plan.first_input = split.ShardBegin(shard.number);
  plan.end_input = split.ShardEnd(shard.number);
  plan.records_per_block = records_per_block;
  plan.dataset_id = dataset_id;
  return plan;
}

std::string PackPlan::FileNameOf(const PlannedShard& shard) const {
  const SplitPlan& split = splits[shard.split];
  return ShardFileName(split.name, shard.number, split.shard_count);
}

uint64_t PackPlan::InputsOf(const PlannedShard& shard) const {
  const SplitPlan& split = splits[shard.split];
  const uint64_t problems = shard.number == 0 ? split.problems.size() : 0;
  return problems + split.ShardEnd(shard.number) - split.ShardBegin(shard.number);
}

proto::ShardSchema PackPlan::SchemaOf(const SplitPlan& split) const {
  proto::ShardSchema message;
  message.set_split(split.name);
  RecordSchemaToProto(schema, &message);
  *message.mutable_recipe() = recipe;
  return message;
}

uint64_t PackPlan::most_bytes() const {
  uint64_t bytes = 0;
  for (const SplitPlan& split : splits) {
    uint64_t names = 0;  // of the inputs, in all their records
    for (const Sample& sample : split.samples) {
      names += sample.key.size() + sample.image.path.size() + sample.label.path.size();
    }
    const uint64_t inputs = std::max<uint64_t>(1, split.samples.size());
    const uint64_t per_input = (split.expected_records + inputs - 1) / inputs;
    const uint64_t blocks =
        split.expected_records / records_per_block + split.shard_count;  // the last are not full
    const uint64_t parts = schema.fields.size() + 2;  // header, regions, metadata: each is padded
    bytes += split.expected_records * (record_bytes + kRecordOverheadBytes) + names * per_input;
    bytes += blocks * (parts * kAlignment + kBlockTableEntryBytes);
    bytes +=
        split.shard_count * (kSmallestShardBytes + PaddedBytes(SchemaOf(split).ByteSizeLong()) +
                             kSummaryBytes + schema.classes.size() * kClassSummaryBytes);
  }
  return bytes;
}

uint64_t PackPlan::expected_records() const {
  uint64_t count = 0;
  for (const SplitPlan& split : splits) count += split.expected_records;
  return count;
}

GeometryOptions SplitGeometry(const PackOptions& options, const std::string& split) {
  const bool train = split == "train";
  GeometryOptions geometry;
  geometry.resize = options.resize;
  geometry.crop = options.crop;
  geometry.crop_mode = train ? options.crop_mode : options.eval_crop_mode;
  geometry.variants = train ? options.variants : 1;
  geometry.tile_overlap = options.tile_overlap;
  if (train) {
    geometry.augment = options.augment;
    geometry.max_ignore_permille = options.max_ignore_permille;
  }
  geometry.seed = options.seed;
  return geometry;
}

Result<PackPlan> MakePlan(InputSet set, const PackOptions& options, const SetSizes& sizes) {
  RETURN_IF_ERROR(CheckSetOptions(set, options));
  PackPlan plan;
  plan.root = set.root;
  plan.task = set.task;
  plan.labels = set.labels;
  plan.raster = sizes.raster;
  plan.faulty = sizes.faulty;
  plan.window = sizes.window;
  plan.sizes = sizes.sizes;
  if (options.resize && options.resize->kind == ResizeRule::Kind::kExact) {
    plan.window = options.resize->size;
  }
  if (options.crop.has_value()) plan.window = *options.crop;
  plan.schema.classes = set.classes;
  plan.schema.ignore = RecordIgnore(set, options);
  plan.label_dtype = IdType(plan.schema);
  plan.holds_arrays = set.holds_arrays;
  if (sizes.array.has_value()) plan.sizes = sizes.array->sizes;
  plan.schema.fields = {sizes.array ? ArrayField(*sizes.array, options.image_codec.codec)
                                    : ImageField(plan.window, options, sizes.raster),
                        LabelField(set.task, plan.window, static_cast<int64_t>(set.classes.size()),
                                   plan.label_dtype, options)};
  for (const FieldSpec& field : plan.schema.fields) {
    if (field.role == Role::kTensor) continue;
    ASSIGN_OR_RETURN(const uint64_t mean, RecordBytes(field, sizes.mean_pixels));
    ASSIGN_OR_RETURN(const uint64_t largest, RecordBytes(field, sizes.largest_pixels));
    plan.record_bytes += mean;
    plan.largest_record_bytes += largest;
  }
  if (sizes.array.has_value()) {
    plan.record_bytes += sizes.array->mean_bytes;
    plan.largest_record_bytes += sizes.array->largest_bytes;
  }
  plan.recipe = MakeRecipe(options, set.layout, plan.labels, plan.schema);
  plan.dataset_id = DatasetId(plan.recipe, set);
  SHARDMILL_CHECK(sizes.records.empty() || sizes.records.size() == set.splits.size());
  for (size_t i = 0; i < set.splits.size(); ++i) {
    InputSplit& split = set.splits[i];
    if (split.samples.empty()) {
      return InvalidArgumentError(
          "split " + split.name + " has " + std::to_string(split.problems.size()) +
          " inputs and none that can be packed; the first: " + split.problems.front().key + ": " +
          split.problems.front().reason);
    }
    const auto records =
        sizes.records.empty() ? std::nullopt : std::optional<uint64_t>(sizes.records[i]);
    plan.splits.push_back(PlanSplit(std::move(split), options, plan.record_bytes, records));
  }
  plan.records_per_block = RecordsPerBlock(options, plan);
  return plan;
}

}  // namespace shardmill
