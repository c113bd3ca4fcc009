#include "reader/schema.h"

#include <algorithm>
#include <set>

#include "proto/schema.pb.h"
#include "reader/base/little_endian.h"
#include "reader/names.h"

namespace shardmill {
namespace {

constexpr size_t kMaxClasses = 65536;
constexpr uint32_t kMaxLabelValue = 65535;
constexpr size_t kMaxClassNameBytes = 1024;
// A dictionary begins with this number and its own id.
constexpr uint32_t kDictionaryMagic = 0xEC30A437;
constexpr size_t kMinDictionaryBytes = 8;

Status FieldError(const FieldSpec& field, const std::string& what) {
  return DataLossError("schema: field " + field.name + " " + what);
}

bool IsLabel(Role role) { return role == Role::kClassMap || role == Role::kClassId; }

Status CheckShape(const FieldSpec& field) {
  if (field.shape.empty() || field.shape.size() > kMaxRank) {
    return FieldError(
        field, "has " + std::to_string(field.shape.size()) + " dimensions; 1 to 8 are allowed");
  }
  uint64_t bytes = DTypeBytes(field.dtype);
  for (const int64_t dim : field.shape) {
    if (dim == kVariableDim) continue;
    if (dim < 1 || static_cast<uint64_t>(dim) > kMaxRecordBytes / bytes) {
      return FieldError(field, "has an impossible dimension of " + std::to_string(dim));
    }
    bytes *= static_cast<uint64_t>(dim);
  }
  return OkStatus();
}

Status CheckDictionary(const FieldSpec& field) {
  if (field.codec != Codec::kZstdDictionary) {
    return field.dictionary == nullptr ? OkStatus()
                                       : FieldError(field, "has a dictionary that it does not use");
  }
  if (field.dictionary == nullptr) return FieldError(field, "has no dictionary");
  const std::string& bytes = field.dictionary->bytes;
  if (bytes.size() < kMinDictionaryBytes || bytes.size() > kMaxDictionaryBytes) {
    return FieldError(field, "has a dictionary of " + std::to_string(bytes.size()) +
                                 " bytes; 8 to " + std::to_string(kMaxDictionaryBytes) +
                                 " are allowed");
  }
  const auto* start = reinterpret_cast<const uint8_t*>(bytes.data());
  if (LoadU32(start) != kDictionaryMagic || LoadU32(start + 4) == 0) {
    return FieldError(field, "has a dictionary that is not in zstd's form");
  }
  return OkStatus();
}

Status CheckCodec(const FieldSpec& field) {
  RETURN_IF_ERROR(CheckDictionary(field));
  if (field.codec != Codec::kJpeg) return OkStatus();
  const bool is_picture = field.dtype == DType::kU8 && field.shape.size() == 3 &&
                          (field.shape[2] == 1 || field.shape[2] == 3) && !IsLabel(field.role);
  if (is_picture) return OkStatus();
  return FieldError(field,
                    "is stored as JPEG, so it must be u8 [height, width, 1 or 3] and no label");
}

// The last dimension of a one-hot label follows from the number of classes.
Status CheckOneHot(const FieldSpec& field, size_t classes) {
  const size_t expected =
      field.encoding == LabelEncoding::kOneHotBits ? (classes + 7) / 8 : classes;
  if (field.dtype != DType::kU8 || field.shape.back() != static_cast<int64_t>(expected)) {
    return FieldError(field, "is " + std::string(LabelEncodingName(field.encoding)) + " of " +
                                 std::to_string(classes) + " classes, so it must be u8 with " +
                                 std::to_string(expected) + " as its last dimension");
  }
  return OkStatus();
}

Status CheckIndex(const FieldSpec& field, const RecordSchema& schema) {
  const uint32_t last_class = static_cast<uint32_t>(schema.classes.size()) - 1;
  const uint32_t largest = std::max(last_class, schema.ignore.value_or(0));
  const bool fits = field.dtype == DType::kU16 || (field.dtype == DType::kU8 && largest <= 255);
  if (!fits) {
    return FieldError(field, "holds class ids up to " + std::to_string(largest) + " as " +
                                 std::string(DTypeName(field.dtype)));
  }
  return OkStatus();
}

Status CheckLabel(const FieldSpec& field, const RecordSchema& schema) {
  if (!IsLabel(field.role)) {
    if (field.encoding == LabelEncoding::kNone) return OkStatus();
    return FieldError(field, "has a label encoding but is no label");
  }
  if (field.encoding == LabelEncoding::kNone) return FieldError(field, "has no label encoding");
  if (schema.classes.empty()) return FieldError(field, "is a label, but there are no classes");
  const bool is_index = field.encoding == LabelEncoding::kIndex;
  const size_t rank = field.role == Role::kClassMap ? (is_index ? 2 : 3) : 1;
  if (field.shape.size() != rank) {
    return FieldError(field, "is a " + std::string(RoleName(field.role)) + " with " +
                                 std::to_string(field.shape.size()) + " dimensions");
  }
  if (!is_index) return CheckOneHot(field, schema.classes.size());
  if (field.role == Role::kClassId && field.shape[0] != 1) {
    return FieldError(field, "is a class id, so its shape must be [1]");
  }
  return CheckIndex(field, schema);
}

Status CheckFields(const RecordSchema& schema) {
  if (schema.fields.empty() || schema.fields.size() > kMaxFields) {
    return DataLossError("schema: " + std::to_string(schema.fields.size()) +
                         " fields; 1 to 64 are allowed");
  }
  std::set<std::string> names;
  for (const FieldSpec& field : schema.fields) {
    if (!IsPlainName(field.name)) return DataLossError("schema: a field name is not allowed");
    if (!names.insert(field.name).second) return FieldError(field, "occurs twice");
    RETURN_IF_ERROR(CheckShape(field));
    RETURN_IF_ERROR(CheckCodec(field));
    if (field.role == Role::kImage && field.shape.size() != 3) {
      return FieldError(field, "is an image, so it must have 3 dimensions");
    }
    RETURN_IF_ERROR(CheckLabel(field, schema));
  }
  return OkStatus();
}

Status CheckClasses(const RecordSchema& schema) {
  if (schema.classes.size() > kMaxClasses) return DataLossError("schema: more than 65536 classes");
  for (size_t i = 0; i < schema.classes.size(); ++i) {
    const ClassInfo& info = schema.classes[i];
    if (info.id != i) {
      return DataLossError("schema: class " + std::to_string(i) + " has id " +
                           std::to_string(info.id));
    }
    if (info.name.empty() || info.name.size() > kMaxClassNameBytes || !IsValidUtf8(info.name)) {
      return DataLossError("schema: the name of class " + std::to_string(i) + " is not allowed");
    }
    if (info.color.value_or(0) > 0xFFFFFF) {
      return DataLossError("schema: the colour of class " + std::to_string(i) + " is above FFFFFF");
    }
  }
  if (!schema.ignore) return OkStatus();
  if (*schema.ignore < schema.classes.size() || *schema.ignore > kMaxLabelValue) {
    return DataLossError("schema: ignore value " + std::to_string(*schema.ignore) +
                         " is a class or above 65535");
  }
  return OkStatus();
}

Result<FieldSpec> FieldFromProto(const proto::Field& message) {
  if (!proto::DType_IsValid(message.dtype()) || message.dtype() == proto::DTYPE_UNSPECIFIED ||
      !proto::Codec_IsValid(message.codec()) || message.codec() == proto::CODEC_UNSPECIFIED ||
      !proto::Role_IsValid(message.role()) || !proto::LabelEncoding_IsValid(message.encoding())) {
    return InvalidArgumentError(
        "schema: a field has a type, codec, role or encoding that this build does not know; use a "
        "newer one");
  }
  FieldSpec field;
  field.name = message.name();
  field.dtype = static_cast<DType>(message.dtype());
  field.shape.assign(message.shape().begin(), message.shape().end());
  field.codec = static_cast<Codec>(message.codec());
  field.role = static_cast<Role>(message.role());
  field.encoding = static_cast<LabelEncoding>(message.encoding());
  if (!message.dictionary().empty()) {
    field.dictionary = std::make_shared<const ZstdDictionary>(message.dictionary());
  }
  return field;
}

}  // namespace

uint64_t DTypeBytes(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return 1;
    case DType::kU16:
    case DType::kF16:
      return 2;
    case DType::kI32:
    case DType::kF32:
      return 4;
    case DType::kI64:
      return 8;
  }
  SHARDMILL_CHECK(false);
}

