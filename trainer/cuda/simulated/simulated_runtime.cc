#include "trainer/cuda/simulated/simulated_runtime.h"

#include <utility>

namespace shardmill {

void SimulatedRuntime::Take(const Captured& item) {
  Queue& queue = queues_[item.stream];
  switch (item.kind) {
    case Captured::Kind::kWork:
      queue.items.push_back({item.work, {}});
      return;
    case Captured::Kind::kRecord:
      events_[item.event] = {item.stream, queue.End()};
      return;
    case Captured::Kind::kWait:
      // One that was never recorded stands for nothing.
      if (const auto place = events_.find(item.event); place != events_.end()) {
        queue.items.push_back({nullptr, place->second});
      }
      return;
  }
}

void SimulatedRuntime::RunTo(const Place& place) {
  Queue& queue = queues_[place.stream];
  while (queue.done < place.items && !queue.items.empty()) {
    const Item item = std::move(queue.items.front());
    queue.items.pop_front();
    ++queue.done;
    if (item.work) {
      item.work();
    } else {
      RunTo(item.place);
    }
  }
}

void SimulatedRuntime::RunAll() {
  for (const auto& [stream, queue] : queues_) RunTo({stream, queue.End()});
}

void SimulatedRuntime::Do(StreamHandle stream, std::function<void()> work) {
  Captured item;
  item.stream = stream;
  item.work = std::move(work);
  IsCapturing() ? capture_.push_back(std::move(item)) : Take(item);
}

Status SimulatedRuntime::Enqueue(StreamHandle stream, std::function<void()> work) {
  Do(stream, std::move(work));
  return OkStatus();
}

Status SimulatedRuntime::RecordEvent(EventHandle event, StreamHandle stream) {
  const Captured item = {Captured::Kind::kRecord, stream, event, nullptr};
  IsCapturing() ? capture_.push_back(item) : Take(item);
  return RecordingRuntime::RecordEvent(event, stream);
}

Status SimulatedRuntime::WaitEvent(StreamHandle stream, EventHandle event) {
  const Captured item = {Captured::Kind::kWait, stream, event, nullptr};
  IsCapturing() ? capture_.push_back(item) : Take(item);
  return RecordingRuntime::WaitEvent(stream, event);
}

Status SimulatedRuntime::Synchronize(EventHandle event) {
  RETURN_IF_ERROR(RecordingRuntime::Synchronize(event));
  if (const auto place = events_.find(event); place != events_.end()) RunTo(place->second);
  return OkStatus();
}

Status SimulatedRuntime::SynchronizeStream(StreamHandle stream) {
  RETURN_IF_ERROR(RecordingRuntime::SynchronizeStream(stream));
  RunTo({stream, queues_[stream].End()});
  return OkStatus();
}

// A GPU waits for all its work before memory goes.
Status SimulatedRuntime::FreeDevice(void* memory) {
  RETURN_IF_ERROR(CheckLost());
  RunAll();
  return RecordingRuntime::FreeDevice(memory);
}

Status SimulatedRuntime::Launch(StreamHandle stream, const OperationNote& note,
                                const LaunchFunction& launch) {
  RETURN_IF_ERROR(RecordingRuntime::Launch(stream, note, launch));
  if (!launch) return OkStatus();
  if (Status status = launch(stream); !status.ok()) return status.WithContext(note.name);
  return OkStatus();
}

Status SimulatedRuntime::BeginCapture(StreamHandle stream) {
  RETURN_IF_ERROR(RecordingRuntime::BeginCapture(stream));
  capture_.clear();
  return OkStatus();
}

Result<GraphHandle> SimulatedRuntime::EndCapture(StreamHandle stream) {
  // As on a GPU, where waiting for captured work spoils the capture.
  const bool is_spoiled = CaptureIsSpoiled();
  ASSIGN_OR_RETURN(const GraphHandle graph, RecordingRuntime::EndCapture(stream));
  if (is_spoiled) return UnavailableError("the step waits or allocates, which no graph can");
  graphs_[graph] = std::move(capture_);
  capture_.clear();
  return graph;
}

Status SimulatedRuntime::LaunchGraph(GraphHandle graph, StreamHandle stream) {
  RETURN_IF_ERROR(RecordingRuntime::LaunchGraph(graph, stream));
  for (const Captured& item : graphs_[graph]) Take(item);
  return OkStatus();
}

}  // namespace shardmill
