#include "tools/dump/records.h"

#include <optional>
#include <utility>
#include <vector>

#include "proto/record_meta.pb.h"
#include "reader/base/file.h"
#include "reader/console/json_writer.h"
#include "reader/console/terminal.h"
#include "reader/console/text_table.h"
#include "reader/console/units.h"
#include "tools/dump/describe.h"
#include "tools/dump/record_view.h"

namespace shardmill {
namespace {

constexpr auto kLeft = TextTable::Align::kLeft;
constexpr auto kRight = TextTable::Align::kRight;

struct Row {
  uint64_t record = 0;
  std::string shard;
  proto::RecordMeta meta;
  std::vector<uint64_t> stored_bytes;  // per field
  std::optional<int32_t> class_id;     // for classification
};

Result<Row> ReadRow(const ShardSet& set, const ShardSet::Split& split, uint64_t record,
                    ReadScratch* scratch) {
  Row row;
  row.record = record;
  const auto [shard, local] = split.Locate(record);
  row.shard = FileName(shard->path());
  ASSIGN_OR_RETURN(row.meta, shard->ReadMeta(local));
  const RecordSchema& schema = set.schema();
  for (size_t field = 0; field < schema.fields.size(); ++field) {
    ASSIGN_OR_RETURN(const uint64_t bytes, shard->StoredBytes(local, static_cast<int>(field)));
    row.stored_bytes.push_back(bytes);
  }
  if (const std::optional<int> field = schema.FindRole(Role::kClassId)) {
    ASSIGN_OR_RETURN(const Tensor tensor, ReadTensor(*shard, local, *field, scratch));
    ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                     DecodeClassIds(schema, schema.fields[*field], tensor));
    if (ids.size() == 1) row.class_id = ids.front();
  }
  return row;
}

std::string SideBySide(uint64_t height, uint64_t width) {
  return std::to_string(height) + " × " + std::to_string(width);
}

std::string SourceCell(const proto::RecordMeta& meta) {
  if (meta.source_height() == 0) return "";
  std::string text = SideBySide(meta.source_height(), meta.source_width());
  if (meta.resized_height() != 0) {
    text += " → " + SideBySide(meta.resized_height(), meta.resized_width());
  }
  return text;
}

std::string CropCell(const proto::RecordMeta& meta) {
  if (meta.crop_height() == 0) return "";
  return SideBySide(meta.crop_height(), meta.crop_width()) + " at " +
         std::to_string(meta.crop_y()) + ", " + std::to_string(meta.crop_x());
}

std::vector<TextTable::Column> Columns(const RecordSchema& schema) {
  std::vector<TextTable::Column> columns = {
      {"record", kRight}, {"key", kLeft}, {"source", kLeft}, {"crop at y, x", kLeft}};
  if (schema.FindRole(Role::kClassId)) columns.push_back({"class", kLeft});
  for (const FieldSpec& spec : schema.fields) {
    columns.push_back({EscapeControl(spec.name) + " stored", kRight});
  }
  return columns;
}

std::vector<std::string> Cells(const RecordSchema& schema, const Row& row) {
  std::vector<std::string> cells = {FormatCount(row.record), EscapeControl(row.meta.key()),
                                    SourceCell(row.meta), CropCell(row.meta)};
  if (schema.FindRole(Role::kClassId)) {
    const bool known = row.class_id && *row.class_id != kIgnoredPixel;
    cells.push_back(known ? DescribeClass(schema.classes, *row.class_id) : "(none)");
  }
  for (const uint64_t bytes : row.stored_bytes) cells.push_back(FormatBytes(bytes));
  return cells;
}

void WriteAugmentation(const proto::RecordMeta& meta, JsonWriter* json) {
  const proto::Augmentation& drawn = meta.augmentation();
  json->Key("seed").Number(uint64_t{meta.seed()});
  json->Key("augmentation").BeginObject();
  json->Key("flip_horizontal").Bool(drawn.flip_horizontal());
  json->Key("flip_vertical").Bool(drawn.flip_vertical());
  json->Key("scale").Number(drawn.scale_permille() / 1000.0);
  json->Key("rotation").Number(drawn.rotation_millidegrees() / 1000.0);
  json->Key("brightness").Number(drawn.brightness_permille() / 1000.0);
  json->Key("contrast").Number(drawn.contrast_permille() / 1000.0);
  json->Key("saturation").Number(drawn.saturation_permille() / 1000.0);
  json->Key("hue").Number(drawn.hue_millidegrees() / 1000.0);
  json->Key("noise").Number(drawn.noise_permille() / 1000.0);
  json->Key("blur").Number(uint64_t{drawn.blur_radius()});
  json->Key("cutout").BeginArray();
  for (uint32_t number :
       {drawn.cutout_y(), drawn.cutout_x(), drawn.cutout_height(), drawn.cutout_width()}) {
    json->Number(uint64_t{number});
  }
  json->EndArray();
  json->EndObject();
}

void WriteRow(const RecordSchema& schema, const Row& row, JsonWriter* json) {
  json->BeginObject();
  json->Key("record").Number(row.record);
  json->Key("key").String(row.meta.key());
  json->Key("shard").String(row.shard);
  json->Key("variant").Number(uint64_t{row.meta.variant()});
  json->Key("source").BeginObject();
  json->Key("height").Number(uint64_t{row.meta.source_height()});
  json->Key("width").Number(uint64_t{row.meta.source_width()});
  json->EndObject();
  json->Key("resized").BeginObject();
  json->Key("height").Number(uint64_t{row.meta.resized_height()});
  json->Key("width").Number(uint64_t{row.meta.resized_width()});
  json->EndObject();
  json->Key("crop").BeginObject();
  json->Key("y").Number(int64_t{row.meta.crop_y()});
  json->Key("x").Number(int64_t{row.meta.crop_x()});
  json->Key("height").Number(uint64_t{row.meta.crop_height()});
  json->Key("width").Number(uint64_t{row.meta.crop_width()});
  json->EndObject();
  if (row.meta.has_augmentation()) WriteAugmentation(row.meta, json);
  if (row.class_id) json->Key("class").Number(int64_t{*row.class_id});
  json->Key("stored_bytes").BeginObject();
  for (size_t field = 0; field < schema.fields.size(); ++field) {
    json->Key(schema.fields[field].name).Number(row.stored_bytes[field]);
  }
  json->EndObject();
  json->EndObject();
}

}  // namespace

