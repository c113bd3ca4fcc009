#include "reader/direct_reader.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "reader/read_ahead.h"

namespace shardmill {
namespace {

// All staging buffers together; more than the largest queue of small records needs.
constexpr uint64_t kStagingBudget = uint64_t{128} << 20;
constexpr uint64_t kLeastStagingBuffers = 4;
// Reads end in any order, but are taken in that of the batch: while one of them is late, those
// behind it wait in their buffers, and the queue shall stay full all the same.
constexpr uint64_t kBuffersPerRead = 4;
// A coded record may be larger than its tensor, but hardly more than this.
constexpr uint64_t kCodedSlack = 64 * 1024;
// Records of variable shape have no known size; larger ones are left to the mapping.
constexpr uint64_t kVariableBytes = uint64_t{1} << 20;
constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;
constexpr uint64_t kLargestRead = uint64_t{1} << 30;

uint64_t AlignDown(uint64_t value) { return value / kDirectAlignment * kDirectAlignment; }
uint64_t AlignUp(uint64_t value) { return AlignDown(value + kDirectAlignment - 1); }

FileRange AlignedAround(const FileRange& range) {
  const uint64_t begin = AlignDown(range.offset);
  return {begin, AlignUp(range.offset + range.bytes) - begin};
}

// The most that a record's stored bytes are expected to take, with the alignment around them.
uint64_t StagingBytesOf(const FieldSpec& spec) {
  uint64_t bytes = kVariableBytes;
  if (spec.IsFixedShape()) {
    bytes = spec.TensorBytes();
    if (!spec.IsDense()) bytes += bytes / 128 + kCodedSlack;
  }
  return AlignUp(bytes) + 2 * kDirectAlignment;
}

}  // namespace

DirectReader::DirectReader(const BatchPlan* plan, size_t slots, const Options& options)
    : plan_(*plan),
      options_(options),
      requests_per_slot_(plan->capacity_rows * plan->fields.size()),
      staging_(nullptr, std::free),
      slot_count_(slots),
      requests_(slots * requests_per_slot_),
      order_(requests_.size()) {
  size_t buckets = 16;
  while (buckets < 2 * requests_.size()) buckets *= 2;
  buckets_.assign(buckets, kNone);
}

Result<std::unique_ptr<DirectReader>> DirectReader::Open(const BatchPlan* plan,
                                                         const std::vector<BatchSlot>& slots,
                                                         const Options& options) {
  std::unique_ptr<DirectReader> reader(new DirectReader(plan, slots.size(), options));
  ASSIGN_OR_RETURN(reader->queue_, ReadQueue::Create(options.queue_depth));
  reader->completions_.resize(options.queue_depth);
  RETURN_IF_ERROR(reader->OpenShards());
  RETURN_IF_ERROR(reader->AllocateStaging());
  reader->RegisterBuffers(slots);
  return reader;
}

DirectReader::~DirectReader() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    while (under_way_ > 0 && broken_.ok()) {
      if (!WaitLocked(&lock).ok()) break;
    }
  }
  for (const Shard& shard : shards_) ::close(shard.descriptor);
}

Status DirectReader::OpenShards() {
  for (int number = 0; number < plan_.split->shard_count(); ++number) {
    const InputFile& file = plan_.split->shard(number).file();
    ASSIGN_OR_RETURN(const int descriptor, OpenDirect(file.path()));
    shard_of_[&file] = number;
    shards_.push_back({&file, descriptor});
    struct stat info;
    if (::fstat(descriptor, &info) != 0) return ErrnoError("cannot stat " + file.path(), errno);
    if (info.st_ino != file.inode()) {
      return IoError(file.path() + " was replaced by another file while it was in use");
    }
  }
  // Headers and offsets of blocks come through the mapping.
  AdviseRandomReads(*plan_.split);
  AskForBlockHeaders(*plan_.split);
  return OkStatus();
}

// Whether all records of the field are read straight into page-aligned slots.
bool DirectReader::NeedsNoStaging(const FieldPlan& field, const FieldSpec& spec) const {
  return options_.into_slots && spec.IsDense() && field.delivered_bytes == spec.TensorBytes() &&
         (field.delivered_bytes | field.slot_offset) % kDirectAlignment == 0;
}

