#include "reader/label_expand.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "reader/stream_store.h"

namespace shardmill {
namespace {

// A record goes through a small buffer of class ids, chunk by chunk, so that ids and the part of
// the output that is being written stay in the first cache level.
constexpr uint64_t kMaxChunkPixels = 1024;
constexpr uint64_t kMinChunkPixels = 16;
constexpr uint64_t kChunkOutputBytes = 16 * 1024;
// A record of more output than this leaves the caches before somebody reads it.
constexpr uint64_t kStreamedBytes = uint64_t{4} << 20;
constexpr uint64_t kLineBytes = 64;

// Class ids are below 65,536, so these are free.
constexpr uint32_t kNoClass = 0xFFFFFFFF;
constexpr uint32_t kBadPixel = 0xFFFFFFFE;
constexpr uint32_t kMaxClasses = 65536;

// The loops below return whether all pixels were labels; the caller then looks for the bad one.

template <typename Stored>
bool ClassifyIndex(const uint8_t* stored, uint64_t count, uint32_t classes, uint32_t ignore,
                   uint32_t* ids) {
  uint32_t bad = 0;
  for (uint64_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, stored + i * sizeof(Stored), sizeof(Stored));
    const uint32_t id = value;
    const uint32_t other = id == ignore ? kNoClass : kBadPixel;
    ids[i] = id < classes ? id : other;
    bad |= static_cast<uint32_t>(ids[i] == kBadPixel);
  }
  return bad == 0;
}

uint64_t LoadWord(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// Sums over the one-hot bytes of a pixel, eight at a time: how many are set and the sum of their
// positions, each as the top byte of a product that adds up the bytes of the word. Exact as long
// as all bytes are 0 or 1, which `all` tells.
struct ByteSums {
  uint64_t all = 0;
  uint64_t set = 0;
  uint64_t position = 0;

  void Add(uint64_t word, uint64_t first) {
    const uint64_t word_set = (word * 0x0101010101010101) >> 56;
    all |= word;
    set += word_set;
    position += first * word_set + ((word * 0x0001020304050607) >> 56);
  }
};

ByteSums SumPixel(const uint8_t* pixel, uint32_t classes) {
  ByteSums sums;
  uint32_t k = 0;
  for (; k + 8 <= classes; k += 8) sums.Add(LoadWord(pixel + k), k);
  if (k == classes) return sums;
  if (classes >= 8) {  // the last word overlaps the one before it
    sums.Add(LoadWord(pixel + classes - 8) >> (8 * (8 - classes % 8)), k);
    return sums;
  }
  uint64_t word = 0;
  for (; k < classes; ++k) word |= uint64_t{pixel[k]} << (8 * k);
  sums.Add(word, 0);
  return sums;
}

bool ClassifyBytes(const uint8_t* stored, uint64_t count, uint32_t classes, uint32_t* ids) {
  bool good = true;
  for (uint64_t i = 0; i < count; ++i) {
    const ByteSums sums = SumPixel(stored + i * classes, classes);
    const bool pixel_good = (sums.all & ~uint64_t{0x0101010101010101}) == 0 && sums.set <= 1;
    const uint32_t id = sums.set == 1 ? static_cast<uint32_t>(sums.position) : kNoClass;
    ids[i] = pixel_good ? id : kBadPixel;
    good &= pixel_good;
  }
  return good;
}

// Up to 64 classes: the bits of a pixel in one word.
bool ClassifyBitWords(const uint8_t* stored, uint64_t count, uint32_t classes, uint32_t* ids) {
  const uint32_t pixel_bytes = (classes + 7) / 8;
  const uint64_t behind = classes == 64 ? 0 : ~uint64_t{0} << classes;
  bool good = true;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t word = 0;
    for (uint32_t byte = 0; byte < pixel_bytes; ++byte) {
      word |= uint64_t{stored[i * pixel_bytes + byte]} << (8 * byte);
    }
    const bool pixel_good = (word & (word - 1)) == 0 && (word & behind) == 0;
    const uint32_t id = word == 0 ? kNoClass : static_cast<uint32_t>(__builtin_ctzll(word));
    ids[i] = pixel_good ? id : kBadPixel;
    good &= pixel_good;
  }
  return good;
}

bool ClassifyBits(const uint8_t* stored, uint64_t count, uint32_t classes, uint32_t* ids) {
  if (classes <= 64) return ClassifyBitWords(stored, count, classes, ids);
  const uint64_t pixel_bytes = (classes + 7) / 8;
  bool good = true;
  for (uint64_t i = 0; i < count; ++i) {
    const uint8_t* pixel = stored + i * pixel_bytes;
    uint32_t set = 0;
    uint32_t id = kNoClass;
    for (uint64_t byte = 0; byte < pixel_bytes; ++byte) {
      if (pixel[byte] == 0) continue;
      set += static_cast<uint32_t>(__builtin_popcount(pixel[byte]));
      id = static_cast<uint32_t>(byte * 8) + static_cast<uint32_t>(__builtin_ctz(pixel[byte]));
    }
    const bool pixel_good = set <= 1 && (set == 0 || id < classes);
    ids[i] = pixel_good ? id : kBadPixel;
    good &= pixel_good;
  }
  return good;
}

// The inner loops have a fixed length and stay within the width of the stored type, which lets
// compilers turn them into vector code.
constexpr uint64_t kBlockPixels = 256;

template <typename Stored>
bool IsBlockInRange(const Stored* block, Stored last, Stored other) {
  Stored bad = 0;
  for (uint64_t i = 0; i < kBlockPixels; ++i) {
    bad |= static_cast<Stored>((block[i] > last) & (block[i] != other));
  }
  return bad == 0;
}

// Whether all class ids of an index label are in range, without writing anything: for labels
// that are delivered as they are stored. Requires classes that fit the stored type.
template <typename Stored>
bool IsIndexInRange(const Stored* stored, uint64_t count, uint32_t classes, uint32_t ignore) {
  const auto last = static_cast<Stored>(classes - 1);
  // Without an ignore value, one that is in range anyway.
  const auto other = static_cast<Stored>(ignore == kNoClass ? 0 : ignore);
  uint64_t first = 0;
  for (; first + kBlockPixels <= count; first += kBlockPixels) {
    if (!IsBlockInRange(stored + first, last, other)) return false;
  }
  std::array<Stored, kBlockPixels> tail = {};
  std::copy(stored + first, stored + count, tail.begin());
  return IsBlockInRange(tail.data(), last, other);
}

template <typename Value>
void WriteIndex(const uint32_t* ids, uint64_t count, uint32_t ignore, Value* out) {
  for (uint64_t i = 0; i < count; ++i) {
    out[i] = static_cast<Value>(ids[i] == kNoClass ? ignore : ids[i]);
  }
}

// Zeros, then one store per pixel; an ignored pixel stores a 0 over its class 0, which saves a
// branch that could not be predicted.
template <typename Value>
void WriteOneHot(const uint32_t* ids, uint64_t count, uint32_t classes, Value* out) {
  std::memset(out, 0, count * classes * sizeof(Value));
  for (uint64_t i = 0; i < count; ++i) {
    const bool labelled = ids[i] != kNoClass;
    out[i * classes + (labelled ? ids[i] : 0)] = static_cast<Value>(labelled);
  }
}

// The same in `values`, which are zeros before and after, and from there past the caches to `out`.
// Returns false, and has written nothing, where the processor does that no faster.
bool StreamOneHot(const uint32_t* ids, uint64_t count, uint32_t classes, float* values,
                  float* out) {
  const auto set = [&](float value) {
    for (uint64_t i = 0; i < count; ++i) {
      const bool labelled = ids[i] != kNoClass;
      values[i * classes + (labelled ? ids[i] : 0)] = labelled ? value : 0;
    }
  };
  set(1);
  const uint64_t floats = count * classes;
  const uint64_t whole_lines = floats / 16 * 16;
  const bool streamed = StreamFloats(values, whole_lines, out);
  if (streamed) std::copy(values + whole_lines, values + floats, out + whole_lines);
  set(0);
  return streamed;
}

std::string DescribeLabels(uint32_t classes, const std::optional<uint32_t>& ignore) {
  std::string text = "there are " + std::to_string(classes) + " classes and ";
  return text + (ignore.has_value() ? "the ignore value is " + std::to_string(*ignore)
                                    : "no ignore value");
}

// The pixels of one record, its class axis left out; 0 when they vary.
uint64_t PixelCount(const FieldSpec& field) {
  if (!field.IsFixedShape()) return 0;
  uint64_t pixels = 1;
  const size_t axes = field.shape.size() - (field.encoding == LabelEncoding::kIndex ? 0 : 1);
  for (size_t axis = 0; axis < axes; ++axis) pixels *= static_cast<uint64_t>(field.shape[axis]);
  return pixels;
}

uint64_t PixelBytes(const FieldSpec& field) {
  const uint64_t bytes = DTypeBytes(field.dtype);
  if (field.encoding == LabelEncoding::kIndex) return bytes;
  return bytes * static_cast<uint64_t>(field.shape.back());
}

Status CheckStored(const FieldSpec& stored, const RecordSchema& schema) {
  const std::string name = "field '" + stored.name + "'";
  if (stored.encoding == LabelEncoding::kNone) {
    return InvalidArgumentError(name + " is not a label; it can only be delivered as stored");
  }
  if (schema.classes.empty() || schema.classes.size() > kMaxClasses) {
    return InvalidArgumentError(name + " is a label, but the data set lists " +
                                std::to_string(schema.classes.size()) + " classes");
  }
  if (stored.shape.empty()) return InvalidArgumentError(name + " has no shape");
  const bool wide = stored.encoding == LabelEncoding::kIndex && stored.dtype == DType::kU16;
  if (stored.dtype != DType::kU8 && !wide) {
    return InvalidArgumentError(name + " is stored as " + std::string(DTypeName(stored.dtype)) +
                                ", which no label encoding uses");
  }
  const auto classes = static_cast<int64_t>(schema.classes.size());
  const int64_t last = stored.shape.back();
  if ((stored.encoding == LabelEncoding::kOneHotBits && last != (classes + 7) / 8) ||
      (stored.encoding == LabelEncoding::kOneHotBytes && last != classes)) {
    return InvalidArgumentError(name + " has a class axis of " + std::to_string(last) +
                                ", which does not fit " + std::to_string(classes) + " classes");
  }
  return OkStatus();
}

FieldSpec Delivered(const FieldSpec& stored, uint32_t classes, std::optional<uint32_t> ignore,
                    Delivery delivery) {
  FieldSpec delivered = stored;
  delivered.codec = Codec::kRaw;
  if (stored.encoding != LabelEncoding::kIndex) delivered.shape.pop_back();
  if (delivery == Delivery::kIndex) {
    delivered.encoding = LabelEncoding::kIndex;
    delivered.dtype = std::max(classes - 1, ignore.value_or(0)) <= 255 ? DType::kU8 : DType::kU16;
    if (delivered.shape.empty()) delivered.shape = {1};
    return delivered;
  }
  delivered.encoding = LabelEncoding::kOneHotBytes;
  delivered.dtype = delivery == Delivery::kOneHotF32 ? DType::kF32 : DType::kU8;
  if (stored.role == Role::kClassId && stored.encoding == LabelEncoding::kIndex) {
    delivered.shape.clear();
  }
  delivered.shape.push_back(classes);
  return delivered;
}

}  // namespace

