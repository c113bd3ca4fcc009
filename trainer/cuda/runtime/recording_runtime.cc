#include "trainer/cuda/runtime/recording_runtime.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "trainer/comm/patience.h"

namespace shardmill {
namespace {

using Kind = RecordedStep::Kind;
constexpr int64_t kAlignment = 256;

}  // namespace

RecordingRuntime::RecordingRuntime() = default;

RecordingRuntime::~RecordingRuntime() {
  for (const auto& [memory, bytes] : blocks_) std::free(memory);
}

void RecordingRuntime::Add(RecordedStep step) {
  if (capture_ == nullptr) FindStuck(step);
  if (!recording_) return;
  (capture_ != nullptr ? capture_->steps : log_).push_back(std::move(step));
}

void RecordingRuntime::RefuseWhileCapturing(const char* what) {
  if (capture_ == nullptr) return;
  capture_is_spoiled_ = true;
  misuses_.push_back(std::string(what) + " while capturing");
}

Result<void*> RecordingRuntime::Allocate(int64_t bytes) {
  RefuseWhileCapturing("allocates");
  const int64_t rounded = (bytes + kAlignment) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, static_cast<size_t>(rounded));
  if (memory == nullptr) return UnavailableError("out of memory");
  blocks_[memory] = bytes;
  RecordedStep step;
  step.kind = Kind::kAllocate;
  step.span = {memory, bytes};
  Add(std::move(step));
  return memory;
}

Status RecordingRuntime::Free(void* memory) {
  if (memory == nullptr) return OkStatus();
  RETURN_IF_ERROR(CheckLost());
  RefuseWhileCapturing("frees");
  const auto block = blocks_.find(memory);
  if (block == blocks_.end()) {
    misuses_.push_back("frees what was not allocated");
    return OkStatus();
  }
  RecordedStep step;
  step.kind = Kind::kFree;
  step.span = {memory, block->second};
  Add(std::move(step));
  // Kept until the end where there is a log, so that no later block gets the same address.
  if (!recording_) {
    std::free(memory);
    blocks_.erase(block);
  }
  return OkStatus();
}

void RecordingRuntime::Do(StreamHandle, std::function<void()> work) { work(); }

Result<void*> RecordingRuntime::AllocateDevice(int64_t bytes) {
  if (bytes > device_bytes_ - used_bytes_) {
    return UnavailableError("out of GPU memory: " + std::to_string(bytes) + " bytes asked for, " +
                            std::to_string(device_bytes_ - used_bytes_) + " free");
  }
  ASSIGN_OR_RETURN(void* const memory, Allocate(bytes));
  device_blocks_[memory] = bytes;
  used_bytes_ += bytes;
  return memory;
}
Result<void*> RecordingRuntime::AllocateShared(int64_t bytes) { return AllocateDevice(bytes); }
Result<void*> RecordingRuntime::AllocatePinned(int64_t bytes) {
  if (refuse_pinned_) return UnavailableError("no memory can be pinned");
  return Allocate(bytes);
}
Status RecordingRuntime::FreeDevice(void* memory) {
  const auto block = device_blocks_.find(memory);
  if (block != device_blocks_.end()) {
    used_bytes_ -= block->second;
    device_blocks_.erase(block);
  }
  return Free(memory);
}
Status RecordingRuntime::FreePinned(void* memory) { return Free(memory); }

void* RecordingRuntime::NewNumber(std::vector<std::unique_ptr<Number>>* numbers) {
  numbers->push_back(std::make_unique<Number>(Number{static_cast<int>(numbers->size())}));
  return numbers->back().get();
}

Result<StreamHandle> RecordingRuntime::CreateStream() { return NewNumber(&streams_); }
Result<EventHandle> RecordingRuntime::CreateEvent() { return NewNumber(&events_); }

Status RecordingRuntime::RecordEvent(EventHandle event, StreamHandle stream) {
  RecordedStep step;
  step.kind = Kind::kRecordEvent;
  step.event = Of(event);
  step.stream = Of(stream);
  Add(std::move(step));
  return OkStatus();
}

Status RecordingRuntime::WaitEvent(StreamHandle stream, EventHandle event) {
  RecordedStep step;
  step.kind = Kind::kStreamWaits;
  step.event = Of(event);
  step.stream = Of(stream);
  Add(std::move(step));
  return OkStatus();
}

Result<bool> RecordingRuntime::IsDone(EventHandle event) {
  if (pending_ || stuck_events_.count(Of(event)) > 0) return false;
  RETURN_IF_ERROR(Synchronize(event));
  return true;
}

Status RecordingRuntime::Drain() {
  for (const auto& stream : streams_) RETURN_IF_ERROR(SynchronizeStream(stream.get()));
  return CheckLost();
}

