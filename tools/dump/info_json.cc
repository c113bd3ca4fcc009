#include "proto/manifest.pb.h"
#include "reader/console/json_writer.h"
#include "reader/schema.h"
#include "tools/dump/class_table.h"
#include "tools/dump/describe.h"
#include "tools/dump/info.h"
#include "tools/dump/manifest_view.h"

namespace shardmill {
namespace {

void WriteFields(const RecordSchema& schema, JsonWriter* json) {
  json->Key("fields").BeginArray();
  for (const FieldSpec& spec : schema.fields) {
    json->BeginObject();
    json->Key("name").String(spec.name);
    json->Key("role").String(RoleName(spec.role));
    json->Key("dtype").String(DTypeName(spec.dtype));
    json->Key("shape").BeginArray();
    for (const int64_t side : spec.shape) json->Number(side);
    json->EndArray();
    json->Key("codec").String(CodecName(spec.codec));
    json->Key("encoding").String(LabelEncodingName(spec.encoding));
    json->EndObject();
  }
  json->EndArray();
}

void WriteClasses(const RecordSchema& schema, JsonWriter* json) {
  json->Key("classes").BeginArray();
  for (const ClassInfo& info : schema.classes) {
    json->BeginObject();
    json->Key("id").Number(info.id);
    json->Key("name").String(info.name);
    json->Key("color");
    info.color ? json->String(DescribeColor(*info.color)) : json->Null();
    json->EndObject();
  }
  json->EndArray();
  json->Key("ignore");
  schema.ignore ? json->Number(*schema.ignore) : json->Null();
}

void WriteRecipe(const proto::Recipe& recipe, JsonWriter* json) {
  json->Key("recipe").BeginObject();
  json->Key("tool_version").String(recipe.tool_version());
  json->Key("layout").String(recipe.layout());
  json->Key("options").BeginObject();
  for (const proto::Recipe::Option& option : recipe.options()) {
    json->Key(option.name()).String(option.value());
  }
  json->EndObject();
  json->EndObject();
}

void WriteSplit(const proto::Split& split, JsonWriter* json) {
  json->BeginObject();
  json->Key("name").String(split.name());
  json->Key("records").Number(uint64_t{split.records()});
  json->Key("bytes").Number(BytesOfSplit(split));
  json->Key("shards").BeginArray();
  for (const proto::ShardInfo& shard : split.shards()) {
    json->BeginObject();
    json->Key("file").String(shard.file());
    json->Key("records").Number(uint64_t{shard.records()});
    json->Key("bytes").Number(uint64_t{shard.bytes()});
    json->Key("digest").String(shard.digest());
    json->EndObject();
  }
  json->EndArray();
  WriteStatistics(split.statistics(), json);
  json->Key("skipped").BeginArray();
  for (const proto::SkippedInput& skipped : split.skipped()) {
    json->BeginObject();
    json->Key("key").String(skipped.key());
    json->Key("reason").String(skipped.reason());
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

}  // namespace

Result<std::string> InfoJson(const std::string& name, const proto::Manifest& manifest) {
  ASSIGN_OR_RETURN(const RecordSchema schema, SchemaOfManifest(manifest));
  JsonWriter json;
  json.BeginObject();
  json.Key("name").String(name);
  json.Key("dataset_id").String(manifest.dataset_id());
  json.Key("format_version").Number(uint64_t{manifest.format_version()});
  WriteFields(schema, &json);
  WriteClasses(schema, &json);
  WriteRecipe(manifest.recipe(), &json);
  json.Key("splits").BeginArray();
  for (const proto::Split& split : manifest.splits()) WriteSplit(split, &json);
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace shardmill
