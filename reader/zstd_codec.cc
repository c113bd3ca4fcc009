#include "reader/zstd_codec.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reader/base/exception_status.h"
#include "reader/base/little_endian.h"

namespace shardmill {
namespace {

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_CDict* dictionary) const { ZSTD_freeCDict(dictionary); }
};
struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  void operator()(ZSTD_DDict* dictionary) const { ZSTD_freeDDict(dictionary); }
};

// Dictionaries in zstd's working form, by their digest: shards of a set carry equal ones. More
// than a schema can have means that many sets were read: they are made again then.
template <typename Digested, typename Free>
class DictionaryCache {
 public:
  template <typename Make>
  Result<const Digested*> Get(const ZstdDictionary& dictionary, Make make) {
    for (const auto& [digest, digested] : entries_) {
      if (digest == dictionary.digest) return digested.get();
    }
    if (entries_.size() >= kMaxFields) entries_.clear();
    std::unique_ptr<Digested, Free> digested(make(dictionary.bytes));
    // Whether it is well-formed was asked when the schema was read.
    if (digested == nullptr) return OutOfMemoryError("zstd: the dictionary");
    entries_.emplace_back(dictionary.digest, std::move(digested));
    return entries_.back().second.get();
  }

 private:
  std::vector<std::pair<Digest, std::unique_ptr<Digested, Free>>> entries_;
};

bool IsOutOfMemory(size_t result) {
  return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation;
}

uint32_t DictionaryId(const FieldSpec& spec) {
  if (spec.dictionary == nullptr || spec.dictionary->bytes.size() < 8) return 0;
  return LoadU32(reinterpret_cast<const uint8_t*>(spec.dictionary->bytes.data()) + 4);
}

Status FieldDataLoss(const FieldSpec& spec, const std::string& what) {
  return DataLossError("field " + spec.name + " " + what);
}

Status WrongSize(const FieldSpec& spec, uint64_t bytes, uint64_t expected) {
  return FieldDataLoss(
      spec, "decodes to " + std::to_string(bytes) + " bytes, not " + std::to_string(expected));
}

// One whole frame that says its own decoded size: what FORMAT.md allows.
Status CheckFrame(const FieldSpec& spec, const void* stored, uint64_t stored_bytes,
                  uint64_t tensor_bytes) {
  ASSIGN_OR_RETURN(const uint64_t content_bytes, ZstdContentBytes(spec, stored, stored_bytes));
  if (content_bytes != tensor_bytes) return WrongSize(spec, content_bytes, tensor_bytes);
  const size_t frame_bytes = ZSTD_findFrameCompressedSize(stored, stored_bytes);
  if (ZSTD_isError(frame_bytes) || frame_bytes != stored_bytes) {
    return FieldDataLoss(spec, "does not hold exactly one zstd frame");
  }
  return OkStatus();
}

}  // namespace

Result<uint64_t> ZstdContentBytes(const FieldSpec& spec, const void* start, uint64_t bytes) {
  // zstd itself would pass over a skippable frame as if it were an empty one.
  if (bytes < 4 || LoadU32(static_cast<const uint8_t*>(start)) != ZSTD_MAGICNUMBER) {
    return FieldDataLoss(spec, "holds no zstd frame");
  }
  const unsigned long long content_bytes = ZSTD_getFrameContentSize(start, bytes);
  if (content_bytes == ZSTD_CONTENTSIZE_ERROR || content_bytes == ZSTD_CONTENTSIZE_UNKNOWN) {
    return FieldDataLoss(spec, "holds a zstd frame that does not say its size");
  }
  if (ZSTD_getDictID_fromFrame(start, bytes) != DictionaryId(spec)) {
    return FieldDataLoss(spec, "holds a zstd frame of another dictionary than the field's");
  }
  return uint64_t{content_bytes};
}

Status CheckZstdDictionary(const ZstdDictionary& dictionary) {
  const std::string& bytes = dictionary.bytes;
  const std::unique_ptr<ZSTD_DDict, FreeDecompressor> digested(
      ZSTD_createDDict(bytes.data(), bytes.size()));
  return digested == nullptr ? DataLossError("the dictionary is malformed") : OkStatus();
}

struct ZstdCompressor::Impl {
  int level = kDefaultZstdLevel;
  DictionaryCache<ZSTD_CDict, FreeCompressor> dictionaries;
  std::unique_ptr<ZSTD_CCtx, FreeCompressor> context;
  // Frames are made here and copied out: they are far smaller than what they might have needed,
  // which a string would be filled with zeros for.
  std::unique_ptr<char[]> room;
  size_t room_bytes = 0;

