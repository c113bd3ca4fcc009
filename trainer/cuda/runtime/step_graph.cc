#include "trainer/cuda/runtime/step_graph.h"

#include <algorithm>
#include <utility>

namespace shardmill {
namespace {

// What ranks tell each other; a captured step also tells which capture it is of.
constexpr char kRunsEagerly[] = "eagerly";
constexpr char kCanBeCaptured[] = "can be captured";
constexpr char kIsCaptured[] = "captured";
constexpr char kHasFailed[] = "not captured";

bool Holds(const std::vector<std::string>& messages, const char* message) {
  return std::find(messages.begin(), messages.end(), message) != messages.end();
}

}  // namespace

StepGraph::~StepGraph() {
  if (!Forget().ok()) return;  // the device is lost
}

Status StepGraph::Forget() {
  const Status status = DropGraphs();
  entries_.clear();
  return status;
}

Status StepGraph::DropGraphs() {
  for (auto& [key, entry] : entries_) {
    if (entry.state == State::kCaptured) entry.state = State::kWarm;
    if (!Drop(&entry).ok()) continue;  // the others may go
  }
  return kept_;
}

Status StepGraph::Drop(Entry* entry) {
  const GraphHandle graph = std::exchange(entry->graph, nullptr);
  if (graph == nullptr) return OkStatus();
  Status status = runtime_->DestroyGraph(graph);
  if (kept_.ok()) kept_ = status;
  return status;
}

Result<std::vector<std::string>> StepGraph::Gather(const std::string& message) const {
  if (!ranks_.gather) return std::vector<std::string>{message};
  return ranks_.gather(message);
}

Result<StepGraph::Way> StepGraph::ChooseWay(const Entry& entry) const {
  const bool is_captured = entry.state == State::kCaptured;
  const std::string own = is_captured ? kIsCaptured + std::to_string(entry.capture)
                          : entry.state == State::kWarm ? kCanBeCaptured
                                                        : kRunsEagerly;
  ASSIGN_OR_RETURN(const std::vector<std::string> all, Gather(own));
  if (Holds(all, kRunsEagerly)) return Way::kEagerly;
  const bool is_one_graph = is_captured && std::count(all.begin(), all.end(), own) ==
                                               static_cast<std::ptrdiff_t>(all.size());
  return is_one_graph ? Way::kLaunch : Way::kCapture;
}

Status StepGraph::Run(const std::string& key, StreamHandle stream, const Step& step) {
  Entry& entry = entries_[key];
  ASSIGN_OR_RETURN(const Way way, ChooseWay(entry));
  if (way == Way::kCapture) RETURN_IF_ERROR(Capture(stream, step, &entry));
  if (way == Way::kEagerly || entry.state == State::kEager) {
    RETURN_IF_ERROR(step(stream));
    if (entry.state == State::kNew) entry.state = State::kWarm;
    return OkStatus();
  }
  ++launched_;
  return runtime_->LaunchGraph(entry.graph, stream);
}

// Leaves the entry captured or eager, the same on all ranks.
Status StepGraph::Capture(StreamHandle stream, const Step& step, Entry* entry) {
  RETURN_IF_ERROR(Drop(entry));
  const Result<GraphHandle> own = CaptureOwn(stream, step);
  if (own.ok()) entry->graph = *own;
  entry->capture = ++captures_;
  ASSIGN_OR_RETURN(const std::vector<std::string> all, Gather(own.ok() ? kIsCaptured : kHasFailed));
  entry->state = Holds(all, kHasFailed) ? State::kEager : State::kCaptured;
  if (entry->state == State::kCaptured) return OkStatus();
  note_ = "the step runs without a CUDA graph: " +
          (own.ok() ? "another rank could not capture it" : own.status().message());
  RETURN_IF_ERROR(Drop(entry));
  if (ranks_.forget) ranks_.forget();
  return OkStatus();
}

// Only the end of the capture tells whether it is a graph. A step that fails on its own fails
// again when it runs eagerly, with its own words.
Result<GraphHandle> StepGraph::CaptureOwn(StreamHandle stream, const Step& step) {
  RETURN_IF_ERROR(runtime_->BeginCapture(stream));
  const Status enqueued = step(stream);
  Result<GraphHandle> graph = runtime_->EndCapture(stream);
  if (enqueued.ok()) return graph;
  if (graph.ok()) RETURN_IF_ERROR(runtime_->DestroyGraph(*graph));
  return enqueued;
}

}  // namespace shardmill
