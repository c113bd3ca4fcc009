// What the ranks of one training job say to each other.
//
// A communicator connects `size` processes, the ranks 0 … size-1. Every rank makes the same calls
// in the same order with the same counts; all ranks then receive the same bits. A call is known by
// its name ("gradient bucket 3") and by the step it belongs to, and it has a deadline: a rank that
// died, hangs or took another path is named in the error instead of blocking the others for ever.
//
// Errors are final. Abort() reports the first one, tells the other ranks, and every later call
// on any rank returns it. A rank ends by Close() or by Abort().
//
// One thread at a time, any thread. Buffers must stay valid until the call, or the Wait of a
// started one, has returned; when a step fails while calls are under way, until Abort has returned.
// So let the function that owns the buffers call Abort.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

enum class SumType : uint32_t { kF32 = 0, kF64 = 1, kI64 = 2, kU64 = 3 };

constexpr int64_t SumTypeBytes(SumType type) { return type == SumType::kF32 ? 4 : 8; }

// Where this rank stands among all ranks, and among those on the same host.
struct RankLayout {
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  int local_size = 1;
};

// A piece of memory for another rank, or to be filled by another rank.
struct SendPiece {
  int rank = 0;
  const void* data = nullptr;
  int64_t bytes = 0;
};
struct ReceivePiece {
  int rank = 0;
  void* data = nullptr;
  int64_t bytes = 0;
};

// A call that was started and not yet waited for. Each must be given to Wait exactly once.
struct StartedCall {
  int slot = -1;
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  const RankLayout& layout() const { return layout_; }
  int rank() const { return layout_.rank; }
  int size() const { return layout_.size; }

  // The training step that the following calls belong to; only for messages.
  virtual void set_step(int64_t step) = 0;

  // Waits until all ranks have come. For long work of one rank that the others wait for, see
  // reachable_work.h.
  virtual Status Barrier(std::string_view name) = 0;

  // Copies `bytes` bytes from rank `root` to all ranks.
  virtual Status Broadcast(void* data, int64_t bytes, int root, std::string_view name) = 0;

  // Replaces data[i] by its sum over all ranks. Integers wrap around.
  Status Sum(float* data, int64_t count, std::string_view name);
  Status Sum(double* data, int64_t count, std::string_view name);
  Status Sum(int64_t* data, int64_t count, std::string_view name);
  Status Sum(uint64_t* data, int64_t count, std::string_view name);

  // The same without waiting: other work, and other calls, may go on meanwhile. Gives the bits of
  // Sum. At most kMaxStartedCalls at once.
  virtual Result<StartedCall> StartSum(void* data, int64_t count, SumType type,
                                       std::string_view name) = 0;
  virtual Status Wait(StartedCall call) = 0;
  // Lets started calls move on; never blocks. Worth calling between pieces of long work.
  virtual Status Progress() = 0;

  // Every rank's message, by rank. For small messages (at most 1 MiB each).
  virtual Result<std::vector<std::string>> Gather(std::string_view message,
                                                  std::string_view name) = 0;

  // Pieces between pairs of ranks. The pieces from one rank to another arrive in the order of the
  // lists and must match in number and size. No piece to or from the rank itself.
  virtual Status Exchange(const std::vector<SendPiece>& sends,
                          const std::vector<ReceivePiece>& receives, std::string_view name) = 0;

  // Time spent waiting inside of calls so far.
  virtual double waited_seconds() const = 0;
  // Is told of each time spent waiting: the name of the call, begin and end on the steady clock.
  // Communicators that never wait tell nothing.
  using WaitListener =
      std::function<void(std::string_view name, uint64_t begin_ns, uint64_t end_ns)>;
  virtual void set_wait_listener(WaitListener) {}

  // Ends the job because of `status` (not OK): reports it once, with rank, step and call, tells
  // all ranks, and returns it. After a failure that is already known it returns that one.
  virtual Status Abort(const Status& status) = 0;
  // The same for an error that all ranks find at the same place: only rank 0 reports it.
  virtual Status AbortTogether(const Status& status) = 0;
  // The first error, from here or from another rank; OK while there is none.
  virtual const Status& failure() const = 0;

  // Waits for all ranks and leaves the job. Nothing may be called afterwards.
  virtual Status Close() = 0;

  static constexpr int kMaxStartedCalls = 1024;

 protected:
  explicit Communicator(const RankLayout& layout) : layout_(layout) {}
  RankLayout layout_;
};

struct CommunicatorOptions {
  // How long a call waits for a rank before the job is ended; 0: for ever. A rank that was stopped
  // or killed ends the job within this time and about 7 seconds more. Time during which the
  // waiting process itself was stopped does not count.
  double timeout_seconds = 20;
  // Takes a message of several lines at most, without a final newline; empty: standard error.
  std::function<void(const std::string&)> report;
};

}  // namespace shardmill