std::string_view DTypeName(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return "u8";
    case DType::kU16:
      return "u16";
    case DType::kI32:
      return "i32";
    case DType::kI64:
      return "i64";
    case DType::kF16:
      return "f16";
    case DType::kF32:
      return "f32";
  }
  return "unknown";
}

std::string_view CodecName(Codec codec) {
  switch (codec) {
    case Codec::kRaw:
      return "raw";
    case Codec::kZstd:
      return "zstd";
    case Codec::kJpeg:
      return "jpeg";
    case Codec::kZstdDictionary:
      return "zstd-dict";
  }
  return "unknown";
}

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kTensor:
      return "tensor";
    case Role::kImage:
      return "image";
    case Role::kClassMap:
      return "class map";
    case Role::kClassId:
      return "class id";
  }
  return "unknown";
}

std::string_view LabelEncodingName(LabelEncoding encoding) {
  switch (encoding) {
    case LabelEncoding::kNone:
      return "";
    case LabelEncoding::kIndex:
      return "index";
    case LabelEncoding::kOneHotBits:
      return "one-hot bits";
    case LabelEncoding::kOneHotBytes:
      return "one-hot bytes";
  }
  return "unknown";
}

int FieldSpec::VariableDimCount() const {
  return static_cast<int>(std::count(shape.begin(), shape.end(), kVariableDim));
}