Status DirectReader::AllocateStaging() {
  staging_bytes_ = kDirectAlignment;
  uint64_t staged_fields = 0;
  for (const FieldPlan& field : plan_.fields) {
    const FieldSpec& spec = plan_.split->shard(0).schema().fields[field.stored_index];
    if (NeedsNoStaging(field, spec)) continue;
    ++staged_fields;
    staging_bytes_ = std::max(staging_bytes_, std::min(StagingBytesOf(spec), kLargestRead));
  }
  // No more than there are records in the ring: all of them are cleared and pinned at once.
  const uint64_t most =
      std::min({kBuffersPerRead * uint64_t{options_.queue_depth}, kStagingBudget / staging_bytes_,
                slot_count_ * plan_.capacity_rows * staged_fields});
  staging_count_ = static_cast<int>(std::max(kLeastStagingBuffers, most));
  const uint64_t bytes = staging_bytes_ * static_cast<uint64_t>(staging_count_);
  const uint64_t rounded = (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  staging_.reset(static_cast<uint8_t*>(std::aligned_alloc(kHugePageBytes, rounded)));
  if (staging_ == nullptr) {
    return InvalidArgumentError("no memory for " + std::to_string(bytes) +
                                " bytes of direct reads; use a smaller queue depth");
  }
  ::madvise(staging_.get(), rounded, MADV_HUGEPAGE);
  for (int number = staging_count_; number > 0; --number) free_staging_.push_back(number - 1);
  return OkStatus();
}

// Buffer 0 is the staging memory, buffer 1 + s is slot s. To register memory is to have it filled
// with zeros and pinned before the first read: slots into which little is read are left out.
void DirectReader::RegisterBuffers(const std::vector<BatchSlot>& slots) {
  std::vector<iovec> buffers;
  buffers.push_back({staging_.get(), staging_bytes_ * static_cast<uint64_t>(staging_count_)});
  const RecordSchema& schema = plan_.split->shard(0).schema();
  const bool reads_into_slots =
      std::any_of(plan_.fields.begin(), plan_.fields.end(), [&](const FieldPlan& field) {
        return NeedsNoStaging(field, schema.fields[field.stored_index]);
      });
  if (reads_into_slots) {
    for (const BatchSlot& slot : slots) buffers.push_back({slot.buffer, plan_.slot_bytes});
  }
  if (queue_->RegisterBuffers(buffers)) registered_ = buffers.size();
}

uint8_t* DirectReader::TargetInSlot(const BatchSlot& slot, uint64_t row, size_t field,
                                    const FileRange& range) const {
  const FieldPlan& plan = plan_.fields[field];
  const FieldSpec& spec = plan_.split->shard(0).schema().fields[plan.stored_index];
  if (!options_.into_slots || !spec.IsDense() || plan.delivered_bytes != range.bytes)
    return nullptr;
  uint8_t* target = slot.buffer + plan.slot_offset + row * plan.delivered_bytes;
  const uint64_t misaligned =
      (range.offset | range.bytes | reinterpret_cast<uintptr_t>(target)) % kDirectAlignment;
  return misaligned == 0 ? target : nullptr;
}

void DirectReader::Plan(const BatchSlot& slot, uint64_t row, size_t field, Request* request) const {
  *request = Request();
  const auto [shard, record] = plan_.split->Locate(slot.records[row]);
  // An error will be met again, and reported, by whoever fills the row.
  const Result<FileRange> range = shard->StoredRange(record, plan_.fields[field].stored_index);
  if (!range.ok() || range->bytes == 0) return;
  request->shard = shard_of_.at(&shard->file());
  request->range = *range;
  request->target = TargetInSlot(slot, row, field, *range);
  if (request->target == nullptr && AlignedAround(*range).bytes > staging_bytes_) return;
  request->state = State::kQueued;
}

void DirectReader::PlanPart(const BatchSlot& slot, uint32_t part, int* number) {
  const uint64_t begin = part * plan_.rows_per_part;
  const uint64_t end = std::min(slot.rows, begin + plan_.rows_per_part);
  for (size_t field = 0; field < plan_.fields.size(); ++field) {
    for (uint64_t row = begin; row < end; ++row) Plan(slot, row, field, &requests_[(*number)++]);
  }
}

Status DirectReader::Announce(const BatchSlot& slot) {
  const int first = static_cast<int>(static_cast<size_t>(slot.number) * requests_per_slot_);
  std::unique_lock<std::mutex> lock(mutex_);
  RETURN_IF_ERROR(DropSlotLocked(slot.number, &lock));
  lock.unlock();
  // Nobody else looks at the requests of a slot that is not being filled.
  int number = first;
  const uint32_t parts = plan_.PartsOf(slot.rows);
  for (uint32_t step = 0; step < parts; ++step) {
    // The order in which the workers are going to fill the slot: each its own share of the parts.
    for (int worker = 0; worker < options_.threads; ++worker) {
      const auto share = OrderedPipeline::ShareOf(parts, worker, options_.threads);
      if (step < share.end - share.begin) PlanPart(slot, share.begin + step, &number);
    }
    if (number == first + static_cast<int>(slot.rows * plan_.fields.size())) break;
  }
  lock.lock();
  for (int planned = first; planned < number; ++planned) {
    if (requests_[planned].state != State::kQueued) continue;
    LinkLocked(planned);
    order_[(order_begin_ + order_count_++) % order_.size()] = planned;
  }
  return IssueLocked();
}

// What is left of the batch that was in the slot before: rows that nobody filled.
Status DirectReader::DropSlotLocked(int slot, std::unique_lock<std::mutex>* lock) {
  const size_t first = static_cast<size_t>(slot) * requests_per_slot_;
  for (size_t number = first; number < first + requests_per_slot_; ++number) {
    Request& request = requests_[number];
    while (request.state == State::kUnderWay) RETURN_IF_ERROR(WaitLocked(lock));
    if (request.state == State::kFree) continue;
    // It may still stand in order_, from where a free request is passed over.
    UnlinkLocked(static_cast<int>(number));
    FreeLocked(static_cast<int>(number));
  }
  // A request that is announced again must not stand in order_ twice.
  size_t kept = 0;
  for (size_t i = 0; i < order_count_; ++i) {
    const int number = order_[(order_begin_ + i) % order_.size()];
    if (requests_[number].state != State::kQueued) continue;
    order_[(order_begin_ + kept++) % order_.size()] = number;
  }
  order_count_ = kept;
  return OkStatus();
}

size_t DirectReader::BucketOf(size_t slot, int shard, uint64_t offset) const {
  const uint64_t key = offset + (uint64_t{slot} << 48) + (static_cast<uint64_t>(shard) << 40);
  return ((key * 0x9E3779B97F4A7C15u) >> 32) & (buckets_.size() - 1);
}

size_t DirectReader::BucketOf(int number) const {
  const Request& request = requests_[number];
  return BucketOf(SlotOf(number), request.shard, request.range.offset);
}

void DirectReader::LinkLocked(int number) {
  Request& request = requests_[number];
  int& head = buckets_[BucketOf(number)];
  request.next_of_bucket = head;
  head = number;
}

void DirectReader::UnlinkLocked(int number) {
  int* link = &buckets_[BucketOf(number)];
  while (*link != number) link = &requests_[*link].next_of_bucket;
  *link = requests_[number].next_of_bucket;
}

// A batch may hold a record several times: of its requests the one that reads into `out`, or else
// the one that was announced first, which stands last.
int DirectReader::FindLocked(const Wanted& wanted, const void* out) const {
  const auto shard = shard_of_.find(&wanted.file);
  if (shard == shard_of_.end()) return kNone;
  const auto slot = static_cast<size_t>(wanted.slot);
  int found = kNone;
  for (int number = buckets_[BucketOf(slot, shard->second, wanted.range.offset)]; number != kNone;
       number = requests_[number].next_of_bucket) {
    const Request& request = requests_[number];
    if (SlotOf(number) != slot || request.shard != shard->second) continue;
    if (request.range.offset != wanted.range.offset) continue;
    if (request.range.bytes != wanted.range.bytes) continue;
    if (request.target == out) return number;
    found = number;
  }
  return found;
}

bool DirectReader::PrepareLocked(int number, ReadQueue::Read* read) {
  Request& request = requests_[number];
  const FileRange aligned = AlignedAround(request.range);
  const size_t slot_buffer = SlotOf(number) + 1;
  read->registered =
      slot_buffer < registered_ ? static_cast<int>(slot_buffer) : ReadQueue::kNotRegistered;
  if (request.target == nullptr) {
    if (free_staging_.empty()) return false;
    request.staging = free_staging_.back();
    free_staging_.pop_back();
    request.target = staging_.get() + static_cast<uint64_t>(request.staging) * staging_bytes_;
    read->registered = registered_ > 0 ? 0 : ReadQueue::kNotRegistered;
  }
  read->descriptor = shards_[request.shard].descriptor;
  read->buffer = request.target;
  read->bytes = static_cast<uint32_t>(aligned.bytes);
  read->offset = aligned.offset;
  read->tag = static_cast<uint64_t>(number);
  return true;
}

Status DirectReader::IssueLocked() {
  RETURN_IF_ERROR(broken_);
  bool pushed = false;
  while (order_count_ > 0 && under_way_ < queue_->depth()) {
    const int number = order_[order_begin_];
    if (requests_[number].state == State::kQueued) {
      ReadQueue::Read read;
      if (!PrepareLocked(number, &read)) break;
      queue_->Push(read);
      requests_[number].state = State::kUnderWay;
      ++under_way_;
      pushed = true;
    }
    order_begin_ = (order_begin_ + 1) % order_.size();
    --order_count_;
  }
  if (!pushed) return OkStatus();
  const Status status = queue_->Submit();
  if (!status.ok()) broken_ = status;
  return status;
}

// Waits until something has happened to a request: by reaping, or while another thread does.
Status DirectReader::WaitLocked(std::unique_lock<std::mutex>* lock) {
  if (reaping_) {
    progress_.wait(*lock);
    return broken_;
  }
  reaping_ = true;
  lock->unlock();
  const Result<size_t> done = queue_->Wait(completions_.data(), completions_.size());
  lock->lock();
  reaping_ = false;
  if (!done.ok()) {
    broken_ = done.status();
  } else {
    for (size_t i = 0; i < *done; ++i) {
      Request& request = requests_[completions_[i].tag];
      request.result = completions_[i].result;
      request.state = State::kDone;
    }
    under_way_ -= static_cast<uint32_t>(*done);
  }
  progress_.notify_all();
  return broken_;
}

void DirectReader::FreeLocked(int number) {
  Request& request = requests_[number];
  if (request.staging != kNone) free_staging_.push_back(request.staging);
  request.staging = kNone;
  request.state = State::kFree;
}

Result<bool> DirectReader::Read(const Wanted& wanted, void* out, StageClock* clock) {
  const FileRange& range = wanted.range;
  std::unique_lock<std::mutex> lock(mutex_);
  const int number = FindLocked(wanted, out);
  if (number == kNone) return false;
  UnlinkLocked(number);
  Request& request = requests_[number];
  RETURN_IF_ERROR(IssueLocked());
  if (request.state == State::kQueued) {
    // All staging buffers hold rows of others, who may be waiting for this one.
    FreeLocked(number);
    return false;
  }
  while (request.state == State::kUnderWay) {
    EnterStage(clock, Stage::kDisk);
    RETURN_IF_ERROR(WaitLocked(&lock));
    RETURN_IF_ERROR(IssueLocked());
  }
  EnterStage(clock, Stage::kCopy);
  const uint64_t before = range.offset - AlignedAround(range).offset;
  const int64_t result = request.result;
  const bool complete = result >= static_cast<int64_t>(before + range.bytes);
  if (complete && request.target + before != out) {
    lock.unlock();
    std::memcpy(out, request.target + before, range.bytes);
    lock.lock();
  }
  FreeLocked(number);
  RETURN_IF_ERROR(IssueLocked());
  if (result < 0) {
    return ErrnoError("cannot read " + std::to_string(range.bytes) + " bytes at offset " +
                          std::to_string(range.offset) + " directly",
                      static_cast<int>(-result));
  }
  return complete;  // what a file that was cut lacks is reported by the mapping
}

}  // namespace shardmill