Result<std::string> RecordsText(const ShardSet& set, const ShardSet::Split& split, uint64_t first,
                                uint64_t end, bool colored) {
  TextTable table(Columns(set.schema()));
  ReadScratch scratch;
  for (uint64_t record = first; record < end; ++record) {
    ASSIGN_OR_RETURN(const Row row, ReadRow(set, split, record, &scratch));
    table.AddRow(Cells(set.schema(), row));
  }
  return table.ToString(0, colored);
}

Result<std::string> RecordsJson(const ShardSet& set, const ShardSet::Split& split, uint64_t first,
                                uint64_t end) {
  JsonWriter json;
  ReadScratch scratch;
  json.BeginObject();
  json.Key("split").String(split.name);
  json.Key("total_records").Number(split.records);
  json.Key("records").BeginArray();
  for (uint64_t record = first; record < end; ++record) {
    ASSIGN_OR_RETURN(const Row row, ReadRow(set, split, record, &scratch));
    WriteRow(set.schema(), row, &json);
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

Result<uint64_t> FindRecordByKey(const ShardSet::Split& split, const std::string& key) {
  for (uint64_t record = 0; record < split.records; ++record) {
    const auto [shard, local] = split.Locate(record);
    ASSIGN_OR_RETURN(const proto::RecordMeta meta, shard->ReadMeta(local));
    if (meta.key() == key) return record;
  }
  return NotFoundError("split " + split.name + " has no record with the key '" + key +
                       "'; `shardmill dump records` lists the keys");
}

}  // namespace shardmill
