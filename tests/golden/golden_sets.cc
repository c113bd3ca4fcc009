#include "tests/golden/golden_sets.h"

#include <jpeglib.h>  // NOLINT: after <cstdio> and <cstddef>, which the headers above bring
#include <zstd.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/checksum.h"
#include "reader/base/little_endian.h"
#include "reader/codec.h"
#include "reader/manifest.h"
#include "reader/serialize.h"
#include "reader/zstd_dictionary.h"
#include "tests/tools/pack/decode/jpeg_builder.h"

namespace shardmill {
namespace {

constexpr unsigned kZstdVersion = 10504;
constexpr int kJpegTurboVersion = 2001005;

// A number that looks random and is easy to compute by hand.
uint64_t Pattern(uint64_t record, uint64_t field, uint64_t element) {
  return 101 * record + 37 * field + 7 * element * element + 3 * element;
}

// Half precision of quarters from -8 to 7.75: all of them are exact.
uint16_t HalfBits(double value) {
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);  // 0.5 … 1
  const auto mantissa = static_cast<uint16_t>(std::lround((fraction * 2 - 1) * 1024));
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | ((exponent + 14) << 10) | mantissa);
}

void AppendElement(DType dtype, uint64_t pattern, std::vector<uint8_t>* out) {
  uint8_t bytes[8] = {};
  switch (dtype) {
    case DType::kU8:
      bytes[0] = static_cast<uint8_t>(pattern % 251);
      break;
    case DType::kU16:
      StoreU32(static_cast<uint32_t>(pattern * 257 % 65521), bytes);
      break;
    case DType::kI32:
      StoreU32(static_cast<uint32_t>(static_cast<int32_t>(pattern * 65537 % 4000000) - 2000000),
               bytes);
      break;
    case DType::kI64:
      StoreU64(static_cast<uint64_t>(static_cast<int64_t>(pattern % 1000) - 500) * 10000000019u,
               bytes);
      break;
    case DType::kF16:
      StoreU32(HalfBits((static_cast<double>(pattern % 64) - 32) / 4), bytes);
      break;
    case DType::kF32: {
      const float value = static_cast<float>(static_cast<int>(pattern % 1000) - 500) / 8;
      std::memcpy(bytes, &value, sizeof value);
      break;
    }
  }
  out->insert(out->end(), bytes, bytes + DTypeBytes(dtype));
}

GoldenField PatternField(const FieldSpec& spec, uint64_t record, uint64_t number,
                         std::vector<uint32_t> dims = {}) {
  GoldenField field;
  const uint64_t elements = *spec.TensorBytes(dims) / DTypeBytes(spec.dtype);
  for (uint64_t i = 0; i < elements; ++i) {
    AppendElement(spec.dtype, Pattern(record, number, i), &field.tensor);
  }
  field.variable_dims = std::move(dims);
  return field;
}

std::string Key(uint64_t record) { return "train/" + std::to_string(record) + ".png"; }

std::vector<ClassInfo> Classes(uint32_t count) {
  std::vector<ClassInfo> classes;
  for (uint32_t id = 0; id < count; ++id) {
    classes.push_back({id, "class " + std::to_string(id), id % 250 * 0x010101});
  }
  return classes;
}

// Runs of equal ids, as labels have; every eleventh pixel is of no class.
uint32_t LabelAt(uint64_t record, uint64_t pixel, uint32_t classes) {
  const uint64_t place = record * 5 + pixel;
  return place % 11 == 10 ? classes : static_cast<uint32_t>(place / 3 % classes);
}

