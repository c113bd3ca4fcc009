#include "trainer/cuda/runtime/device_wait.h"

#include <string>

#include "trainer/comm/patience.h"

namespace shardmill {

Status DeviceWait::Lose(double seconds, const char* when) {
  lost_ = UnavailableError("the GPU has not done its work " +
                           std::to_string(static_cast<int64_t>(seconds)) + " s after " + when +
                           "; it hangs: see nvidia-smi and the log of the kernel");
  return lost_;
}

Status DeviceWait::Await(const Question& is_done, const Watch& watch) {
  RETURN_IF_ERROR(lost_);
  Patience patience;
  double interrupted_at = -1;
  for (;;) {
    ASSIGN_OR_RETURN(const bool done, is_done());
    if (done) return OkStatus();
    const double waited = patience.waited_seconds();
    if (watch) RETURN_IF_ERROR(watch(waited));
    if (interrupted_at < 0 && was_interrupted_()) interrupted_at = waited;
    if (interrupted_at >= 0 && waited - interrupted_at > limits_.interrupted_seconds) {
      return Lose(limits_.interrupted_seconds, "the interruption");
    }
    patience.Pause();
  }
}

Status DeviceWait::Drain(const Question& is_done) {
  RETURN_IF_ERROR(lost_);
  Patience patience;
  for (;;) {
    ASSIGN_OR_RETURN(const bool done, is_done());
    if (done) return OkStatus();
    if (patience.waited_seconds() > limits_.drain_seconds) {
      return Lose(limits_.drain_seconds, "it was given up");
    }
    patience.Pause();
  }
}

}  // namespace shardmill