uint64_t FieldSpec::TensorBytes() const {
  SHARDMILL_CHECK(IsFixedShape());
  uint64_t bytes = DTypeBytes(dtype);
  for (const int64_t dim : shape) bytes *= static_cast<uint64_t>(dim);
  return bytes;
}

Result<uint64_t> FieldSpec::TensorBytes(const std::vector<uint32_t>& variable_dims) const {
  if (variable_dims.size() != static_cast<size_t>(VariableDimCount())) {
    return InvalidArgumentError("field " + name + " has " + std::to_string(VariableDimCount()) +
                                " variable dimensions, not " +
                                std::to_string(variable_dims.size()));
  }
  uint64_t bytes = DTypeBytes(dtype);
  size_t next = 0;
  for (const int64_t dim : shape) {
    const uint64_t extent =
        dim == kVariableDim ? variable_dims[next++] : static_cast<uint64_t>(dim);
    if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > kMaxRecordBytes) {
      return InvalidArgumentError("field " + name + " has a record of more than " +
                                  std::to_string(kMaxRecordBytes) + " bytes");
    }
  }
  return bytes;
}

std::optional<int> RecordSchema::FindField(std::string_view name) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return static_cast<int>(i);
  }
  return std::nullopt;
}

std::optional<int> RecordSchema::FindRole(Role role) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].role == role) return static_cast<int>(i);
  }
  return std::nullopt;
}

Result<RecordSchema> RecordSchemaFromProto(const proto::ShardSchema& message) {
  RecordSchema schema;
  for (const proto::Field& field : message.fields()) {
    ASSIGN_OR_RETURN(FieldSpec spec, FieldFromProto(field));
    schema.fields.push_back(std::move(spec));
  }
  for (const proto::ClassInfo& info : message.classes()) {
    schema.classes.push_back({info.id(), info.name(), std::nullopt});
    if (info.has_color()) schema.classes.back().color = info.color();
  }
  if (message.has_ignore()) schema.ignore = message.ignore();
  RETURN_IF_ERROR(CheckClasses(schema));
  RETURN_IF_ERROR(CheckFields(schema));
  return schema;
}

void RecordSchemaToProto(const RecordSchema& schema, proto::ShardSchema* message) {
  message->clear_fields();
  message->clear_classes();
  message->clear_ignore();
  for (const FieldSpec& field : schema.fields) {
    proto::Field* out = message->add_fields();
    out->set_name(field.name);
    out->set_dtype(static_cast<proto::DType>(field.dtype));
    for (const int64_t dim : field.shape) out->add_shape(dim);
    out->set_codec(static_cast<proto::Codec>(field.codec));
    out->set_role(static_cast<proto::Role>(field.role));
    out->set_encoding(static_cast<proto::LabelEncoding>(field.encoding));
    if (field.dictionary != nullptr) out->set_dictionary(field.dictionary->bytes);
  }
  for (const ClassInfo& info : schema.classes) {
    proto::ClassInfo* out = message->add_classes();
    out->set_id(info.id);
    out->set_name(info.name);
    if (info.color) out->set_color(*info.color);
  }
  if (schema.ignore) message->set_ignore(*schema.ignore);
}

}  // namespace shardmill
