// Runs a training step as a CUDA graph where it can be captured, else as it is.
//
// A step of a new key (its shapes) runs eagerly once, which allocates and loads what it needs; the
// second time it is captured; from then on its graph is launched. What changes from step to step
// (learning rate, step number, the batch) is read from device memory. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "reader/base/status.h"
#include "trainer/cuda/runtime/runtime.h"

namespace shardmill {

class StepGraph {
 public:
  // Enqueues the whole step on the stream, and on streams forked from it and joined to it.
  using Step = std::function<Status(StreamHandle stream)>;

  // `runtime` must outlive the object.
  explicit StepGraph(CudaRuntime* runtime) : runtime_(runtime) {}
  ~StepGraph();
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  // `key` tells apart steps that launch other work or use other memory.
  Status Run(const std::string& key, StreamHandle stream, const Step& step);

  // Forgets all graphs: memory that they use has moved.
  Status Forget();

  // Why a step could not be captured; empty: none failed. Such steps go on eagerly.
  const std::string& note() const { return note_; }
  int64_t launched() const { return launched_; }

 private:
  enum class State { kNew, kWarm, kCaptured, kEager };
  struct Entry {
    State state = State::kNew;
    GraphHandle graph = nullptr;
  };
  Status Capture(StreamHandle stream, const Step& step, Entry* entry);

  CudaRuntime* runtime_;
  std::map<std::string, Entry> entries_;
  std::string note_;
  int64_t launched_ = 0;
};

}  // namespace shardmill