Result<LabelExpander> LabelExpander::Create(const FieldSpec& stored, const RecordSchema& schema,
                                            Delivery delivery) {
  if (delivery != Delivery::kIndex && delivery != Delivery::kOneHotU8 &&
      delivery != Delivery::kOneHotF32) {
    return InvalidArgumentError("field '" + stored.name + "' is to be normalised, which is for " +
                                "images; labels are delivered as index or one-hot");
  }
  RETURN_IF_ERROR(CheckStored(stored, schema));
  LabelExpander expander;
  expander.stored_ = stored;
  expander.delivery_ = delivery;
  expander.classes_ = static_cast<uint32_t>(schema.classes.size());
  expander.ignore_ = schema.ignore;
  expander.pixels_ = PixelCount(stored);
  expander.delivered_ = Delivered(stored, expander.classes_, schema.ignore, delivery);
  const FieldSpec& delivered = expander.delivered_;
  expander.in_place_ = delivered.encoding == stored.encoding && delivered.dtype == stored.dtype;
  expander.stored_pixel_bytes_ = PixelBytes(stored);
  // A multiple of 16, so that each chunk of floats begins on a cache line when the first one does.
  expander.chunk_pixels_ =
      std::clamp(kChunkOutputBytes / std::max<uint64_t>(1, PixelBytes(delivered)), kMinChunkPixels,
                 kMaxChunkPixels) /
      kMinChunkPixels * kMinChunkPixels;
  return expander;
}