// Of a step as the device comes to it.
void RecordingRuntime::FindStuck(const RecordedStep& step) {
  if (hanging_.empty()) return;
  if (step.kind == Kind::kStreamWork && step.name == hanging_) stuck_streams_.insert(step.stream);
  if (step.kind == Kind::kStreamWaits && stuck_events_.count(step.event) > 0) {
    stuck_streams_.insert(step.stream);
  }
  if (step.kind == Kind::kRecordEvent) {
    const bool is_stuck = stuck_streams_.count(step.stream) > 0;
    is_stuck ? (void)stuck_events_.insert(step.event) : (void)stuck_events_.erase(step.event);
  }
}

Status RecordingRuntime::AwaitWatched(bool is_stuck) const {
  Patience patience;
  while ((pending_ || is_stuck) && watch()) {
    RETURN_IF_ERROR(watch()(patience.waited_seconds()));
    patience.Pause();
  }
  return OkStatus();
}

Status RecordingRuntime::Synchronize(EventHandle event) {
  RETURN_IF_ERROR(CheckLost());
  RETURN_IF_ERROR(AwaitWatched(stuck_events_.count(Of(event)) > 0));
  RefuseWhileCapturing("synchronizes");
  RecordedStep step;
  step.kind = Kind::kHostWaits;
  step.event = Of(event);
  Add(std::move(step));
  return OkStatus();
}

Status RecordingRuntime::SynchronizeStream(StreamHandle stream) {
  RETURN_IF_ERROR(CheckLost());
  RETURN_IF_ERROR(AwaitWatched(stuck_streams_.count(Of(stream)) > 0));
  RefuseWhileCapturing("synchronizes");
  RecordedStep step;
  step.kind = Kind::kHostWaitsAll;
  step.stream = Of(stream);
  Add(std::move(step));
  return OkStatus();
}

Status RecordingRuntime::CopyToDevice(StreamHandle stream, const void* pinned, int64_t bytes,
                                      void* device) {
  Do(stream, [=] { std::memcpy(device, pinned, static_cast<size_t>(bytes)); });
  return Launch(stream, {"copy to device", {{pinned, bytes}}, {{device, bytes}}}, nullptr);
}

Status RecordingRuntime::CopyToHost(StreamHandle stream, const void* device, int64_t bytes,
                                    void* pinned) {
  Do(stream, [=] { std::memcpy(pinned, device, static_cast<size_t>(bytes)); });
  return Launch(stream, {"copy to host", {{device, bytes}}, {{pinned, bytes}}}, nullptr);
}

Status RecordingRuntime::SetZero(StreamHandle stream, int64_t bytes, void* device) {
  Do(stream, [=] { std::memset(device, 0, static_cast<size_t>(bytes)); });
  return Launch(stream, {"set zero", {}, {{device, bytes}}}, nullptr);
}

Status RecordingRuntime::Launch(StreamHandle stream, const OperationNote& note,
                                const LaunchFunction&) {
  if (capture_ != nullptr && ++captured_launches_ == failing_launch_) {
    capture_is_spoiled_ = true;
    return UnavailableError("this launch cannot be captured");
  }
  RecordedStep step;
  step.kind = Kind::kStreamWork;
  step.stream = Of(stream);
  step.name = note.name;
  step.reads = note.reads;
  step.writes = note.writes;
  Add(std::move(step));
  return OkStatus();
}

void RecordingRuntime::NoteHostAccess(const OperationNote& note) {
  RecordedStep step;
  step.kind = Kind::kHostWork;
  step.name = note.name;
  step.reads = note.reads;
  step.writes = note.writes;
  Add(std::move(step));
}

Status RecordingRuntime::BeginCapture(StreamHandle) {
  if (refuse_capture_) return UnavailableError("this work cannot be captured");
  RefuseWhileCapturing("starts to capture");
  capture_ = std::make_unique<Graph>();
  capture_is_spoiled_ = false;
  captured_launches_ = 0;
  return OkStatus();
}

Result<GraphHandle> RecordingRuntime::EndCapture(StreamHandle) {
  if (capture_ == nullptr) return InternalError("no capture was started");
  graphs_.push_back(std::move(capture_));
  ++graphs_alive_;
  return static_cast<GraphHandle>(graphs_.back().get());
}

Status RecordingRuntime::LaunchGraph(GraphHandle graph, StreamHandle) {
  RefuseWhileCapturing("launches a graph");
  ++graphs_launched_;
  for (const RecordedStep& step : static_cast<Graph*>(graph)->steps) {
    FindStuck(step);
    log_.push_back(step);
  }
  return OkStatus();
}

}  // namespace shardmill
