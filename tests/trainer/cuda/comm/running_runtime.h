// A recorder that also runs what is launched, on the host.
#pragma once

#include <map>

#include "trainer/cuda/runtime/recording_runtime.h"

namespace shardmill {

class RunningRuntime : public RecordingRuntime {
 public:
  Status Launch(StreamHandle stream, const OperationNote& note,
                const LaunchFunction& launch) override {
    RETURN_IF_ERROR(RecordingRuntime::Launch(stream, note, nullptr));
    return launch ? launch(stream) : OkStatus();
  }

  // While the device is pending it has come to the end of this stream.
  void set_done(StreamHandle stream) { done_ = stream; }
  // Events cannot be asked, as those that were captured.
  void set_captured(bool captured) { captured_ = captured; }

  // What somebody who waits for the device hears after this time.
  Status Watched(double waited_seconds) const { return watch()(waited_seconds); }

  Status RecordEvent(EventHandle event, StreamHandle stream) override {
    streams_of_events_[event] = stream;
    return RecordingRuntime::RecordEvent(event, stream);
  }
  Result<bool> IsDone(EventHandle event) override {
    const auto stream = streams_of_events_.find(event);
    const bool is_recorded = stream != streams_of_events_.end();
    if (captured_ && is_recorded) return UnavailableError("the event was captured");
    if (is_recorded && done_ != nullptr && stream->second == done_) return true;
    return RecordingRuntime::IsDone(event);
  }

 private:
  std::map<EventHandle, StreamHandle> streams_of_events_;
  StreamHandle done_ = nullptr;
  bool captured_ = false;
};

}  // namespace shardmill
