#include "tools/salvage/mend_shard.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/little_endian.h"
#include "reader/block_format.h"
#include "reader/shard_format.h"
#include "reader/shard_parts.h"

namespace shardmill {
namespace {

constexpr uint64_t kCopyBytes = uint64_t{1} << 20;

// The file in the making.
class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Begins as a copy of another file.
  Status Create(const std::string& path, const std::string& first) {
    path_ = path;
    std::error_code error;
    std::filesystem::copy_file(first, path, error);
    if (error) return ErrnoError("cannot copy " + first + " to " + path, error.value());
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    return descriptor_ < 0 ? ErrnoError("cannot write to " + path, errno) : OkStatus();
  }
  Status Resize(uint64_t bytes) {
    if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0) return OkStatus();
    return ErrnoError("cannot write to " + path_, errno);
  }
  Status Write(uint64_t offset, const void* data, uint64_t bytes) {
    for (uint64_t done = 0; done < bytes;) {
      const ssize_t written = ::pwrite(descriptor_, static_cast<const uint8_t*>(data) + done,
                                       bytes - done, static_cast<off_t>(offset + done));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return ErrnoError("cannot write to " + path_, errno);
      done += static_cast<uint64_t>(written);
    }
    return OkStatus();
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

struct Copy {
  const ShardReport* report = nullptr;
  std::unique_ptr<InputFile> file;
};

class Mender {
 public:
  Mender(const RecordSchema& schema, OutputFile* out) : schema_(schema), out_(out) {}

  Status Mend(const std::vector<const ShardReport*>& reports, FileAccess access) {
    for (const ShardReport* report : reports) {
      ASSIGN_OR_RETURN(std::unique_ptr<InputFile> file, InputFile::Open(report->path, access));
      copies_.push_back({report, std::move(file)});
    }
    RETURN_IF_ERROR(MendParts());
    for (const auto& [number, entry] : Blocks()) RETURN_IF_ERROR(MendBlock(number, entry));
    return OkStatus();
  }

 private:
  // Where a block may lie in a copy.
  struct Place {
    const InputFile* file = nullptr;
    uint64_t offset = 0;
  };

  const Copy* FirstWith(bool ShardReport::*part) const {
    for (const Copy& copy : copies_) {
      if (copy.report->*part) return &copy;
    }
    return nullptr;
  }

  Status TakePart(const Copy& copy, uint64_t offset, uint64_t bytes) {
    return CopyRange({copy.file.get(), offset}, offset, bytes);
  }

  Status CopyRange(const Place& from, uint64_t to, uint64_t bytes) {
    // The new file began as a copy of this one.
    if (from.file == copies_.front().file.get() && from.offset == to) return OkStatus();
    for (uint64_t done = 0; done < bytes;) {
      const uint64_t step = std::min(bytes - done, kCopyBytes);
      if (buffer_.size() < step) buffer_.resize(step);
      RETURN_IF_ERROR(from.file->Read(from.offset + done, step, buffer_.data()));
      RETURN_IF_ERROR(out_->Write(to + done, buffer_.data(), step));
      done += step;
    }
    return OkStatus();
  }

  // A copy whose superblock is lost may have it all the same.
  Status MendSchema(const Superblock& superblock) {
    const uint64_t bytes = PaddedBytes(superblock.schema_bytes);
    for (const Copy& copy : copies_) {
      const Result<uint64_t> sum = copy.file->Checksum64(kSchemaOffset, bytes);
      if (!sum.ok() || *sum != superblock.schema_checksum) continue;
      return TakePart(copy, kSchemaOffset, bytes);
    }
    return OkStatus();
  }

  Status MendParts() {
    if (const Copy* copy = FirstWith(&ShardReport::has_superblock)) {
      RETURN_IF_ERROR(TakePart(*copy, 0, kSuperblockBytes));
      RETURN_IF_ERROR(MendSchema(copy->report->parts->superblock));
    }
    const Copy* footer = FirstWith(&ShardReport::has_footer);
    if (footer == nullptr) return OkStatus();
    const Postscript& postscript = footer->report->parts->postscript;
    RETURN_IF_ERROR(TakePart(*footer, postscript.footer_offset, postscript.footer_bytes));
    const uint64_t end = postscript.footer_offset + postscript.footer_bytes;
    RETURN_IF_ERROR(out_->Resize(end + kPostscriptBytes));
    for (const Copy& copy : copies_) {
      const Result<Postscript> found = ReadPostscript(*copy.file);
      if (!found.ok() || found->file_bytes != end + kPostscriptBytes) continue;
      return TakePart(copy, end, kPostscriptBytes);
    }
    return OkStatus();
  }

  // By number: where they belong, as the footer says; else where a sound header stands.
  std::map<uint32_t, BlockTableEntry> Blocks() const {
    std::map<uint32_t, BlockTableEntry> blocks;
    if (const Copy* footer = FirstWith(&ShardReport::has_footer)) {
      const std::vector<BlockTableEntry>& table = footer->report->parts->footer.blocks;
      for (uint32_t i = 0; i < table.size(); ++i) blocks.emplace(i, table[i]);
      return blocks;
    }
    for (const Copy& copy : copies_) {
      for (const BlockOutcome& block : copy.report->blocks) {
        if (block.in_place) blocks.emplace(block.number, block.entry);
      }
    }
    return blocks;
  }

  // Where each copy may have the block, those with a sound header first; empty when none has one.
  std::vector<Place> PlacesOf(uint32_t number, const BlockTableEntry& entry) const {
    std::vector<Place> places, others;
    for (const Copy& copy : copies_) {
      const auto& blocks = copy.report->blocks;
      const auto block = std::find_if(blocks.begin(), blocks.end(), [&](const BlockOutcome& each) {
        return each.number == number && each.in_place;
      });
      const bool is_sound = block != blocks.end();
      (is_sound ? places : others)
          .push_back({copy.file.get(), is_sound ? block->entry.offset : entry.offset});
    }
    if (places.empty()) return places;
    places.insert(places.end(), others.begin(), others.end());
    return places;
  }

  Status MendBlock(uint32_t number, const BlockTableEntry& entry) {
    const std::vector<Place> places = PlacesOf(number, entry);
    if (places.empty()) return OkStatus();
    const Result<BlockHeader> header =
        ReadBlockHeader(*places.front().file, places.front().offset, entry.bytes);
    if (!header.ok() || !CheckBlockHeader(*header, schema_).ok()) return OkStatus();
    block_ = {&places, &*header, entry.offset};
    RETURN_IF_ERROR(CopyRange(places.front(), entry.offset, header->header_bytes));
    for (uint32_t field = 0; field < header->fields.size(); ++field) {
      const FieldRegion& region = header->fields[field];
      RETURN_IF_ERROR(schema_.fields[field].IsDense() ? MendDense(field) : MendHeap(field));
      RETURN_IF_ERROR(WritePadding(region.offset, region.bytes));
    }
    RETURN_IF_ERROR(
        TakePiece(header->meta_offset, header->meta_bytes, header->meta_checksum).status());
    return WritePadding(header->meta_offset, header->meta_bytes);
  }

  // Bytes [offset, offset + bytes) of the block from the first place where they have this sum. The
  // place; null when there is none.
  Result<const Place*> TakePiece(uint64_t offset, uint64_t bytes, uint64_t sum) {
    for (const Place& place : *block_.places) {
      const Result<uint64_t> found = place.file->Checksum64(place.offset + offset, bytes);
      if (!found.ok() || *found != sum) continue;
      RETURN_IF_ERROR(
          CopyRange({place.file, place.offset + offset}, block_.offset + offset, bytes));
      return &place;
    }
    return nullptr;
  }

  Status WritePadding(uint64_t offset, uint64_t bytes) {
    static constexpr uint8_t kZeros[kAlignment] = {};
    return out_->Write(block_.offset + offset + bytes, kZeros, PaddedBytes(bytes) - bytes);
  }

  Status TakeRecord(uint32_t field, uint32_t index, uint64_t offset, uint64_t bytes) {
    uint8_t sum[8];
    const Place& header = block_.places->front();
    RETURN_IF_ERROR(header.file->Read(
        header.offset + block_.header->RecordChecksumOffset(field, index), sizeof sum, sum));
    return TakePiece(offset, bytes, LoadU64(sum)).status();
  }

  Status MendDense(uint32_t field) {
    const uint64_t bytes = schema_.fields[field].TensorBytes();
    for (uint32_t i = 0; i < block_.header->records; ++i) {
      RETURN_IF_ERROR(TakeRecord(field, i, block_.header->fields[field].offset + i * bytes, bytes));
    }
    return OkStatus();
  }

  Status MendHeap(uint32_t field) {
    const FieldRegion& region = block_.header->fields[field];
    const uint64_t table_bytes = RegionTableBytes(
        block_.header->records, static_cast<uint64_t>(schema_.fields[field].VariableDimCount()));
    ASSIGN_OR_RETURN(const Place* table,
                     TakePiece(region.offset, table_bytes, region.table_checksum));
    if (table == nullptr) return OkStatus();
    const HeapRegion heap = {{table->offset + region.offset, region.bytes}, table_bytes};
    for (uint32_t i = 0; i < block_.header->records; ++i) {
      ASSIGN_OR_RETURN(const FileRange range, ReadHeapRange(*table->file, heap, i));
      RETURN_IF_ERROR(TakeRecord(field, i, range.offset - table->offset, range.bytes));
    }
    return OkStatus();
  }

  struct Block {
    const std::vector<Place>* places = nullptr;
    const BlockHeader* header = nullptr;
    uint64_t offset = 0;  // in the file in the making
  };

  const RecordSchema& schema_;
  OutputFile* out_;
  std::vector<Copy> copies_;
  Block block_;
  std::vector<uint8_t> buffer_;
};

}  // namespace

Status MendShard(const std::vector<const ShardReport*>& copies, const RecordSchema& schema,
                 FileAccess access, const std::string& out) {
  OutputFile file;
  RETURN_IF_ERROR(file.Create(out, copies.front()->path));
  return Mender(schema, &file).Mend(copies, access);
}

}  // namespace shardmill