Status LabelExpander::Expand(const uint8_t* stored, uint64_t pixels, uint8_t* delivered) const {
  if (in_place_ && IsInRange(stored, pixels)) return OkStatus();
  if (!Streams(pixels, delivered)) return ExpandChunks(stored, pixels, delivered, nullptr);
  alignas(kLineBytes) std::array<float, kChunkOutputBytes / sizeof(float)> values = {};
  Status status = ExpandChunks(stored, pixels, delivered, values.data());
  FinishStream();
  return status;
}

Status LabelExpander::Check(const uint8_t* stored, uint64_t pixels) const {
  if (in_place_ && IsInRange(stored, pixels)) return OkStatus();
  std::array<uint32_t, kMaxChunkPixels> ids;
  for (uint64_t first = 0; first < pixels; first += chunk_pixels_) {
    const uint64_t count = std::min(chunk_pixels_, pixels - first);
    if (!Classify(stored, first, count, ids.data())) {
      return DescribeBadPixel(stored, first, ids.data(), count);
    }
    RETURN_IF_ERROR(CheckClasses(ids.data(), first, count));
  }
  return OkStatus();
}

bool LabelExpander::Streams(uint64_t pixels, const uint8_t* delivered) const {
  const uint64_t pixel_bytes = classes_ * sizeof(float);
  return delivery_ == Delivery::kOneHotF32 && pixels >= kStreamedBytes / pixel_bytes &&
         chunk_pixels_ * pixel_bytes <= kChunkOutputBytes &&
         reinterpret_cast<uintptr_t>(delivered) % kLineBytes == 0;
}

