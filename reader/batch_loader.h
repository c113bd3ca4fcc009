// Streams batches of a split: threads fill a ring of reusable buffers in a known order.
//
//   auto dataset = Dataset::Open("camvid-shards", "train");
//   BatchLoaderOptions options;
//   options.split = "train";
//   options.global_batch = 8;
//   auto loader = BatchLoader::Open(*dataset, options);
//   while (true) {
//     auto batch = (*loader)->Next();           // Result<std::optional<Batch>>
//     if (!batch.ok() || !batch->has_value()) break;
//     const FieldView& image = (**batch).field("image");
//   }
//
// Order: global batch b of an epoch is positions [bG, (b+1)G) of its RecordOrder; rank r takes its
// SliceForRank. So what a step sees depends on (seed, epoch, step) alone, not on threads, and a
// run can start at any epoch and step.
// Memory: `slots` buffers are allocated at Open and never grow; nothing is allocated per batch.
// Threads: Next() is for one thread at a time; Cancel() may be called from any. The destructor
// joins all threads, in the middle of an epoch too.
// Errors: the first error in the order of the batches is returned by Next(), with shard, record
// and field, and by every later call; BadRecordPolicy can pass over records that are damaged. At
// the start of each epoch a shard whose file was replaced or changed its size is an error too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/augment.h"
#include "reader/bad_record_log.h"
#include "reader/base/status.h"
#include "reader/batch.h"
#include "reader/dataset.h"
#include "reader/field_request.h"
#include "reader/loader_trace.h"
#include "reader/record_order.h"

namespace shardmill {

// What to do with the records that do not fill the last global batch of an epoch.
enum class TailPolicy {
  kDrop,     // leave them out of this epoch
  kPad,      // repeat records of the same epoch with weight 0: every batch is full
  kPartial,  // one smaller batch; every rank still gets it, perhaps with 0 rows
};

// When to ask the kernel for the records of coming batches. It costs a system call per record, so
// it pays only for data that is not in memory.
enum class ReadAhead {
  kNever,
  kWhenCold,  // while reads have to wait for the disk
  kAlways,
};

// How the bytes of records come from the disk.
enum class Io {
  kMapped,  // through the page cache, out of a mapping
  // Past the page cache (O_DIRECT and io_uring), as far ahead as the ring reaches: for data larger
  // than memory. Open() fails where the kernel or the file system refuses it.
  kDirect,
};

struct BatchLoaderOptions {
  std::string split;
  std::vector<FieldRequest> fields;  // empty: all fields as stored
  uint64_t global_batch = 1;         // records of all ranks together; >= ranks
  uint32_t rank = 0;
  uint32_t ranks = 1;
  Order order = Order::kShuffled;
  BlockWindow block_window;  // for Order::kBlockWindow
  SampleWeights weights;     // for Order::kWeighted
  Variants variants = Variants::kAll;
  LengthBuckets buckets;
  Augment augment;
  TailPolicy tail = TailPolicy::kDrop;
  uint64_t seed = 0;
  uint64_t first_epoch = 0;
  uint64_t first_step = 0;  // within first_epoch
  uint64_t epochs = 1;      // how many to stream, the first one included
  BadRecordPolicy bad_records = BadRecordPolicy::kFail;
  uint64_t max_bad_records = 1000;  // different ones; one more is an error under any policy
  int threads = 1;
  int slots = 3;  // batches in the ring, counting those the caller holds
  // The most that the slots and the threads' memory may take together; 0: no limit. More is an
  // error when the loader opens, so a loader never grows into it later: what Open() allocated is
  // all, but for records without a known size (see Padding::lengths and Augment) that are larger
  // than a slot's. Io::kDirect is not counted: about 128 MiB of buffers at most, and 100 bytes for
  // each row and field of a slot.
  uint64_t max_bytes = 0;
  Io io = Io::kMapped;
  uint32_t queue_depth = 64;                    // reads under way at once, for Io::kDirect
  ReadAhead read_ahead = ReadAhead::kWhenCold;  // for Io::kMapped
  uint64_t trace_spans = 0;  // how many spans of time each thread keeps for WriteTrace()
  // Replaces the allocator of the slots (for pinned memory). Buffers must be 64-byte aligned; they
  // are released once the loader and all its batches are gone.
  std::function<void*(uint64_t bytes)> allocate;
  std::function<void(void* buffer, uint64_t bytes)> release;
};

// Where the time of the loader went, in nanoseconds summed over its threads.
struct LoaderTimes {
  // Of the workers (see Stage in stage_clock.h for the limits between them):
  uint64_t disk_ns = 0;
  uint64_t copy_ns = 0;
  uint64_t checksum_ns = 0;
  uint64_t decode_ns = 0;
  uint64_t expand_ns = 0;
  uint64_t wait_for_slot_ns = 0;  // all slots were taken
  // Of the thread that calls Next() and destroys batches:
  uint64_t plan_ns = 0;           // working out which records a batch holds
  uint64_t consumer_wait_ns = 0;  // Next(): no batch was ready
  uint64_t batches = 0;
  uint64_t records = 0;
};

class BatchLoader {
 public:
  // InvalidArgument names the option; 0 records and fewer records than one batch with
  // TailPolicy::kDrop are errors too.
  static Result<std::unique_ptr<BatchLoader>> Open(std::shared_ptr<const Dataset> dataset,
                                                   const BatchLoaderOptions& options);
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  // The next batch in order; nullopt after the last epoch; Cancelled after Cancel().
  Result<std::optional<Batch>> Next();
  void Cancel();

  uint64_t steps_per_epoch() const;  // the same on every rank, known before the first batch
  uint64_t memory_bytes() const;     // of the slots and the threads, as max_bytes counts them
  // The records that were skipped or substituted so far, with shard, record, key and error.
  std::vector<BadRecord> bad_records() const;
  LoaderTimes times() const;
  // A Chrome trace of the spans that BatchLoaderOptions::trace_spans kept: a lane for each worker,
  // for Next() and for the planning of batches. InvalidArgument when none were asked for.
  Status WriteTrace(const std::string& path) const;
  // The same lanes, for a trace of more than the loader; they live as long as the loader.
  std::vector<TraceLane> trace_lanes() const;

 private:
  explicit BatchLoader(std::shared_ptr<LoaderState> state);
  static Result<std::shared_ptr<LoaderState>> OpenState(std::shared_ptr<const Dataset> dataset,
                                                        const BatchLoaderOptions& options);
  std::shared_ptr<LoaderState> state_;  // shared with the batches that are held
};

}  // namespace shardmill
