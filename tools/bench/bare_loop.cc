#include "tools/bench/bare_loop.h"

#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "reader/base/checksum.h"
#include "reader/codec.h"
#include "tools/bench/aligned_buffer.h"

namespace shardmill {
namespace {

// As many buffers as the loader has slots, which decides how much of them stays in the caches.
constexpr int kBuffers = 3;

// Not zero: some processors write large runs of zeros several times as fast as anything else,
// without moving them to the memory.
constexpr int kSetByte = 1;

struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Runs work(thread) on `threads` threads, the calling one among them.
void RunOnThreads(int threads, const std::function<void(int)>& work) {
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (std::thread& other : others) other.join();
}

Status ReadRange(int descriptor, const FileRange& range, uint8_t* out) {
  uint64_t done = 0;
  while (done < range.bytes) {
    const ssize_t read = ::pread(descriptor, out + done, range.bytes - done,
                                 static_cast<off_t>(range.offset + done));
    if (read < 0) return ErrnoError("pread", errno);
    if (read == 0) return IoError("pread: the file was cut");
    done += static_cast<uint64_t>(read);
  }
  return OkStatus();
}

// A store that the compiler must believe somebody reads.
void UseMemory(const void* memory) { asm volatile("" : : "g"(memory) : "memory"); }

}  // namespace

struct BareLoop::Worker {
  int number = 0;
  std::vector<AlignedBuffer> buffers;
  std::vector<uint8_t> stored;
  std::unique_ptr<ZSTD_DCtx, FreeDecompressor> decompressor{ZSTD_createDCtx()};
  FieldDecoder decoder;    // of codecs other than zstd
  uint64_t checksums = 0;  // so that somebody uses them
  Status status;
};

BareLoop::BareLoop(const RecordPlaces* places, uint64_t batch, int threads)
    : places_(*places), batch_(batch) {
  const int per_thread = std::max(2, kBuffers / threads);
  for (int number = 0; number < threads; ++number) {
    auto worker = std::make_unique<Worker>();
    worker->number = number;
    worker->stored.resize(places->largest_stored_bytes());
    for (int i = 0; i < (threads == 1 ? kBuffers : per_thread); ++i) {
      worker->buffers.push_back(MakeAlignedBuffer(batch * places->record_bytes()));
    }
    workers_.push_back(std::move(worker));
  }
}

BareLoop::~BareLoop() = default;

Status BareLoop::CopyField(BareLoopKind kind, const RecordPlaces::Place& place, size_t field,
                           uint8_t* out, Worker* worker) const {
  const FieldSpec& spec = places_.spec(field);
  const uint64_t decoded = places_.decoded_bytes(field);
  const bool raw = spec.codec == Codec::kRaw;
  const uint8_t* stored = places_.mapped(place);
  if (kind == BareLoopKind::kPread) {
    uint8_t* target = raw ? out : worker->stored.data();
    RETURN_IF_ERROR(ReadRange(places_.descriptor(place.shard), place.range, target));
    stored = target;
  }
  if (raw && stored != out) std::memcpy(out, stored, place.range.bytes);
  if (kind == BareLoopKind::kChecked) {
    worker->checksums += Checksum64(raw ? out : stored, place.range.bytes);
  }
  if (raw) return OkStatus();
  if (spec.codec == Codec::kZstd) {
    const size_t written =
        ZSTD_decompressDCtx(worker->decompressor.get(), out, decoded, stored, place.range.bytes);
    return written == decoded ? OkStatus() : DataLossError("a record does not decode");
  }
  return worker->decoder.Decode(spec, stored, place.range.bytes, out, decoded);
}

Status BareLoop::CopyBatch(BareLoopKind kind, const uint64_t* records, uint8_t* out,
                           Worker* worker) const {
  for (size_t field = 0; field < places_.field_count(); ++field) {
    for (uint64_t row = 0; row < batch_; ++row) {
      RETURN_IF_ERROR(CopyField(kind, places_.place(records[row], field), field, out, worker));
      out += places_.decoded_bytes(field);
    }
  }
  return OkStatus();
}

Status BareLoop::RunWorker(BareLoopKind kind, const std::vector<uint64_t>& order,
                           Worker* worker) const {
  const uint64_t batches = order.size() / batch_;
  uint64_t turn = 0;
  for (uint64_t batch = static_cast<uint64_t>(worker->number); batch < batches;
       batch += workers_.size()) {
    uint8_t* out = worker->buffers[turn++ % worker->buffers.size()].get();
    RETURN_IF_ERROR(CopyBatch(kind, order.data() + batch * batch_, out, worker));
    UseMemory(out);
  }
  return OkStatus();
}

Result<Rate> BareLoop::Run(BareLoopKind kind, const std::vector<uint64_t>& order) {
  for (const auto& worker : workers_) {
    for (const AlignedBuffer& buffer : worker->buffers) {
      if (buffer == nullptr) return InvalidArgumentError("no memory for the buffers of a batch");
    }
  }
  const Stopwatch stopwatch;
  RunOnThreads(static_cast<int>(workers_.size()), [&](int thread) {
    workers_[thread]->status = RunWorker(kind, order, workers_[thread].get());
  });
  const Rate rate = stopwatch.Stop(order.size() / batch_ * batch_);
  for (const auto& worker : workers_) RETURN_IF_ERROR(worker->status);
  return rate;
}

MemoryRates MeasureMemory(int threads) {
  constexpr uint64_t kBytes = uint64_t{64} << 20;
  constexpr int kTurns = 5;
  std::vector<AlignedBuffer> from;
  std::vector<AlignedBuffer> to;
  for (int thread = 0; thread < threads; ++thread) {
    from.push_back(MakeAlignedBuffer(kBytes));
    to.push_back(MakeAlignedBuffer(kBytes));
    if (from.back() == nullptr || to.back() == nullptr) return {};
  }
  const double bytes = static_cast<double>(kBytes) * threads;
  MemoryRates best;
  for (int turn = 0; turn < kTurns; ++turn) {
    const Stopwatch copying;
    RunOnThreads(threads, [&](int thread) {
      std::memcpy(to[thread].get(), from[thread].get(), kBytes);
      UseMemory(to[thread].get());
    });
    best.copy_bytes_per_second =
        std::max(best.copy_bytes_per_second, bytes / copying.Stop(1).seconds);
    const Stopwatch setting;
    RunOnThreads(threads, [&](int thread) {
      std::memset(to[thread].get(), kSetByte, kBytes);
      UseMemory(to[thread].get());
    });
    best.set_bytes_per_second =
        std::max(best.set_bytes_per_second, bytes / setting.Stop(1).seconds);
  }
  return best;
}

Result<std::unique_ptr<MemsetTurns>> MemsetTurns::Create(uint64_t bytes, int buffers, int threads) {
  std::unique_ptr<MemsetTurns> turns(new MemsetTurns);
  turns->bytes_ = bytes;
  turns->threads_ = threads;
  for (int buffer = 0; buffer < buffers; ++buffer) {
    turns->buffers_.push_back(MakeAlignedBuffer(bytes));
    if (turns->buffers_.back() == nullptr) {
      return InvalidArgumentError("no memory for the buffers of a batch");
    }
  }
  return turns;
}

double MemsetTurns::Take(uint64_t count) {
  const uint64_t share = bytes_ / static_cast<uint64_t>(threads_);
  const Stopwatch stopwatch;
  RunOnThreads(threads_, [&](int thread) {
    for (uint64_t turn = 0; turn < count; ++turn) {
      uint8_t* buffer = buffers_[turn % buffers_.size()].get();
      std::memset(buffer + share * static_cast<uint64_t>(thread), kSetByte, share);
      UseMemory(buffer);
    }
  });
  const double written = static_cast<double>(share) * threads_ * static_cast<double>(count);
  return written / stopwatch.Stop(1).seconds;
}

}  // namespace shardmill
