// How the host waits for a device that may hang: by questions, never inside of a call that does
// not return. A device that has not answered in time counts as lost; nobody waits for it again, so
// a program with a hung device comes to its end. One thread at a time.
#pragma once

#include <functional>

#include "reader/base/status.h"

namespace shardmill {

class DeviceWait {
 public:
  struct Limits {
    // For work that is given up: what is freed and destroyed at the end.
    double drain_seconds = 20;
    // For work that is wanted, which else may take as long as it likes, behind an interruption.
    double interrupted_seconds = 20;
  };
  // `was_interrupted`: whether the user wants the program to end.
  DeviceWait(const Limits& limits, std::function<bool()> was_interrupted)
      : limits_(limits), was_interrupted_(std::move(was_interrupted)) {}

  // Asks again and again; returns OK at a yes, and the error of a question that fails. Unavailable
  // when the device is lost, or is now.
  using Question = std::function<Result<bool>()>;
  // `watch`: see CudaRuntime::set_watch.
  using Watch = std::function<Status(double waited_seconds)>;
  Status Await(const Question& is_done, const Watch& watch);
  Status Drain(const Question& is_done);

  // OK, or what is returned from now on.
  const Status& lost() const { return lost_; }

 private:
  Status Lose(double seconds, const char* when);

  Limits limits_;
  std::function<bool()> was_interrupted_;
  Status lost_;
};

}  // namespace shardmill
