#include "tools/dump/label_map.h"

#include <cstring>
#include <limits>
#include <utility>

namespace shardmill {
namespace {

template <typename T>
int32_t IdAt(const uint8_t* bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes + index * sizeof(T), sizeof(T));
  if constexpr (sizeof(T) >= sizeof(int32_t)) {
    const bool fits = value >= 0 && value <= std::numeric_limits<int32_t>::max();
    return fits ? static_cast<int32_t>(value) : std::numeric_limits<int32_t>::max();
  } else {
    return value;
  }
}

template <typename T>
std::vector<int32_t> DecodeIndex(const RecordSchema& schema, const Tensor& tensor) {
  std::vector<int32_t> ids(tensor.bytes.size() / sizeof(T));
  const bool has_ignore = schema.ignore.has_value();
  const auto ignore = static_cast<int64_t>(schema.ignore.value_or(0));
  for (size_t i = 0; i < ids.size(); ++i) {
    const int32_t id = IdAt<T>(tensor.bytes.data(), i);
    ids[i] = has_ignore && id == ignore ? kIgnoredPixel : id;
  }
  return ids;
}

Result<std::vector<int32_t>> DecodeIndexOf(const RecordSchema& schema, const FieldSpec& spec,
                                           const Tensor& tensor) {
  switch (spec.dtype) {
    case DType::kU8:
      return DecodeIndex<uint8_t>(schema, tensor);
    case DType::kU16:
      return DecodeIndex<uint16_t>(schema, tensor);
    case DType::kI32:
      return DecodeIndex<int32_t>(schema, tensor);
    case DType::kI64:
      return DecodeIndex<int64_t>(schema, tensor);
    default:
      return InvalidArgumentError("field " + spec.name + " is " +
                                  std::string(DTypeName(spec.dtype)) + ", no class ids");
  }
}

// `is_set(pixel_bytes, k)` says whether class k is marked in the last axis of a pixel.
template <typename IsSet>
std::vector<int32_t> DecodeOneHot(const Tensor& tensor, int classes, IsSet is_set) {
  const size_t pixel_bytes = static_cast<size_t>(tensor.shape.back());
  std::vector<int32_t> ids(tensor.bytes.size() / pixel_bytes, kIgnoredPixel);
  for (size_t i = 0; i < ids.size(); ++i) {
    const uint8_t* pixel = tensor.bytes.data() + i * pixel_bytes;
    for (int k = 0; k < classes; ++k) {
      if (!is_set(pixel, k)) continue;
      ids[i] = ids[i] == kIgnoredPixel ? k : kSeveralClasses;
    }
  }
  return ids;
}

Status CheckClassAxis(const FieldSpec& spec, const Tensor& tensor, int64_t classes) {
  const bool bits = spec.encoding == LabelEncoding::kOneHotBits;
  const int64_t expected = bits ? (classes + 7) / 8 : classes;
  if (spec.dtype == DType::kU8 && classes > 0 && !tensor.shape.empty() &&
      tensor.shape.back() == expected) {
    return OkStatus();
  }
  return InvalidArgumentError("field " + spec.name + " has no one-hot axis of " +
                              std::to_string(classes) + " classes");
}

}  // namespace

Result<std::vector<int32_t>> DecodeClassIds(const RecordSchema& schema, const FieldSpec& spec,
                                            const Tensor& tensor) {
  if (spec.encoding == LabelEncoding::kIndex) return DecodeIndexOf(schema, spec, tensor);
  if (spec.encoding == LabelEncoding::kNone) {
    return InvalidArgumentError("field " + spec.name + " is no label");
  }
  const int classes = static_cast<int>(schema.classes.size());
  RETURN_IF_ERROR(CheckClassAxis(spec, tensor, classes));
  if (spec.encoding == LabelEncoding::kOneHotBits) {
    return DecodeOneHot(tensor, classes, [](const uint8_t* pixel, int k) {
      return (pixel[k / 8] >> (k % 8) & 1) != 0;
    });
  }
  return DecodeOneHot(tensor, classes, [](const uint8_t* pixel, int k) { return pixel[k] != 0; });
}

Result<LabelMap> DecodeLabelMap(const RecordSchema& schema, const FieldSpec& spec,
                                const Tensor& tensor) {
  const size_t rank = spec.encoding == LabelEncoding::kIndex ? 2 : 3;
  constexpr int64_t kMostSide = std::numeric_limits<int>::max();
  if (tensor.shape.size() != rank || tensor.shape[0] > kMostSide || tensor.shape[1] > kMostSide) {
    return InvalidArgumentError("field " + spec.name + " is no picture of class ids");
  }
  LabelMap map;
  map.height = static_cast<int>(tensor.shape[0]);
  map.width = static_cast<int>(tensor.shape[1]);
  ASSIGN_OR_RETURN(map.ids, DecodeClassIds(schema, spec, tensor));
  return map;
}

}  // namespace shardmill
