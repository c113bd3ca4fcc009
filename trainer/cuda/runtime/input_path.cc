#include "trainer/cuda/runtime/input_path.h"

#include <string>
#include <utility>

namespace shardmill {
namespace {

int64_t RoundUp(int64_t bytes) {
  constexpr int64_t kStep = InputPath::kPieceAlignment;
  return (bytes + kStep - 1) / kStep * kStep;
}

}  // namespace

Result<std::unique_ptr<InputPath>> InputPath::Create(CudaRuntime* runtime, const Options& options) {
  std::unique_ptr<InputPath> path(new InputPath(runtime, options));
  RETURN_IF_ERROR(path->CreateSlots());
  return path;
}

Status InputPath::CreateSlots() {
  ASSIGN_OR_RETURN(copy_stream_, runtime_->CreateStream());
  for (int i = 0; i < options_.slots; ++i) {
    slots_.emplace_back();
    Slot& slot = slots_.back();
    ASSIGN_OR_RETURN(slot.memory, runtime_->AllocateDevice(options_.slot_bytes));
    ASSIGN_OR_RETURN(slot.copied, runtime_->CreateEvent());
    ASSIGN_OR_RETURN(slot.consumed, runtime_->CreateEvent());
  }
  return OkStatus();
}

InputPath::~InputPath() {
  // What fails here has failed before, and then the device is lost: it is asked for nothing.
  if (!runtime_->Drain().ok()) return;
  while (!loans_.empty() && WaitForLoan().ok()) continue;
  for (Slot& slot : slots_) {
    Status status = OkStatus();
    if (slot.memory != nullptr) status = runtime_->FreeDevice(slot.memory);
    if (slot.copied != nullptr && status.ok()) status = runtime_->DestroyEvent(slot.copied);
    if (slot.consumed != nullptr && status.ok()) status = runtime_->DestroyEvent(slot.consumed);
    if (!status.ok()) return;
  }
  if (copy_stream_ != nullptr && !runtime_->DestroyStream(copy_stream_).ok()) return;
}

void InputPath::EndLoan() {
  const std::function<void()> give_back = std::move(loans_.front().give_back);
  loans_.pop_front();
  give_back();
}

Status InputPath::WaitForLoan() {
  RETURN_IF_ERROR(runtime_->Synchronize(loans_.front().copied));
  EndLoan();
  return OkStatus();
}

Status InputPath::Poll() {
  while (!loans_.empty()) {
    ASSIGN_OR_RETURN(const bool done, runtime_->IsDone(loans_.front().copied));
    if (!done) return OkStatus();
    EndLoan();
  }
  return OkStatus();
}

Status InputPath::Push(const std::vector<Piece>& pieces, std::function<void()> give_back) {
  SHARDMILL_CHECK(HasRoom());
  int64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += RoundUp(piece.bytes);
  if (bytes > options_.slot_bytes) {
    return InvalidArgumentError("a batch of " + std::to_string(bytes) +
                                " bytes does not fit into an input slot of " +
                                std::to_string(options_.slot_bytes));
  }
  RETURN_IF_ERROR(Poll());
  Slot& slot = SlotOf(pushed_);
  // The event of the slot is about to stand for another copy.
  while (static_cast<int>(loans_.size()) >= static_cast<int>(slots_.size())) {
    RETURN_IF_ERROR(WaitForLoan());
  }
  RETURN_IF_ERROR(runtime_->WaitEvent(copy_stream_, slot.consumed));
  slot.pieces.clear();
  auto* place = static_cast<char*>(slot.memory);
  for (const Piece& piece : pieces) {
    slot.pieces.push_back(piece.bytes == 0 ? nullptr : place);
    if (piece.bytes == 0) continue;
    RETURN_IF_ERROR(runtime_->CopyToDevice(copy_stream_, piece.pinned, piece.bytes, place));
    place += RoundUp(piece.bytes);
  }
  RETURN_IF_ERROR(runtime_->RecordEvent(slot.copied, copy_stream_));
  loans_.push_back({slot.copied, std::move(give_back)});
  ++pushed_;
  while (static_cast<int>(loans_.size()) > options_.most_loans) {
    RETURN_IF_ERROR(WaitForLoan());
  }
  return OkStatus();
}

Result<InputPath::DevicePieces> InputPath::Take(StreamHandle compute) {
  SHARDMILL_CHECK(taken_ < pushed_ && taken_ == released_);
  Slot& slot = SlotOf(taken_);
  RETURN_IF_ERROR(runtime_->WaitEvent(compute, slot.copied));
  ++taken_;
  return slot.pieces;
}

Status InputPath::Release(StreamHandle compute) {
  SHARDMILL_CHECK(released_ < taken_);
  RETURN_IF_ERROR(runtime_->RecordEvent(SlotOf(released_).consumed, compute));
  ++released_;
  return OkStatus();
}

}  // namespace shardmill