// Every type raw, with fixed and varying dimensions (one of them 0); a shard without records;
// skipped inputs.
GoldenSet Raw() {
  GoldenSet set;
  set.name = "raw";
  set.records_per_block = 4;
  for (const DType dtype :
       {DType::kU8, DType::kU16, DType::kI32, DType::kI64, DType::kF16, DType::kF32}) {
    set.schema.fields.push_back({std::string(DTypeName(dtype)), dtype, {2, 3}});
  }
  set.schema.fields.push_back({"sequence", DType::kF32, {kVariableDim, 2}});
  set.schema.fields.push_back({"ragged", DType::kI32, {kVariableDim, 2, kVariableDim}});
  set.shards.resize(2);
  set.shards[0].end_input = 4;
  set.shards[0].skipped = {"train/broken.png"};
  for (uint32_t r = 0; r < 3; ++r) {
    GoldenRecord record{Key(r), 0, 0, {}};
    for (uint64_t f = 0; f < 6; ++f) {
      record.fields.push_back(PatternField(set.schema.fields[f], r, f));
    }
    record.fields.push_back(PatternField(set.schema.fields[6], r, 6, {2 - r}));
    record.fields.push_back(PatternField(set.schema.fields[7], r, 7, {r, 3 - r}));
    set.shards[0].records.push_back(std::move(record));
  }
  set.shards[1].end_input = 6;
  set.shards[1].skipped = {"train/cut.png", "train/empty.png"};
  return set;
}

// Image and label as the packer stores them, in two blocks, with padding.
GoldenSet Segmentation() {
  GoldenSet set;
  set.name = "segmentation";
  set.uses_zstd = true;
  set.schema.classes = Classes(3);
  set.schema.ignore = 255;
  set.schema.fields = {
      {"image", DType::kU8, {8, 10, 3}, Codec::kRaw, Role::kImage},
      {"label", DType::kU8, {8, 10}, Codec::kZstd, Role::kClassMap, LabelEncoding::kIndex}};
  set.shards.resize(1);
  set.shards[0].end_input = 3;
  for (uint64_t r = 0; r < 3; ++r) {
    GoldenRecord record{Key(r), static_cast<int32_t>(r) * 16 - 4, -2, {}};
    record.fields.push_back(PatternField(set.schema.fields[0], r, 0));
    GoldenField label;
    for (uint64_t i = 0; i < 80; ++i) {
      const uint32_t id = LabelAt(r, i, 3);
      label.tensor.push_back(id == 3 ? 255 : static_cast<uint8_t>(id));
    }
    record.fields.push_back(std::move(label));
    set.shards[0].records.push_back(std::move(record));
  }
  return set;
}

// Label maps as bits and as bytes, and ids of whole images in three forms.
GoldenSet OneHot() {
  constexpr uint32_t kClasses = 11;
  GoldenSet set;
  set.name = "one-hot";
  set.uses_zstd = true;
  set.schema.classes = Classes(kClasses);
  set.schema.fields = {
      {"bits", DType::kU8, {4, 5, 2}, Codec::kZstd, Role::kClassMap, LabelEncoding::kOneHotBits},
      {"bytes", DType::kU8, {4, 5, 11}, Codec::kRaw, Role::kClassMap, LabelEncoding::kOneHotBytes},
      {"id", DType::kU8, {1}, Codec::kRaw, Role::kClassId, LabelEncoding::kIndex},
      {"id-bits", DType::kU8, {2}, Codec::kRaw, Role::kClassId, LabelEncoding::kOneHotBits},
      {"id-bytes", DType::kU8, {11}, Codec::kRaw, Role::kClassId, LabelEncoding::kOneHotBytes}};
  set.shards.resize(1);
  set.shards[0].end_input = 2;
  const auto add = [](uint32_t id, GoldenField* bits, GoldenField* bytes) {
    for (uint32_t k = 0; k < 16; k += 8) {
      bits->tensor.push_back(id / 8 == k / 8 && id < kClasses ? static_cast<uint8_t>(1 << id % 8)
                                                              : uint8_t{0});
    }
    for (uint32_t k = 0; k < kClasses; ++k) bytes->tensor.push_back(k == id ? 1 : 0);
  };
  for (uint64_t r = 0; r < 2; ++r) {
    GoldenRecord record{Key(r), 0, 0, std::vector<GoldenField>(5)};
    for (uint64_t i = 0; i < 20; ++i) {
      add(LabelAt(r, i, kClasses), &record.fields[0], &record.fields[1]);
    }
    const auto id = static_cast<uint8_t>(9 * r + 1);
    record.fields[2].tensor = {id};
    add(id, &record.fields[3], &record.fields[4]);
    set.shards[0].records.push_back(std::move(record));
  }
  return set;
}

