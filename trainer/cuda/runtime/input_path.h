// Batches on their way to the device: a copy stream and a few device slots.
//
// The loader writes batches into pinned memory (BatchLoaderOptions::allocate); Push enqueues their
// copies into the next slot and returns at once; Take makes the compute stream wait for the copy
// of the oldest slot; Release says that what was enqueued so far was the last to read it. Copies
// run beside the computation, and nothing waits for what it does not need:
//   - a copy into a slot waits, on the device, for the last consumer of that slot,
//   - a consumer waits, on the device, for the copy of its slot,
//   - pinned memory goes back to the loader when its copy is done.
// One thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "reader/base/status.h"
#include "trainer/cuda/runtime/runtime.h"

namespace shardmill {

class InputPath {
 public:
  // One piece of a batch in pinned memory, such as the images or the labels.
  struct Piece {
    const void* pinned = nullptr;
    int64_t bytes = 0;
  };
  // The addresses of the pieces on the device; null for a piece of 0 bytes.
  using DevicePieces = std::vector<void*>;

  struct Options {
    int64_t slot_bytes = 0;  // of the largest batch, its pieces rounded up to kPieceAlignment
    int slots = 2;
    // Pinned buffers that may stay lent when Push returns: fewer than the loader has, or else it
    // has none to fill and the trainer none to push.
    int most_loans = 2;
  };
  // `runtime` must outlive the path.
  static Result<std::unique_ptr<InputPath>> Create(CudaRuntime* runtime, const Options& options);
  // Waits for the copies under way, so that pinned memory may go.
  ~InputPath();
  InputPath(const InputPath&) = delete;
  InputPath& operator=(const InputPath&) = delete;

  // Whether a slot is free for Push: fewer than `slots` batches were pushed and not yet released.
  bool HasRoom() const { return static_cast<int>(slots_.size()) > pushed_ - released_; }
  // REQUIRES: HasRoom(). `give_back` is called once, by a later call of this class, when the pinned
  // memory may be overwritten. InvalidArgument when the batch is larger than a slot.
  Status Push(const std::vector<Piece>& pieces, std::function<void()> give_back);
  // The oldest batch that was pushed and not yet taken. REQUIRES: there is one, and the one before
  // it was released.
  Result<DevicePieces> Take(StreamHandle compute);
  // REQUIRES: Take before.
  Status Release(StreamHandle compute);
  // Gives back what can be given back without waiting.
  Status Poll();

  static constexpr int64_t kPieceAlignment = 256;

 private:
  struct Slot {
    void* memory = nullptr;
    EventHandle copied = nullptr, consumed = nullptr;
    DevicePieces pieces;
  };
  struct Loan {  // pinned memory whose copy is under way
    EventHandle copied = nullptr;
    std::function<void()> give_back;
  };

  InputPath(CudaRuntime* runtime, const Options& options) : runtime_(runtime), options_(options) {}
  Status CreateSlots();
  Slot& SlotOf(int64_t batch) { return slots_[batch % static_cast<int64_t>(slots_.size())]; }
  void EndLoan();  // of the oldest, whose copy is done
  Status WaitForLoan();

  CudaRuntime* runtime_;
  Options options_;
  StreamHandle copy_stream_ = nullptr;
  std::vector<Slot> slots_;
  std::deque<Loan> loans_;                         // oldest first
  int64_t pushed_ = 0, taken_ = 0, released_ = 0;  // batches so far
};

}  // namespace shardmill
