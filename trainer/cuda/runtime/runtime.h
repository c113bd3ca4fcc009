// The calls of a GPU runtime that order work: streams, events, asynchronous copies, launches.
//
// Everything that runs on several streams is written on this interface, so that the order of the
// operations can be recorded and checked without a GPU: see recording_runtime.h and
// dependency_check.h. Operations are enqueued and run in the order of their stream; what streams
// and the host owe each other is said by events only. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

// Handles of the implementation; null: none.
using StreamHandle = void*;
using EventHandle = void*;
using GraphHandle = void*;

// Memory of the device, or pinned memory of the host.
struct MemorySpan {
  const void* address = nullptr;
  int64_t bytes = 0;
};

// What an operation does, for those who check it. `name` must be a literal.
struct OperationNote {
  const char* name = "";
  std::vector<MemorySpan> reads;
  std::vector<MemorySpan> writes;
};

class CudaRuntime {
 public:
  virtual ~CudaRuntime() = default;

  virtual Result<void*> AllocateDevice(int64_t bytes) = 0;
  // Of the memory of the device, now.
  virtual Result<int64_t> FreeBytes() = 0;
  // Memory of both, whose pages move to where they are used: the host must have waited for what the
  // device does with it.
  virtual Result<void*> AllocateShared(int64_t bytes) = 0;
  virtual Status FreeDevice(void* memory) = 0;  // of either kind
  // Memory of the host that copies read without the CPU.
  virtual Result<void*> AllocatePinned(int64_t bytes) = 0;
  virtual Status FreePinned(void* memory) = 0;

  virtual Result<StreamHandle> CreateStream() = 0;
  virtual Status DestroyStream(StreamHandle stream) = 0;
  // Events carry no time stamps.
  virtual Result<EventHandle> CreateEvent() = 0;
  virtual Status DestroyEvent(EventHandle event) = 0;

  // The event now stands for all work of the stream so far.
  virtual Status RecordEvent(EventHandle event, StreamHandle stream) = 0;
  // Later work of the stream starts after what the event stands for at this moment. An event that
  // was never recorded stands for nothing.
  virtual Status WaitEvent(StreamHandle stream, EventHandle event) = 0;
  // The same for the host: a question, or a wait.
  virtual Result<bool> IsDone(EventHandle event) = 0;
  virtual Status Synchronize(EventHandle event) = 0;
  virtual Status SynchronizeStream(StreamHandle stream) = 0;
  // Waits for the work of all streams, but not without end: for what is about to go. When it fails
  // the device is lost, and then all that would wait for it fails at once.
  virtual Status Drain() = 0;
  // Is called again and again while the host waits in Synchronize and SynchronizeStream, with the
  // seconds so far; an error ends the wait. So whoever shares work of the device with other
  // processes sees that one of them is gone. Null: nothing.
  using Watch = std::function<Status(double waited_seconds)>;
  void set_watch(Watch watch) { watch_ = std::move(watch); }

  virtual Status CopyToDevice(StreamHandle stream, const void* pinned, int64_t bytes,
                              void* device) = 0;
  virtual Status CopyToHost(StreamHandle stream, const void* device, int64_t bytes,
                            void* pinned) = 0;
  virtual Status SetZero(StreamHandle stream, int64_t bytes, void* device) = 0;

  // Enqueues what `launch` launches, all of it on `stream`.
  using LaunchFunction = std::function<Status(StreamHandle stream)>;
  virtual Status Launch(StreamHandle stream, const OperationNote& note,
                        const LaunchFunction& launch) = 0;
  // The host itself reads or writes pinned memory now.
  virtual void NoteHostAccess(const OperationNote& note) = 0;

  // Between these two nothing runs: what is enqueued on `stream`, and on streams that wait for it
  // and that it waits for in the end, becomes a graph. Nothing may be allocated or synchronized.
  virtual Status BeginCapture(StreamHandle stream) = 0;
  virtual Result<GraphHandle> EndCapture(StreamHandle stream) = 0;
  virtual Status LaunchGraph(GraphHandle graph, StreamHandle stream) = 0;
  virtual Status DestroyGraph(GraphHandle graph) = 0;

 protected:
  const Watch& watch() const { return watch_; }

 private:
  Watch watch_;
};

}  // namespace shardmill
