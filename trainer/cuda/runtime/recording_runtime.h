// A runtime without a GPU that writes down what it is asked to do.
//
// Memory is memory of the host. Copies are done at once, launches are not run; the log is what
// counts. Captured work is logged when its graph is launched.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "trainer/cuda/runtime/runtime.h"

namespace shardmill {

struct RecordedStep {
  enum class Kind {
    kAllocate,      // span
    kFree,          // span
    kStreamWork,    // stream, name, reads, writes
    kHostWork,      // name, reads, writes
    kRecordEvent,   // stream, event
    kStreamWaits,   // stream, event
    kHostWaits,     // event
    kHostWaitsAll,  // stream
  };
  Kind kind = Kind::kHostWork;
  int stream = -1;
  int event = -1;
  std::string name;
  std::vector<MemorySpan> reads, writes;
  MemorySpan span;
};

class RecordingRuntime : public CudaRuntime {
 public:
  RecordingRuntime();
  ~RecordingRuntime() override;

  const std::vector<RecordedStep>& log() const { return log_; }
  // What was asked for and is an error on a GPU: synchronizing while capturing and the like.
  const std::vector<std::string>& misuses() const { return misuses_; }
  // The next BeginCapture fails, as for work that cannot be captured.
  void set_refuse_capture(bool refuse) { refuse_capture_ = refuse; }
  // Of each capture from now on, the launch of this number fails, counted from 1; 0: none does.
  void set_failing_launch(int number) { failing_launch_ = number; }
  // IsDone says no from now on, or yes; and where somebody watches, waits end only by that.
  void set_pending(bool pending) { pending_ = pending; }
  // Work of this name that is enqueued from now on never ends, nor does what waits for it.
  void set_hanging(const std::string& name) { hanging_ = name; }
  // The device hangs: all that waits for it, frees or destroys fails.
  void set_lost(bool lost) { lost_ = lost; }
  // The memory of the device: allocations beyond it fail.
  void set_device_bytes(int64_t bytes) { device_bytes_ = bytes; }
  // There is no memory left to be pinned.
  void set_refuse_pinned(bool refuse) { refuse_pinned_ = refuse; }
  int64_t graphs_launched() const { return graphs_launched_; }
  int64_t graphs_alive() const { return graphs_alive_; }  // captured and not destroyed
  // Whether the log is kept, and with it freed memory.
  void set_recording(bool recording) { recording_ = recording; }

  Result<void*> AllocateDevice(int64_t bytes) override;
  Result<int64_t> FreeBytes() override { return device_bytes_ - used_bytes_; }
  Result<void*> AllocateShared(int64_t bytes) override;
  Status FreeDevice(void* memory) override;
  Result<void*> AllocatePinned(int64_t bytes) override;
  Status FreePinned(void* memory) override;
  Result<StreamHandle> CreateStream() override;
  Status DestroyStream(StreamHandle) override { return CheckLost(); }
  Result<EventHandle> CreateEvent() override;
  Status DestroyEvent(EventHandle) override { return CheckLost(); }
  Status RecordEvent(EventHandle event, StreamHandle stream) override;
  Status WaitEvent(StreamHandle stream, EventHandle event) override;
  // A yes counts as waited for.
  Result<bool> IsDone(EventHandle event) override;
  Status Synchronize(EventHandle event) override;
  Status SynchronizeStream(StreamHandle stream) override;
  Status Drain() override;
  Status CopyToDevice(StreamHandle stream, const void* pinned, int64_t bytes,
                      void* device) override;
  Status CopyToHost(StreamHandle stream, const void* device, int64_t bytes, void* pinned) override;
  Status SetZero(StreamHandle stream, int64_t bytes, void* device) override;
  Status Launch(StreamHandle stream, const OperationNote& note,
                const LaunchFunction& launch) override;
  void NoteHostAccess(const OperationNote& note) override;
  Status BeginCapture(StreamHandle stream) override;
  Result<GraphHandle> EndCapture(StreamHandle stream) override;
  Status LaunchGraph(GraphHandle graph, StreamHandle stream) override;
  Status DestroyGraph(GraphHandle) override {
    RETURN_IF_ERROR(CheckLost());
    --graphs_alive_;
    return OkStatus();
  }

  bool IsCapturing() const { return capture_ != nullptr; }
  // Whether something was asked for that no graph can hold.
  bool CaptureIsSpoiled() const { return capture_is_spoiled_; }

 protected:
  // Runs a copy that was enqueued. Here: at once.
  virtual void Do(StreamHandle stream, std::function<void()> work);
  Status CheckLost() const {
    return lost_ ? UnavailableError("the simulated GPU hangs") : OkStatus();
  }

 private:
  struct Number {
    int value;
  };
  struct Graph {
    std::vector<RecordedStep> steps;
  };
  static int Of(void* handle) {
    return handle == nullptr ? -1 : static_cast<Number*>(handle)->value;
  }
  Result<void*> Allocate(int64_t bytes);
  Status Free(void* memory);
  void* NewNumber(std::vector<std::unique_ptr<Number>>* numbers);
  void Add(RecordedStep step);
  void RefuseWhileCapturing(const char* what);
  Status AwaitWatched(bool is_stuck) const;
  void FindStuck(const RecordedStep& step);

  std::vector<RecordedStep> log_;
  std::vector<std::string> misuses_;
  std::map<void*, int64_t> blocks_, device_blocks_;
  std::vector<std::unique_ptr<Number>> streams_, events_;
  std::vector<std::unique_ptr<Graph>> graphs_;
  std::unique_ptr<Graph> capture_;
  bool recording_ = true;
  bool capture_is_spoiled_ = false;
  bool refuse_capture_ = false;
  bool refuse_pinned_ = false;
  int failing_launch_ = 0, captured_launches_ = 0;
  bool pending_ = false;
  std::string hanging_;
  std::set<int> stuck_streams_, stuck_events_;
  bool lost_ = false;
  int64_t graphs_launched_ = 0;
  int64_t graphs_alive_ = 0;
  int64_t device_bytes_ = int64_t{1} << 40;
  int64_t used_bytes_ = 0;
};

}  // namespace shardmill
