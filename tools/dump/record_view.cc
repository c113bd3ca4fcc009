#include "tools/dump/record_view.h"

#include <utility>

#include "proto/record_meta.pb.h"
#include "reader/console/units.h"
#include "tools/dump/tensor_picture.h"

namespace shardmill {
namespace {

constexpr uint64_t kMostTensorBytes = uint64_t{1} << 30;

bool LooksLikePicture(const FieldSpec& spec) {
  return spec.role != Role::kClassMap && (spec.shape.size() == 2 || spec.shape.size() == 3);
}

Result<int> FieldByName(const RecordSchema& schema, const std::string& name) {
  if (const std::optional<int> field = schema.FindField(name)) return *field;
  std::string names;
  for (const FieldSpec& spec : schema.fields) names += (names.empty() ? "" : ", ") + spec.name;
  return InvalidArgumentError("there is no field '" + name + "'; the fields are: " + names);
}

std::optional<int> FirstPictureField(const RecordSchema& schema) {
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (LooksLikePicture(schema.fields[i])) return static_cast<int>(i);
  }
  return std::nullopt;
}

}  // namespace

Result<ViewFields> ChooseViewFields(const RecordSchema& schema, const std::string& field) {
  ViewFields fields;
  fields.image = schema.FindRole(Role::kImage);
  fields.label_map = schema.FindRole(Role::kClassMap);
  fields.class_id = schema.FindRole(Role::kClassId);
  if (!field.empty()) {
    ASSIGN_OR_RETURN(fields.image, FieldByName(schema, field));
  } else if (!fields.image && !fields.label_map) {
    fields.image = FirstPictureField(schema);
  }
  if (!fields.image && !fields.label_map) {
    return InvalidArgumentError(
        "no field can be shown as a picture: each would need two or three dimensions");
  }
  return fields;
}

Result<Tensor> ReadTensor(const ShardReader& reader, uint64_t record, int field,
                          ReadScratch* scratch) {
  const FieldSpec& spec = reader.schema().fields[field];
  ASSIGN_OR_RETURN(const std::vector<uint32_t> dims, reader.VariableDims(record, field));
  ASSIGN_OR_RETURN(const uint64_t bytes, spec.TensorBytes(dims));
  if (bytes > kMostTensorBytes) {
    return InvalidArgumentError("field " + spec.name + " of record " + std::to_string(record) +
                                " of " + reader.path() + " is " + FormatBytes(bytes) +
                                ", more than a picture of it could show");
  }
  Tensor tensor;
  size_t next_dim = 0;
  for (const int64_t side : spec.shape) {
    tensor.shape.push_back(side == kVariableDim ? dims[next_dim++] : side);
  }
  tensor.bytes.resize(bytes);
  RETURN_IF_ERROR(reader.Read(record, field, tensor.bytes.data(), bytes, scratch));
  return tensor;
}

Result<RecordView> ViewRecord(const ShardReader& reader, uint64_t record, const ViewFields& fields,
                              ReadScratch* scratch) {
  const RecordSchema& schema = reader.schema();
  RecordView view;
  ASSIGN_OR_RETURN(const proto::RecordMeta meta, reader.ReadMeta(record));
  view.key = meta.key();
  if (fields.image) {
    ASSIGN_OR_RETURN(const Tensor tensor, ReadTensor(reader, record, *fields.image, scratch));
    ASSIGN_OR_RETURN(view.image, PictureFromTensor(schema.fields[*fields.image], tensor));
  }
  if (fields.label_map) {
    ASSIGN_OR_RETURN(const Tensor tensor, ReadTensor(reader, record, *fields.label_map, scratch));
    ASSIGN_OR_RETURN(view.label, DecodeLabelMap(schema, schema.fields[*fields.label_map], tensor));
  }
  if (fields.class_id) {
    ASSIGN_OR_RETURN(const Tensor tensor, ReadTensor(reader, record, *fields.class_id, scratch));
    ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                     DecodeClassIds(schema, schema.fields[*fields.class_id], tensor));
    if (ids.size() == 1) view.class_id = ids.front();
  }
  return view;
}

}  // namespace shardmill
