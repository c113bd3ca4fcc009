// What a record consists of, as plain structs: the checked form of proto/schema.proto.
//
// Everything that was read from disk passes through the FromProto functions, which refuse what
// FORMAT.md forbids; code behind them may trust the values. Plain data, safe to share between
// threads while nobody changes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/base/status.h"

namespace shardmill {

namespace proto {
class Field;
class ShardSchema;
}  // namespace proto

// Values equal those of proto::DType, proto::Codec, … and are on disk for ever.
enum class DType : int { kU8 = 1, kU16 = 2, kI32 = 3, kI64 = 4, kF16 = 5, kF32 = 6 };
enum class Codec : int { kRaw = 1, kZstd = 2, kJpeg = 3, kZstdDictionary = 4 };
enum class Role : int { kTensor = 0, kImage = 1, kClassMap = 2, kClassId = 3 };
enum class LabelEncoding : int { kNone = 0, kIndex = 1, kOneHotBits = 2, kOneHotBytes = 3 };

uint64_t DTypeBytes(DType dtype);
std::string_view DTypeName(DType dtype);  // "u8", …
std::string_view CodecName(Codec codec);  // "raw", "zstd", "jpeg", "zstd-dict"
std::string_view RoleName(Role role);     // "tensor", "image", "class map", "class id"
std::string_view LabelEncodingName(LabelEncoding encoding);  // "", "index", "one-hot bits", …

constexpr int kMaxFields = 64;
constexpr int kMaxRank = 8;
constexpr int64_t kVariableDim = -1;
// The largest tensor of one record; keeps every product of dimensions far below 2^63.
constexpr uint64_t kMaxRecordBytes = uint64_t{1} << 40;
constexpr uint64_t kMaxDictionaryBytes = uint64_t{64} << 10;

// What zstd knows before the first byte of a record: for records too small to fill its window.
struct ZstdDictionary {
  explicit ZstdDictionary(std::string content)
      : bytes(std::move(content)), digest(Digest128(bytes)) {}
  const std::string bytes;
  const Digest digest;
};

struct FieldSpec {
  std::string name;
  DType dtype = DType::kU8;
  std::vector<int64_t> shape;  // kVariableDim where a dimension varies between records
  Codec codec = Codec::kRaw;
  Role role = Role::kTensor;
  LabelEncoding encoding = LabelEncoding::kNone;
  std::shared_ptr<const ZstdDictionary> dictionary =
      nullptr;  // with kZstdDictionary, and only then

  int VariableDimCount() const;
  bool IsFixedShape() const { return VariableDimCount() == 0; }
  // Raw bytes of fixed shape: record i of a block lies at i * TensorBytes().
  bool IsDense() const { return codec == Codec::kRaw && IsFixedShape(); }
  // Bytes of one decoded record; requires IsFixedShape().
  uint64_t TensorBytes() const;
  // The same with the variable dimensions filled in, in the order in which they stand in `shape`.
  // InvalidArgument when their number is wrong or the product exceeds kMaxRecordBytes.
  Result<uint64_t> TensorBytes(const std::vector<uint32_t>& variable_dims) const;
};

struct ClassInfo {
  uint32_t id = 0;
  std::string name;
  std::optional<uint32_t> color;  // 0xRRGGBB
};

struct RecordSchema {
  std::vector<FieldSpec> fields;
  std::vector<ClassInfo> classes;  // ids 0 … K-1 in order; empty when there are no labels
  std::optional<uint32_t> ignore;  // the label value that means "no class"

  // Index of the field with this name, or of the first with this role; nullopt: there is none.
  std::optional<int> FindField(std::string_view name) const;
  std::optional<int> FindRole(Role role) const;
};

// DataLoss when the message breaks a rule of FORMAT.md (names, dtypes, shapes, class ids …).
Result<RecordSchema> RecordSchemaFromProto(const proto::ShardSchema& message);
// Fills fields, classes and ignore of `message`.
void RecordSchemaToProto(const RecordSchema& schema, proto::ShardSchema* message);

}  // namespace shardmill