// Sixteen bits per channel, and more classes than a byte can tell apart.
GoldenSet Wide() {
  GoldenSet set;
  set.name = "wide";
  set.uses_zstd = true;
  set.schema.classes = Classes(300);
  set.schema.ignore = 65535;
  set.schema.fields = {
      {"image", DType::kU16, {5, 6, 4}, Codec::kZstd, Role::kImage},
      {"label", DType::kU16, {5, 6}, Codec::kRaw, Role::kClassMap, LabelEncoding::kIndex}};
  set.shards.resize(1);
  set.shards[0].end_input = 2;
  for (uint64_t r = 0; r < 2; ++r) {
    GoldenRecord record{Key(r), 0, 0, {}};
    record.fields.push_back(PatternField(set.schema.fields[0], r, 0));
    GoldenField label;
    for (uint64_t i = 0; i < 30; ++i) {
      const auto id = i == 29 ? 65535u : static_cast<uint32_t>(299 - 7 * i - r);
      label.tensor.push_back(static_cast<uint8_t>(id));
      label.tensor.push_back(static_cast<uint8_t>(id >> 8));
    }
    record.fields.push_back(std::move(label));
    set.shards[0].records.push_back(std::move(record));
  }
  return set;
}

// Short texts of few words.
std::vector<uint8_t> DictionaryTensor(uint64_t record) {
  static const std::string words[] = {"sidewalk,", "building,", "pedestrian,", "traffic sign,",
                                      "pavement,"};
  std::string text;
  for (uint64_t i = 0; text.size() < 90; ++i) {
    const uint64_t number = Pattern(record, i, record % 13 + i);
    text += words[number % 5] + std::to_string(number % 1009);
  }
  text.resize(90);
  return {text.begin(), text.end()};
}

GoldenSet Dictionary() {
  GoldenSet set;
  set.name = "dictionary";
  set.uses_zstd = true;
  set.records_per_block = 8;
  set.schema.fields = {{"text", DType::kU8, {90}, Codec::kZstdDictionary},
                       {"short", DType::kU8, {kVariableDim}, Codec::kZstdDictionary}};
  std::vector<std::string> samples;
  for (uint64_t r = 100; r < 1200; ++r) {
    const std::vector<uint8_t> tensor = DictionaryTensor(r);
    samples.emplace_back(tensor.begin(), tensor.end());
  }
  auto dictionary = TrainZstdDictionary(samples);
  SHARDMILL_CHECK(dictionary.ok());
  for (FieldSpec& field : set.schema.fields) field.dictionary = *dictionary;
  set.shards.resize(1);
  set.shards[0].end_input = 5;
  for (uint32_t r = 0; r < 5; ++r) {
    GoldenRecord record{Key(r), 0, 0, {}};
    record.fields.push_back({{}, DictionaryTensor(r), ""});
    std::vector<uint8_t> start = DictionaryTensor(r + 50);
    start.resize(20 * r);
    record.fields.push_back({{20 * r}, std::move(start), ""});
    set.shards[0].records.push_back(std::move(record));
  }
  return set;
}

GoldenField ForeignJpeg(JpegSpec spec) {
  GoldenField field;
  field.variable_dims = {static_cast<uint32_t>(spec.height), static_cast<uint32_t>(spec.width)};
  field.stored = BuildJpeg(spec, MakeJpegPixels(spec, 5));
  return field;
}

// A picture that the writer encoded, and two files that are stored as they came: a progressive one,
// and a gray one.
GoldenSet Jpeg() {
  GoldenSet set;
  set.name = "jpeg";
  set.uses_jpeg = true;
  set.schema.fields = {
      {"image", DType::kU8, {kVariableDim, kVariableDim, 3}, Codec::kJpeg, Role::kImage}};
  set.shards.resize(1);
  set.shards[0].end_input = 3;
  GoldenField encoded;
  encoded.variable_dims = {24, 32};
  for (int y = 0; y < 24; ++y) {
    for (int x = 0; x < 32; ++x) {
      encoded.tensor.push_back(static_cast<uint8_t>(10 * y));
      encoded.tensor.push_back(static_cast<uint8_t>(7 * x));
      encoded.tensor.push_back(static_cast<uint8_t>(100 + y + x));
    }
  }
  JpegSpec progressive;
  progressive.height = 17;
  progressive.width = 23;
  progressive.progressive = true;
  JpegSpec gray;
  gray.height = 8;
  gray.width = 9;
  gray.colors = JpegColors::kGray;
  set.shards[0].records = {{Key(0), 0, 0, {encoded}},
                           {"train/1.jpg", 0, 0, {ForeignJpeg(progressive)}},
                           {"train/2.jpg", 0, 0, {ForeignJpeg(gray)}}};
  return set;
}