// `values`: zeros, through which one-hot floats are streamed; null: they are not.
Status LabelExpander::ExpandChunks(const uint8_t* stored, uint64_t pixels, uint8_t* delivered,
                                   float* values) const {
  std::array<uint32_t, kMaxChunkPixels> ids;
  for (uint64_t first = 0; first < pixels; first += chunk_pixels_) {
    const uint64_t count = std::min(chunk_pixels_, pixels - first);
    if (!Classify(stored, first, count, ids.data())) {
      return DescribeBadPixel(stored, first, ids.data(), count);
    }
    float* const out = reinterpret_cast<float*>(delivered) + first * classes_;
    if (values != nullptr && StreamOneHot(ids.data(), count, classes_, values, out)) continue;
    RETURN_IF_ERROR(WriteChunk(ids.data(), first, count, delivered));
  }
  return OkStatus();
}

// A quick yes for index labels (delivered in place, so aligned for their dtype); otherwise the
// pixels are looked at one by one.
bool LabelExpander::IsInRange(const uint8_t* stored, uint64_t pixels) const {
  const uint32_t ignore = ignore_.value_or(kNoClass);
  if (stored_.encoding != LabelEncoding::kIndex) return false;
  if (stored_.dtype == DType::kU16) {
    return IsIndexInRange(reinterpret_cast<const uint16_t*>(stored), pixels, classes_, ignore);
  }
  return IsIndexInRange(stored, pixels, classes_, ignore);
}

