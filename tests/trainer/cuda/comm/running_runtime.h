// A recorder that also runs what is launched, on the host.
#pragma once

#include "trainer/cuda/runtime/recording_runtime.h"

namespace shardmill {

class RunningRuntime : public RecordingRuntime {
 public:
  Status Launch(StreamHandle stream, const OperationNote& note,
                const LaunchFunction& launch) override {
    RETURN_IF_ERROR(RecordingRuntime::Launch(stream, note, nullptr));
    return launch ? launch(stream) : OkStatus();
  }
};

}  // namespace shardmill