Result<EncodedRecord> Encode(const GoldenSet& set, const GoldenRecord& record) {
  EncodedRecord encoded;
  FieldEncoder encoder;
  for (size_t f = 0; f < record.fields.size(); ++f) {
    const GoldenField& field = record.fields[f];
    if (!field.stored.empty()) {
      encoded.fields.push_back(MakeEncodedField(field.stored, field.variable_dims));
      continue;
    }
    ASSIGN_OR_RETURN(EncodedField stored, encoder.Encode(set.schema.fields[f], field.tensor.data(),
                                                         field.tensor.size(), field.variable_dims));
    encoded.fields.push_back(std::move(stored));
  }
  proto::RecordMeta meta;
  meta.set_key(record.key);
  meta.set_source_height(40);
  meta.set_source_width(60);
  meta.set_crop_y(record.crop_y);
  meta.set_crop_x(record.crop_x);
  encoded.meta = SerializeDeterministic(meta);
  return encoded;
}

Status WriteShard(const GoldenSet& set, size_t number, const std::string& folder) {
  const GoldenShard& shard = set.shards[number];
  ShardPlan plan;
  plan.split = "train";
  plan.shard_number = static_cast<uint32_t>(number);
  plan.shard_count = static_cast<uint32_t>(set.shards.size());
  plan.first_input = number == 0 ? 0 : set.shards[number - 1].end_input;
  plan.end_input = shard.end_input;
  plan.records_per_block = set.records_per_block;
  plan.dataset_id = Digest128("golden " + set.name);
  proto::Recipe recipe;
  recipe.set_tool_version("golden");
  recipe.set_layout(set.name);
  ASSIGN_OR_RETURN(const std::unique_ptr<ShardWriter> writer,
                   ShardWriter::Create(folder, plan, set.schema, recipe));
  for (const GoldenRecord& record : shard.records) {
    ASSIGN_OR_RETURN(EncodedRecord encoded, Encode(set, record));
    RETURN_IF_ERROR(writer->Append(std::move(encoded)));
  }
  proto::ShardSummary summary;
  summary.mutable_statistics()->set_records(shard.records.size());
  for (const std::string& key : shard.skipped) {
    proto::SkippedInput* skipped = summary.add_skipped();
    skipped->set_key(key);
    skipped->set_reason("cannot be decoded");
  }
  return writer->Close(summary).status();
}

}  // namespace

std::vector<GoldenSet> GoldenSets() {
  return {Raw(), Segmentation(), OneHot(), Wide(), Dictionary(), Jpeg()};
}

GoldenSet GoldenSetNamed(const std::string& name) {
  for (GoldenSet& set : GoldenSets()) {
    if (set.name == name) return set;
  }
  SHARDMILL_CHECK(false);
}

std::string GoldenShardName(const GoldenSet& set, size_t shard) {
  return ShardFileName("train", static_cast<uint32_t>(shard),
                       static_cast<uint32_t>(set.shards.size()));
}

Status WriteGoldenSet(const GoldenSet& set, const std::string& folder) {
  for (size_t i = 0; i < set.shards.size(); ++i) RETURN_IF_ERROR(WriteShard(set, i, folder));
  ASSIGN_OR_RETURN(const proto::Manifest manifest, RebuildManifest(folder));
  return WriteManifest(folder, manifest);
}

bool SameZstdAsGolden() { return ZSTD_versionNumber() == kZstdVersion; }

bool SameJpegAsGolden() {
#ifdef LIBJPEG_TURBO_VERSION_NUMBER
  return LIBJPEG_TURBO_VERSION_NUMBER == kJpegTurboVersion;
#else
  return false;
#endif
}

}  // namespace shardmill