  void ReserveRoom(size_t bytes) {
    if (bytes <= room_bytes) return;
    room_bytes = 0;
    room.reset();
    room.reset(new char[bytes]);
    room_bytes = bytes;
  }

  // Null for a field without one.
  Result<const ZSTD_CDict*> DictionaryOf(const FieldSpec& spec) {
    if (spec.dictionary == nullptr) return static_cast<const ZSTD_CDict*>(nullptr);
    return dictionaries.Get(*spec.dictionary, [this](const std::string& bytes) {
      return ZSTD_createCDict(bytes.data(), bytes.size(), level);
    });
  }
};

ZstdCompressor::ZstdCompressor(int level) : impl_(std::make_unique<Impl>()) {
  impl_->level = std::clamp(level, kMinZstdLevel, kMaxZstdLevel);
}
ZstdCompressor::~ZstdCompressor() = default;
ZstdCompressor::ZstdCompressor(ZstdCompressor&&) noexcept = default;
ZstdCompressor& ZstdCompressor::operator=(ZstdCompressor&&) noexcept = default;

Status ZstdCompressor::Compress(const FieldSpec& spec, const void* tensor, uint64_t bytes,
                                std::string* out) {
  if (impl_->context == nullptr) impl_->context.reset(ZSTD_createCCtx());
  ZSTD_CCtx* context = impl_->context.get();
  if (context == nullptr) return OutOfMemoryError("zstd");
  ASSIGN_OR_RETURN(const ZSTD_CDict* dictionary, impl_->DictionaryOf(spec));
  // The frame carries its content size, which a reader insists on, and no checksum, because the
  // record has ours.
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, impl_->level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
  ZSTD_CCtx_refCDict(context, dictionary);
  const size_t most_bytes = ZSTD_compressBound(bytes);
  impl_->ReserveRoom(most_bytes);
  char* room = impl_->room.get();
  const size_t written = ZSTD_compress2(context, room, most_bytes, tensor, bytes);
  if (IsOutOfMemory(written)) return OutOfMemoryError("field " + spec.name + ": zstd");
  if (ZSTD_isError(written)) {
    return InternalError("field " + spec.name + ": zstd: " + ZSTD_getErrorName(written));
  }
  out->assign(room, written);
  return OkStatus();
}

struct ZstdDecompressor::Impl {
  DictionaryCache<ZSTD_DDict, FreeDecompressor> dictionaries;
  std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context;

  Result<const ZSTD_DDict*> DictionaryOf(const FieldSpec& spec) {
    if (spec.dictionary == nullptr) return static_cast<const ZSTD_DDict*>(nullptr);
    return dictionaries.Get(*spec.dictionary, [](const std::string& bytes) {
      return ZSTD_createDDict(bytes.data(), bytes.size());
    });
  }
};

ZstdDecompressor::ZstdDecompressor() : impl_(std::make_unique<Impl>()) {}
ZstdDecompressor::~ZstdDecompressor() = default;
ZstdDecompressor::ZstdDecompressor(ZstdDecompressor&&) noexcept = default;
ZstdDecompressor& ZstdDecompressor::operator=(ZstdDecompressor&&) noexcept = default;

Status ZstdDecompressor::Decompress(const FieldSpec& spec, const void* stored,
                                    uint64_t stored_bytes, void* tensor, uint64_t tensor_bytes) {
  if (impl_->context == nullptr) impl_->context.reset(ZSTD_createDCtx());
  if (impl_->context == nullptr) return OutOfMemoryError("zstd");
  RETURN_IF_ERROR(CheckFrame(spec, stored, stored_bytes, tensor_bytes));
  ASSIGN_OR_RETURN(const ZSTD_DDict* dictionary, impl_->DictionaryOf(spec));
  const size_t written = ZSTD_decompress_usingDDict(impl_->context.get(), tensor, tensor_bytes,
                                                    stored, stored_bytes, dictionary);
  if (IsOutOfMemory(written)) return OutOfMemoryError("field " + spec.name + ": zstd");
  if (ZSTD_isError(written)) {
    return FieldDataLoss(spec, std::string(": zstd: ") + ZSTD_getErrorName(written));
  }
  if (written != tensor_bytes) return WrongSize(spec, written, tensor_bytes);
  return OkStatus();
}

}  // namespace shardmill
