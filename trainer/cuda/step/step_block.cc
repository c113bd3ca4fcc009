#include "trainer/cuda/step/step_block.h"

#include <cstring>

namespace shardmill {

StepBlockRing::~StepBlockRing() {
  for (const Pinned& pinned : pinned_) {
    // What fails here has failed before, and then the device is lost.
    if (pinned.done != nullptr && !runtime_->DestroyEvent(pinned.done).ok()) return;
    for (char* const memory : {pinned.up, pinned.down}) {
      if (memory != nullptr && !runtime_->FreePinned(memory).ok()) return;
    }
  }
}

Status StepBlockRing::Create(OpTable* ops, CudaRuntime* runtime, int steps, int dropout_layers) {
  runtime_ = runtime;
  const auto bytes = static_cast<int64_t>(sizeof(StepBlock) + dropout_layers * sizeof(uint64_t));
  ASSIGN_OR_RETURN(device_, DeviceBuffer::Create(ops, bytes));
  for (int i = 0; i < steps; ++i) {
    pinned_.emplace_back();
    ASSIGN_OR_RETURN(void* const up, runtime->AllocatePinned(bytes));
    pinned_.back().up = static_cast<char*>(up);
    ASSIGN_OR_RETURN(void* const down, runtime->AllocatePinned(bytes));
    pinned_.back().down = static_cast<char*>(down);
    ASSIGN_OR_RETURN(pinned_.back().done, runtime->CreateEvent());
  }
  return OkStatus();
}

Status StepBlockRing::Upload(StreamHandle stream, int64_t step, const StepBlock& block,
                             const std::vector<uint64_t>& keys) {
  char* const pinned = pinned_[step % Steps()].up;
  const int64_t bytes = device_.bytes();
  SHARDMILL_CHECK(sizeof(block) + keys.size() * sizeof(uint64_t) == static_cast<size_t>(bytes));
  runtime_->NoteHostAccess({"numbers of a step", {}, {{pinned, bytes}}});
  std::memcpy(pinned, &block, sizeof(block));
  if (!keys.empty()) {
    std::memcpy(pinned + sizeof(block), keys.data(), keys.size() * sizeof(uint64_t));
  }
  return runtime_->CopyToDevice(stream, pinned, bytes, device_.data());
}

Status StepBlockRing::Download(StreamHandle stream, int64_t step) {
  const Pinned& pinned = pinned_[step % Steps()];
  RETURN_IF_ERROR(runtime_->CopyToHost(stream, device_.data(), device_.bytes(), pinned.down));
  return runtime_->RecordEvent(pinned.done, stream);
}

StepBlock StepBlockRing::Read(int64_t step) const {
  const char* const pinned = pinned_[step % Steps()].down;
  runtime_->NoteHostAccess({"outcome of a step", {{pinned, device_.bytes()}}, {}});
  StepBlock block;
  std::memcpy(&block, pinned, sizeof(block));
  return block;
}

}  // namespace shardmill
