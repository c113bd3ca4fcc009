#include "reader/meta_walker.h"

#include <algorithm>

#include "reader/record_meta_scan.h"

namespace shardmill {
namespace {

// Metadata that is copied at once; a single record may have as much.
constexpr uint64_t kCopyBytes = kMaxMetaBytes;

}  // namespace

Status ReadBounds(const InputFile& file, uint64_t table_offset, uint32_t records,
                  uint64_t heap_bytes, uint32_t first, uint32_t count,
                  std::vector<uint64_t>* bounds) {
  bounds->resize(uint64_t{count} + 1);
  // The host is little-endian like the file; shard_format.cc insists on it.
  RETURN_IF_ERROR(
      file.Read(table_offset + 8 * uint64_t{first}, 8 * bounds->size(), bounds->data()));
  bool ascending = bounds->back() <= heap_bytes;
  for (uint32_t i = 0; i < count; ++i) ascending &= (*bounds)[i] <= (*bounds)[i + 1];
  const bool begins = first != 0 || bounds->front() == 0;
  const bool ends = first + count != records || bounds->back() == heap_bytes;
  if (!ascending || !begins || !ends) {
    return DataLossError("the offsets do not divide the region");
  }
  return OkStatus();
}

Status MetaWalker::Walk(const InputFile& file, uint64_t block_offset, const BlockHeader& header,
                        const Take& take) {
  const uint64_t offset = block_offset + header.meta_offset;
  const uint64_t table_bytes = MetaTableBytes(header.records);
  if (header.meta_bytes < table_bytes) return DataLossError("there is no room for its offsets");
  ASSIGN_OR_RETURN(const uint64_t checksum, file.Checksum64(offset, header.meta_bytes));
  if (checksum != header.meta_checksum) {
    return DataLossError("the metadata region is damaged: its checksum differs");
  }
  const uint64_t heap_bytes = header.meta_bytes - table_bytes;
  for (uint32_t first = 0; first < header.records;) {
    const uint32_t count = std::min(kWindowRecords, header.records - first);
    RETURN_IF_ERROR(ReadBounds(file, offset, header.records, heap_bytes, first, count, &bounds_));
    RETURN_IF_ERROR(TakeWindow(file, offset + table_bytes, first, take));
    first += count;
  }
  return OkStatus();
}

// The records of bounds_, in as few copies as their sizes allow.
Status MetaWalker::TakeWindow(const InputFile& file, uint64_t heap_offset, uint32_t first,
                              const Take& take) {
  const size_t count = bounds_.size() - 1;
  for (size_t begin = 0; begin < count;) {
    size_t end = begin + 1;
    while (end < count && bounds_[end + 1] - bounds_[begin] <= kCopyBytes) ++end;
    const uint64_t bytes = bounds_[end] - bounds_[begin];
    keys_.assign(end - begin, std::string_view());
    // Larger: one record, as no writer makes it.
    if (bytes <= kCopyBytes) {
      if (heap_.size() < bytes) heap_.resize(bytes);
      RETURN_IF_ERROR(file.Read(heap_offset + bounds_[begin], bytes, heap_.data()));
      ScanWindow(begin, end);
    }
    take(first + static_cast<uint32_t>(begin), keys_);
    begin = end;
  }
  return OkStatus();
}

// The keys of records [begin, end) of bounds_, whose metadata is in heap_.
void MetaWalker::ScanWindow(size_t begin, size_t end) {
  if (storage_.size() < end - begin) storage_.resize(end - begin);
  for (size_t i = begin; i < end; ++i) {
    keys_[i - begin] = ScanRecordKey(heap_.data() + (bounds_[i] - bounds_[begin]),
                                     bounds_[i + 1] - bounds_[i], &storage_[i - begin]);
  }
}

std::string MetaWalker::KeyOf(const InputFile& file, uint64_t block_offset,
                              const BlockHeader& header, uint32_t record) {
  const HeapRegion heap = {{block_offset + header.meta_offset, header.meta_bytes},
                           MetaTableBytes(header.records)};
  const Result<FileRange> range = ReadHeapRange(file, heap, record);
  if (!range.ok() || range->bytes > kMaxMetaBytes) return std::string();
  std::string bytes(range->bytes, '\0');
  if (!file.Read(range->offset, range->bytes, bytes.data()).ok()) return std::string();
  std::string storage;
  return std::string(
      ScanRecordKey(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &storage));
}

}  // namespace shardmill
