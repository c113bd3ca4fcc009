#include "trainer/cuda/dnn/plan_cache.h"

#include <chrono>
#include <iterator>
#include <thread>
#include <tuple>
#include <utility>

#include "reader/base/checksum.h"
#include "reader/base/file.h"
#include "reader/base/file_remnants.h"
#include "reader/base/folder_lock.h"
#include "reader/base/little_endian.h"

namespace shardmill {
namespace {

constexpr char kMagic[] = "SMILLPLN";
constexpr uint64_t kMagicBytes = 8;
// Files of version 1 may also say that there is no plan where cuDNN was not whole.
constexpr uint32_t kVersion = 2;
constexpr uint64_t kHeaderBytes = 16;
constexpr uint64_t kChecksumBytes = 8;
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 28;
// Another process holds the lock for as long as it takes to write such a file.
constexpr int kLockTries = 1000;
constexpr std::chrono::milliseconds kLockPause(10);

void AppendU32(uint32_t value, std::string* file) {
  uint8_t bytes[4];
  StoreU32(value, bytes);
  file->append(reinterpret_cast<const char*>(bytes), sizeof bytes);
}

void AppendU64(uint64_t value, std::string* file) {
  uint8_t bytes[8];
  StoreU64(value, bytes);
  file->append(reinterpret_cast<const char*>(bytes), sizeof bytes);
}

void AppendText(const std::string& text, std::string* file) {
  AppendU32(static_cast<uint32_t>(text.size()), file);
  file->append(text);
}

const uint8_t* BytesOf(const std::string& file) {
  return reinterpret_cast<const uint8_t*>(file.data());
}

// Takes pieces from the front. After a piece that is longer than the rest, `failed` stays true.
class Pieces {
 public:
  Pieces(const uint8_t* data, uint64_t bytes) : data_(data), left_(bytes) {}

  std::string TakeText() {
    const uint64_t bytes = Has(4) ? LoadU32(Take(4)) : 0;
    if (!Has(bytes)) return "";
    return std::string(reinterpret_cast<const char*>(Take(bytes)), bytes);
  }
  uint64_t TakeU64() { return Has(8) ? LoadU64(Take(8)) : 0; }
  bool failed() const { return failed_; }
  bool empty() const { return left_ == 0; }

 private:
  bool Has(uint64_t bytes) {
    failed_ = failed_ || bytes > left_;
    return !failed_;
  }
  const uint8_t* Take(uint64_t bytes) {
    const uint8_t* piece = data_;
    data_ += bytes;
    left_ -= bytes;
    return piece;
  }

