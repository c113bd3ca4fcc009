// Reads the records of coming batches past the page cache (O_DIRECT and io_uring), for data larger
// than memory.
//
// The loader announces each batch when it knows its records. Their reads are issued in that order,
// up to the queue depth at once, into staging buffers, or straight into the slot where the bytes
// on the disk are aligned and nothing has to be decoded. Whoever fills a row takes what was read;
// while it waits, it keeps the queue filled. There is no thread of its own.
// What is not at hand (a record nobody announced, one larger than a staging buffer) is left to the
// mapping. Internal to the batch loader; Announce() is for one thread at a time and never while
// the slot is being filled, Read() for several.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "reader/base/ordered_pipeline.h"
#include "reader/base/read_queue.h"
#include "reader/base/status.h"
#include "reader/batch_plan.h"
#include "reader/batch_slot.h"
#include "reader/stored_source.h"

namespace shardmill {

class DirectReader : public StoredSource {
 public:
  struct Options {
    uint32_t queue_depth = 64;
    // Only where no reader of a row may leave its bytes untaken.
    bool into_slots = true;
    int threads = 1;  // that fill slots
  };

  // `plan` and the buffers of the slots must outlive the reader. Io when io_uring or O_DIRECT is
  // refused, and when a shard was replaced since the data set was opened.
  static Result<std::unique_ptr<DirectReader>> Open(const BatchPlan* plan,
                                                    const std::vector<BatchSlot>& slots,
                                                    const Options& options);
  ~DirectReader() override;  // waits for what is under way
  DirectReader(const DirectReader&) = delete;
  DirectReader& operator=(const DirectReader&) = delete;

  Status Announce(const BatchSlot& slot);
  Result<bool> Read(const Wanted& wanted, void* out, StageClock* clock) override;

 private:
  enum class State : uint8_t { kFree, kQueued, kUnderWay, kDone };
  static constexpr int kNone = -1;

  struct Request {
    State state = State::kFree;
    int shard = 0;
    FileRange range;            // the stored bytes
    uint8_t* target = nullptr;  // of the aligned bytes around them; null: a staging buffer
    int staging = kNone;        // number of that buffer
    int64_t result = 0;
    int next_of_bucket = kNone;  // chain of the hash table
  };
  struct Shard {
    const InputFile* file = nullptr;
    int descriptor = -1;
  };

  DirectReader(const BatchPlan* plan, size_t slots, const Options& options);
  Status OpenShards();
  bool NeedsNoStaging(const FieldPlan& field, const FieldSpec& spec) const;
  Status AllocateStaging();
  void RegisterBuffers(const std::vector<BatchSlot>& slots);
  // Works out the request of one field of a row; left free when the mapping shall read it.
  void Plan(const BatchSlot& slot, uint64_t row, size_t field, Request* request) const;
  void PlanPart(const BatchSlot& slot, uint32_t part, int* number);
  uint8_t* TargetInSlot(const BatchSlot& slot, uint64_t row, size_t field,
                        const FileRange& range) const;
  size_t SlotOf(int number) const { return static_cast<size_t>(number) / requests_per_slot_; }
  size_t BucketOf(int number) const;
  size_t BucketOf(size_t slot, int shard, uint64_t offset) const;
  // The functions below require mutex_.
  void LinkLocked(int number);
  void UnlinkLocked(int number);
  int FindLocked(const Wanted& wanted, const void* out) const;
  Status IssueLocked();
  bool PrepareLocked(int number, ReadQueue::Read* read);
  Status WaitLocked(std::unique_lock<std::mutex>* lock);
  void FreeLocked(int number);
  Status DropSlotLocked(int slot, std::unique_lock<std::mutex>* lock);

  const BatchPlan& plan_;
  const Options options_;
  const size_t requests_per_slot_;
  std::unordered_map<const InputFile*, int> shard_of_;
  std::vector<Shard> shards_;
  std::unique_ptr<ReadQueue> queue_;
  std::unique_ptr<uint8_t, void (*)(void*)> staging_;
  uint64_t staging_bytes_ = 0;  // of one buffer
  int staging_count_ = 0;
  size_t slot_count_ = 0;
  size_t registered_ = 0;  // buffers

  std::mutex mutex_;  // guards what follows
  std::condition_variable progress_;
  std::vector<Request> requests_;  // requests_per_slot_ for each slot
  std::vector<int> order_;         // ring of the queued requests, in the order of announcement
  size_t order_begin_ = 0;
  size_t order_count_ = 0;
  std::vector<int> buckets_;
  std::vector<int> free_staging_;
  std::vector<ReadQueue::Completion> completions_;  // of whoever reaps
  uint32_t under_way_ = 0;
  bool reaping_ = false;
  Status broken_;  // the queue itself failed
};

}  // namespace shardmill
