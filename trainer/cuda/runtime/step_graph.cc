#include "trainer/cuda/runtime/step_graph.h"

namespace shardmill {

StepGraph::~StepGraph() {
  if (!Forget().ok()) return;  // the device is lost
}

Status StepGraph::Forget() {
  Status first;
  for (auto& [key, entry] : entries_) {
    if (entry.graph == nullptr) continue;
    const Status status = runtime_->DestroyGraph(entry.graph);
    if (first.ok()) first = status;
  }
  entries_.clear();
  return first;
}

Status StepGraph::Run(const std::string& key, StreamHandle stream, const Step& step) {
  Entry& entry = entries_[key];
  if (entry.state == State::kNew) {
    RETURN_IF_ERROR(step(stream));
    entry.state = State::kWarm;
    return OkStatus();
  }
  if (entry.state == State::kWarm) RETURN_IF_ERROR(Capture(stream, step, &entry));
  if (entry.state == State::kEager) return step(stream);
  ++launched_;
  return runtime_->LaunchGraph(entry.graph, stream);
}

// Only the end of the capture tells whether it is a graph. A step that fails on its own fails
// again when it runs eagerly, with its own words.
Status StepGraph::Capture(StreamHandle stream, const Step& step, Entry* entry) {
  Status status = runtime_->BeginCapture(stream);
  if (status.ok()) {
    const Status enqueued = step(stream);
    const auto graph = runtime_->EndCapture(stream);
    status = enqueued.ok() ? graph.status() : enqueued;
    if (status.ok()) {
      entry->graph = *graph;
      entry->state = State::kCaptured;
      return OkStatus();
    }
    if (graph.ok()) RETURN_IF_ERROR(runtime_->DestroyGraph(*graph));
  }
  note_ = "the step runs without a CUDA graph: " + status.message();
  entry->state = State::kEager;
  return OkStatus();
}

}  // namespace shardmill