  const uint8_t* data_;
  uint64_t left_;
  bool failed_ = false;
};

bool IsOfPlans(const std::string& file) {
  return file.compare(0, kMagicBytes, kMagic, kMagicBytes) == 0;
}

Result<FolderLock> AwaitLock(const std::string& path) {
  const std::string name = FileName(path) + ".lock";
  for (int i = 0; i < kLockTries; ++i) {
    ASSIGN_OR_RETURN(auto lock, FolderLock::TryAcquire(FolderName(path), LockKind::kAlone, name));
    if (lock) return std::move(*lock);
    std::this_thread::sleep_for(kLockPause);
  }
  const std::string holders = FolderLock::Holders(FolderName(path), name);
  return UnavailableError("another process keeps " + path + " locked" +
                          (holders.empty() ? "" : " (" + holders + ")") +
                          "; name another file of plans");
}

}  // namespace

bool PlanKey::operator<(const PlanKey& other) const {
  return std::tie(device, library, problem) < std::tie(other.device, other.library, other.problem);
}

Result<PlanCache> PlanCache::Open(const std::string& path, std::string* note) {
  PlanCache cache;
  cache.path_ = path;
  const auto file = ReadFile(path, kMaxFileBytes);
  if (file.status().code() == StatusCode::kNotFound) return cache;
  RETURN_IF_ERROR(file.status());
  if (file->empty()) return cache;
  if (!IsOfPlans(*file)) {
    return InvalidArgumentError(path + " is no file of plans and is left as it is; name another");
  }
  const Status status = Decode(*file, &cache.plans_);
  if (status.ok()) return cache;
  cache.plans_.clear();
  *note = "the plans in " + path + " are not taken and will be made anew: " + status.message();
  return cache;
}

Status PlanCache::Decode(const std::string& file, Plans* plans) {
  if (file.size() < kHeaderBytes + kChecksumBytes || !IsOfPlans(file)) {
    return DataLossError("it is damaged");
  }
  const uint8_t* bytes = BytesOf(file);
  const uint64_t covered = file.size() - kChecksumBytes;
  if (LoadU64(bytes + covered) != Checksum64(bytes, covered)) {
    return DataLossError("it is damaged");
  }
  if (const uint32_t version = LoadU32(bytes + 8); version != kVersion) {
    return DataLossError("it has format version " + std::to_string(version) +
                         ", this program knows version " + std::to_string(kVersion));
  }
  Pieces pieces(bytes + kHeaderBytes, covered - kHeaderBytes);
  const uint32_t count = LoadU32(bytes + 12);
  for (uint32_t i = 0; i < count && !pieces.failed(); ++i) {
    PlanKey key;
    key.device = pieces.TakeText();
    key.library = pieces.TakeText();
    key.problem = pieces.TakeText();
    CachedPlan plan;
    plan.json = pieces.TakeText();
    plan.workspace_bytes = static_cast<int64_t>(pieces.TakeU64());
    if (plan.workspace_bytes < 0) return DataLossError("a size in it is negative");
    (*plans)[key] = std::move(plan);
  }
  const bool whole = !pieces.failed() && pieces.empty();
  return whole ? OkStatus() : DataLossError("its entries do not fill it");
}

const CachedPlan* PlanCache::Find(const PlanKey& key) const {
  const auto found = plans_.find(key);
  return found == plans_.end() ? nullptr : &found->second;
}

void PlanCache::Put(const PlanKey& key, CachedPlan plan) {
  for (auto entry = plans_.begin(); entry != plans_.end();) {
    const bool outdated = entry->first.device == key.device && entry->first.library != key.library;
    entry = outdated ? plans_.erase(entry) : std::next(entry);
  }
  plans_[key] = std::move(plan);
  dropped_.erase(key);
  changed_ = true;
}

void PlanCache::Drop(const PlanKey& key) {
  plans_.erase(key);
  dropped_.insert(key);
  changed_ = true;
}

std::string PlanCache::Encode() const {
  std::string file(kMagic, kMagicBytes);
  AppendU32(kVersion, &file);
  AppendU32(static_cast<uint32_t>(plans_.size()), &file);
  for (const auto& [key, plan] : plans_) {
    for (const std::string* text : {&key.device, &key.library, &key.problem, &plan.json}) {
      AppendText(*text, &file);
    }
    AppendU64(static_cast<uint64_t>(plan.workspace_bytes), &file);
  }
  AppendU64(Checksum64(file.data(), file.size()), &file);
  return file;
}

// What others have saved meanwhile, except for versions of the library that this process replaced
// and for what it dropped.
// A file that is damaged by now has nothing to add.
Status PlanCache::Merge() {
  const auto file = ReadFile(path_, kMaxFileBytes);
  Plans others;
  if (!file.ok() || file->empty()) return OkStatus();
  if (!IsOfPlans(*file)) {
    return InvalidArgumentError(path_ + " has become a file of another kind; it is left as it is");
  }
  if (!Decode(*file, &others).ok()) return OkStatus();
  std::map<std::string, std::string> libraries;  // by device, those of this process
  for (const auto& [key, plan] : plans_) libraries[key.device] = key.library;
  for (auto& [key, plan] : others) {
    if (dropped_.count(key) > 0) continue;
    const auto own = libraries.find(key.device);
    if (own == libraries.end() || own->second == key.library) plans_.emplace(key, std::move(plan));
  }
  return OkStatus();
}

Status PlanCache::Save() {
  if (path_.empty() || !changed_ || is_given_up_) return OkStatus();
  const Status written = Write();
  changed_ = false;
  is_given_up_ = !written.ok();
  return written;
}

Status PlanCache::Write() {
  ASSIGN_OR_RETURN(const FolderLock lock, AwaitLock(path_));
  RETURN_IF_ERROR(Merge());
  const std::string file = Encode();
  RemoveRemnants(path_);
  ASSIGN_OR_RETURN(AtomicFile output, AtomicFile::Create(path_));
  RETURN_IF_ERROR(output.Append(file.data(), file.size()));
  return output.Commit();
}

}  // namespace shardmill
