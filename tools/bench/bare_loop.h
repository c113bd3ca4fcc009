// What a loop without any loader reaches on the same records: the limit to compare with.
//
// The batches of an epoch are dealt out to threads; each takes every record to its place in one
// of a few buffers: memcpy or pread for a raw field, and decoding for a coded one. Nothing is
// checked, and nobody waits for anybody.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "reader/base/status.h"
#include "tools/bench/aligned_buffer.h"
#include "tools/bench/record_places.h"
#include "tools/bench/stopwatch.h"

namespace shardmill {

enum class BareLoopKind {
  kGather,   // out of the mapping: memcpy, or ZSTD_decompressDCtx
  kChecked,  // the same, and the checksum of what is stored
  kPread,    // pread into the buffer, or into scratch memory and from there decoded
};

class BareLoop {
 public:
  // `places` must outlive the loop.
  BareLoop(const RecordPlaces* places, uint64_t batch, int threads);
  ~BareLoop();
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;

  // Takes the whole batches of `order`, in which the numbers of records stand.
  Result<Rate> Run(BareLoopKind kind, const std::vector<uint64_t>& order);

 private:
  struct Worker;
  Status RunWorker(BareLoopKind kind, const std::vector<uint64_t>& order, Worker* worker) const;
  Status CopyBatch(BareLoopKind kind, const uint64_t* records, uint8_t* out, Worker* worker) const;
  Status CopyField(BareLoopKind kind, const RecordPlaces::Place& place, size_t field, uint8_t* out,
                   Worker* worker) const;

  const RecordPlaces& places_;
  const uint64_t batch_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

// Bytes per second of memcpy and memset between large buffers, each thread with its own: the best
// of several turns.
struct MemoryRates {
  double copy_bytes_per_second = 0;
  double set_bytes_per_second = 0;
};
MemoryRates MeasureMemory(int threads);

// Writes buffers like those of a loader, one after the other, each dealt out to the threads.
class MemsetTurns {
 public:
  static Result<std::unique_ptr<MemsetTurns>> Create(uint64_t bytes, int buffers, int threads);
  // Bytes per second of so many buffers in turn.
  double Take(uint64_t count);

 private:
  MemsetTurns() = default;

  uint64_t bytes_ = 0;
  int threads_ = 1;
  std::vector<AlignedBuffer> buffers_;
};

}  // namespace shardmill
