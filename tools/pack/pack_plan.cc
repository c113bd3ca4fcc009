#include "tools/pack/pack_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "reader/base/version.h"
#include "reader/names.h"
#include "reader/serialize.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

constexpr uint32_t kPaddingU8 = 255, kPaddingU16 = 65535;

std::string_view CropModeName(CropMode mode) {
  return mode == CropMode::kRandom ? "random" : "center";
}

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

// The ignore value of the records: the files' own, or where a crop may need padding one that no
// class has.
std::optional<uint32_t> RecordIgnore(const InputSet& set, const PackOptions& options) {
  if (set.task == Task::kClassification) return std::nullopt;
  if (set.ignore.has_value() || !options.crop.has_value()) return set.ignore;
  return set.classes.size() <= kPaddingU8 ? kPaddingU8 : kPaddingU16;
}

DType IdType(const RecordSchema& schema) {
  uint64_t largest = schema.classes.empty() ? 0 : schema.classes.size() - 1;
  largest = std::max<uint64_t>(largest, schema.ignore.value_or(0));
  return largest <= 255 ? DType::kU8 : DType::kU16;
}

FieldSpec ImageField(ImageSize window, Codec codec) {
  FieldSpec field;
  field.name = "image";
  field.shape = {window.height, window.width, 3};
  field.codec = codec;
  field.role = Role::kImage;
  return field;
}