bool LabelExpander::Classify(const uint8_t* stored, uint64_t first, uint64_t count,
                             uint32_t* ids) const {
  const uint8_t* chunk = stored + first * stored_pixel_bytes_;
  const uint32_t ignore = ignore_.value_or(kNoClass);
  switch (stored_.encoding) {
    case LabelEncoding::kOneHotBits:
      return ClassifyBits(chunk, count, classes_, ids);
    case LabelEncoding::kOneHotBytes:
      return ClassifyBytes(chunk, count, classes_, ids);
    case LabelEncoding::kIndex:
    case LabelEncoding::kNone:
      break;
  }
  if (stored_.dtype == DType::kU16) {
    return ClassifyIndex<uint16_t>(chunk, count, classes_, ignore, ids);
  }
  return ClassifyIndex<uint8_t>(chunk, count, classes_, ignore, ids);
}

// An index has a value for a pixel of no class only where there is an ignore value.
Status LabelExpander::CheckClasses(const uint32_t* ids, uint64_t first, uint64_t count) const {
  if (in_place_ || delivery_ != Delivery::kIndex || ignore_.has_value()) return OkStatus();
  const uint32_t* none = std::find(ids, ids + count, kNoClass);
  if (none == ids + count) return OkStatus();
  return DataLossError("pixel " + std::to_string(first + (none - ids)) +
                       " belongs to no class, and the data set has no ignore value to stand " +
                       "for it; deliver this label as one-hot");
}

Status LabelExpander::WriteChunk(const uint32_t* ids, uint64_t first, uint64_t count,
                                 uint8_t* delivered) const {
  if (in_place_) return OkStatus();
  if (delivery_ == Delivery::kOneHotU8) {
    WriteOneHot(ids, count, classes_, delivered + first * classes_);
    return OkStatus();
  }
  if (delivery_ == Delivery::kOneHotF32) {
    WriteOneHot(ids, count, classes_, reinterpret_cast<float*>(delivered) + first * classes_);
    return OkStatus();
  }
  RETURN_IF_ERROR(CheckClasses(ids, first, count));
  const uint32_t ignore = ignore_.value_or(0);
  if (delivered_.dtype == DType::kU16) {
    WriteIndex(ids, count, ignore, reinterpret_cast<uint16_t*>(delivered) + first);
  } else {
    WriteIndex(ids, count, ignore, delivered + first);
  }
  return OkStatus();
}

Status LabelExpander::DescribeBadPixel(const uint8_t* stored, uint64_t first, const uint32_t* ids,
                                       uint64_t count) const {
  const uint64_t pixel = first + (std::find(ids, ids + count, kBadPixel) - ids);
  const std::string labels = DescribeLabels(classes_, ignore_);
  if (stored_.encoding != LabelEncoding::kIndex) {
    return DataLossError("pixel " + std::to_string(pixel) +
                         " is not one-hot: more than one class " +
                         "is set, or one that does not exist; " + labels);
  }
  uint32_t id = stored[pixel * stored_pixel_bytes_];
  if (stored_.dtype == DType::kU16) id |= uint32_t{stored[pixel * 2 + 1]} << 8;
  return DataLossError("class id " + std::to_string(id) + " at pixel " + std::to_string(pixel) +
                       " is out of range; " + labels);
}

}  // namespace shardmill
