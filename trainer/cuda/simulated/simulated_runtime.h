// A device in the memory of the host: it runs what it is asked to do as late as it may.
//
// Each stream is a queue. Nothing runs before the host waits for it, and then only what it waits
// for: the work of other streams stays behind unless an event asks for it. So a copy that forgets
// to wait for its source, or a host that reads a result too early, gives wrong numbers here, every
// time. Captured work is not run but kept, and runs when its graph is launched. What is asked for
// is recorded too (see recording_runtime.h), unless that is switched off.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "trainer/cuda/runtime/recording_runtime.h"

namespace shardmill {

class SimulatedRuntime final : public RecordingRuntime {
 public:
  // Work that Launch functions enqueue, such as a kernel.
  Status Enqueue(StreamHandle stream, std::function<void()> work);

  Status FreeDevice(void* memory) override;
  Status RecordEvent(EventHandle event, StreamHandle stream) override;
  Status WaitEvent(StreamHandle stream, EventHandle event) override;
  Status Synchronize(EventHandle event) override;
  Status SynchronizeStream(StreamHandle stream) override;
  Status Launch(StreamHandle stream, const OperationNote& note,
                const LaunchFunction& launch) override;
  Status BeginCapture(StreamHandle stream) override;
  Result<GraphHandle> EndCapture(StreamHandle stream) override;
  Status LaunchGraph(GraphHandle graph, StreamHandle stream) override;

 protected:
  void Do(StreamHandle stream, std::function<void()> work) override;

 private:
  struct Place {  // in a queue: behind so many items since the stream was made
    StreamHandle stream = nullptr;
    int64_t items = 0;
  };
  struct Item {
    std::function<void()> work;  // null: waits for `place`
    Place place;
  };
  struct Queue {
    std::deque<Item> items;
    int64_t done = 0;
    int64_t End() const { return done + static_cast<int64_t>(items.size()); }
  };
  struct Captured {
    enum class Kind { kWork, kRecord, kWait };
    Kind kind = Kind::kWork;
    StreamHandle stream = nullptr;
    EventHandle event = nullptr;
    std::function<void()> work;
  };
  void Take(const Captured& item);
  void RunTo(const Place& place);
  void RunAll();

  std::map<StreamHandle, Queue> queues_;
  std::map<EventHandle, Place> events_;
  std::vector<Captured> capture_;
  std::map<GraphHandle, std::vector<Captured>> graphs_;
};

}  // namespace shardmill
