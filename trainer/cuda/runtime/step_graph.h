// Runs a training step as a CUDA graph where it can be captured, else as it is.
//
// A step of a new key (its shapes) runs eagerly once, which allocates and loads what it needs; the
// second time it is captured; from then on its graph is launched. What changes from step to step
// (learning rate, step number, the batch) is read from device memory. One thread at a time.
//
// Sums over GPUs are captured by all ranks or by none, and a graph with sums is launched together
// with the graphs that the other ranks captured at the same time. So the ranks tell each other
// before each step how far they are, and after a capture whether it came to a graph: one that has
// no graph makes all of them run the step eagerly.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "trainer/cuda/runtime/runtime.h"

namespace shardmill {

class StepGraph {
 public:
  // Enqueues the whole step on the stream, and on streams forked from it and joined to it.
  using Step = std::function<Status(StreamHandle stream)>;

  // The other ranks that run the same steps at the same time.
  struct Ranks {
    // Every rank's message, the own one too. Empty: there are no others.
    std::function<Result<std::vector<std::string>>(std::string_view message)> gather;
    // Forgets what a captured step has begun that will not run: the next one starts clean.
    std::function<void()> forget;
  };

  // `runtime` must outlive the object.
  explicit StepGraph(CudaRuntime* runtime) : runtime_(runtime) {}
  ~StepGraph();
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  void set_ranks(Ranks ranks) { ranks_ = std::move(ranks); }

  // `key` tells apart steps that launch other work or use other memory.
  Status Run(const std::string& key, StreamHandle stream, const Step& step);

  // Forgets all graphs: memory that they use has moved.
  Status Forget();
  // Destroys them, in the middle of Run too, which then fails or captures anew. OK when no graph is
  // left: what once could not be destroyed, as the device is lost, stays.
  Status DropGraphs();

  // Why a step could not be captured; empty: none failed. Such steps go on eagerly.
  const std::string& note() const { return note_; }
  int64_t launched() const { return launched_; }

 private:
  enum class State { kNew, kWarm, kCaptured, kEager };
  enum class Way { kEagerly, kCapture, kLaunch };
  struct Entry {
    State state = State::kNew;
    GraphHandle graph = nullptr;
    int64_t capture = 0;  // the number of the capture that made the graph
  };
  Result<std::vector<std::string>> Gather(const std::string& message) const;
  Result<Way> ChooseWay(const Entry& entry) const;
  Status Capture(StreamHandle stream, const Step& step, Entry* entry);
  Result<GraphHandle> CaptureOwn(StreamHandle stream, const Step& step);
  Status Drop(Entry* entry);

  CudaRuntime* runtime_;
  Ranks ranks_;
  std::map<std::string, Entry> entries_;
  Status kept_;  // why a graph could not be destroyed
  std::string note_;
  int64_t launched_ = 0;
  int64_t captures_ = 0;  // so far; the same on all ranks
};

}  // namespace shardmill