FieldSpec LabelField(Task task, ImageSize window, int64_t classes, DType id_type,
                     const PackOptions& options) {
  FieldSpec field;
  field.name = "label";
  field.encoding = options.label_encoding;
  field.role = task == Task::kSegmentation ? Role::kClassMap : Role::kClassId;
  field.dtype = options.label_encoding == LabelEncoding::kIndex ? id_type : DType::kU8;
  if (task == Task::kSegmentation) field.shape = {window.height, window.width};
  // A class id takes a byte or two: nothing to compress.
  field.codec = task == Task::kSegmentation ? options.label_codec : Codec::kRaw;
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

proto::Recipe MakeRecipe(const PackOptions& options, const std::string& layout,
                         const RecordSchema& schema) {
  auto size = [](const std::optional<ImageSize>& value) {
    return value.has_value() ? FormatImageSize(*value) : "none";
  };
  const std::pair<std::string, std::string> values[] = {
      {"block-size", FormatBytesFlag(options.block_bytes)},
      {"class-table", ClassTableDigest(schema)},
      {"crop", size(options.crop)},
      {"crop-mode", options.crop ? std::string(CropModeName(options.crop_mode)) : "none"},
      {"eval-crop-mode", options.crop ? std::string(CropModeName(options.eval_crop_mode)) : "none"},
      {"ignore", schema.ignore ? std::to_string(*schema.ignore) : "none"},
      {"image-codec", std::string(CodecName(options.image_codec))},
      {"label-codec", std::string(CodecName(options.label_codec))},
      {"one-hot", options.label_encoding == LabelEncoding::kOneHotBits    ? "bits"
                  : options.label_encoding == LabelEncoding::kOneHotBytes ? "bytes"
                                                                          : "none"},
      {"order", std::string(OrderName(options.order))},
      {"pad-value", std::to_string(options.pad_value)},
      {"resize", size(options.resize)},
      {"seed", std::to_string(options.seed)},
      {"shard-size", FormatBytesFlag(options.shard_bytes)},
  };
  proto::Recipe recipe;
  recipe.set_tool_version(std::string(kVersion));
  recipe.set_layout(layout);
  for (const auto& [name, value] : values) {
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
// give the same bytes.
Digest DatasetId(const proto::Recipe& recipe, const InputSet& set) {
  DigestStream digest;
  AddText(SerializeDeterministic(recipe), &digest);
  for (const InputSplit& split : set.splits) {
    AddText(split.name, &digest);
    AddNumber(split.samples.size(), &digest);
    for (const Sample& sample : split.samples) {
      AddText(sample.key, &digest);
      AddNumber(sample.image.bytes, &digest);
      AddNumber(sample.label.bytes, &digest);
      AddNumber(sample.class_id, &digest);
    }
    AddNumber(split.problems.size(), &digest);
    for (const Problem& problem : split.problems) AddText(problem.key, &digest);
  }
  return digest.Value();
}

void Shuffle(uint64_t seed, const std::string& split, std::vector<Sample>* samples) {
  RandomStream random(MixBits(seed) ^ Checksum64(split.data(), split.size()));
  for (uint64_t i = samples->size(); i > 1; --i) {
    std::swap((*samples)[i - 1], (*samples)[random.Below(i)]);
  }
}

SplitPlan PlanSplit(InputSplit split, const PackOptions& options, uint64_t record_bytes) {
  SplitPlan plan;
  const bool train = split.name == "train";
  plan.name = split.name;
  plan.samples = std::move(split.samples);
  plan.problems = std::move(split.problems);
  plan.geometry = {options.resize, options.crop, train ? options.crop_mode : options.eval_crop_mode,
                   options.seed};
  const bool shuffled =
      options.order == DiskOrder::kShuffled || (options.order == DiskOrder::kByDefault && train);
  if (shuffled) Shuffle(options.seed, plan.name, &plan.samples);
  const uint64_t inputs = plan.samples.size();
  // The shards grow when there would be more of them than a split may have.
  plan.inputs_per_shard = std::max<uint64_t>(
      {1, options.shard_bytes / record_bytes, (inputs + kMaxShards - 1) / kMaxShards});
  plan.shard_count = static_cast<uint32_t>(
      std::max<uint64_t>(1, (inputs + plan.inputs_per_shard - 1) / plan.inputs_per_shard));
  return plan;
}

Status CheckOptions(const InputSet& set, const PackOptions& options) {
  if (set.classes.empty()) return InvalidArgumentError("the class table is empty");
  if (set.task == Task::kClassification && set.ignore.has_value()) {
    return InvalidArgumentError("--ignore is for label images; layout " + set.layout +
                                " has a class per image");
  }
  if (options.shard_bytes == 0 || options.block_bytes == 0) {
    return InvalidArgumentError("--shard-size and --block-size must be more than 0");
  }
  return OkStatus();
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
    for (const Sample& sample : split.samples) bytes += sample.image.bytes + sample.label.bytes;
  }
  return bytes;
}

Result<PackPlan> MakePlan(InputSet set, const PackOptions& options, ImageSize set_size) {
  RETURN_IF_ERROR(CheckOptions(set, options));
  PackPlan plan;
  plan.root = set.root;
  plan.task = set.task;
  plan.colors_in_files = set.colors_in_files;
  plan.ignore_in_files = set.ignore;
  plan.window = options.crop.value_or(options.resize.value_or(set_size));
  plan.schema.classes = set.classes;
  plan.schema.ignore = RecordIgnore(set, options);
  plan.label_dtype = IdType(plan.schema);
  plan.schema.fields = {ImageField(plan.window, options.image_codec),
                        LabelField(set.task, plan.window, static_cast<int64_t>(set.classes.size()),
                                   plan.label_dtype, options)};
  for (const FieldSpec& field : plan.schema.fields) {
    ASSIGN_OR_RETURN(uint64_t bytes, field.TensorBytes({}));
    plan.record_bytes += bytes;
  }
  plan.recipe = MakeRecipe(options, set.layout, plan.schema);
  plan.dataset_id = DatasetId(plan.recipe, set);
  for (InputSplit& split : set.splits) {
    if (split.samples.empty()) {
      return InvalidArgumentError(
          "split " + split.name + " has " + std::to_string(split.problems.size()) +
          " inputs and none that can be packed; the first: " + split.problems.front().key + ": " +
          split.problems.front().reason);
    }
    plan.splits.push_back(PlanSplit(std::move(split), options, plan.record_bytes));
  }
  uint64_t per_shard = 1;
  for (const SplitPlan& split : plan.splits)
    per_shard = std::max(per_shard, split.inputs_per_shard);
  const uint64_t per_block = std::max<uint64_t>(1, options.block_bytes / plan.record_bytes);
  plan.records_per_block =
      static_cast<uint32_t>(std::min<uint64_t>({per_block, per_shard, uint64_t{1} << 20}));
  return plan;
}

}  // namespace shardmill
