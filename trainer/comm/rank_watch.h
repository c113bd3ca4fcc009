// Keeps watch over the other ranks while this one waits: takes notes and answers, asks who is
// still there, and finds out who is missing.
//
// Not for concurrent use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/comm/call_position.h"
#include "trainer/comm/communicator.h"
#include "trainer/comm/control_channel.h"
#include "trainer/comm/roll_call.h"

namespace shardmill {

class RankWatch {
 public:
  // `control` must outlive the watch. timeout_seconds 0: no deadlines.
  RankWatch(ControlChannel* control, const RankLayout& layout, double timeout_seconds);

  // This rank starts a call: tells the rank that keeps the roll. Unavailable when the ranks are
  // seen to make different calls.
  Status Started(const CallPosition& own);

  // Takes everything that has arrived and answers questions. The error of another rank that
  // aborted the job comes back with failed_remotely() true.
  Status Listen(const CallPosition& own);
  bool failed_remotely() const { return failed_remotely_; }

  // One wait for one call.
  struct Wait {
    CallPosition call;
    double ask_at_seconds = 0;
    int extensions = 0;
    bool asked = false;
  };
  Wait BeginWait(const CallPosition& call) const;
  // Looks at the clock: asks when it is time, and gives the verdict (Unavailable, naming the
  // missing ranks and where they were seen last) when the time to answer is over.
  Status Check(Wait* wait, double waited_seconds);

  // Some rank was found silent: it will not end by itself.
  bool found_silent() const { return found_silent_; }

  // "rank 1" … that have not come to `call`, as far as this rank knows; may be empty.
  std::string NotThere(const CallPosition& call) const;

 private:
  Status Handle(const ControlMessage& message, int source, const CallPosition& own);
  Status Ask(const CallPosition& call);
  Status Verdict(Wait* wait, double waited_seconds);
  std::vector<int> Silent() const;
  Status SilentError(const std::vector<int>& silent, double waited_seconds);
  Status AbsentError(const std::vector<int>& absent, double waited_seconds) const;
  std::string LastSeen(const std::vector<int>& ranks) const;
  double OwnTurnSeconds() const;

  ControlChannel* control_;
  RankLayout layout_;
  double timeout_seconds_;
  double answer_seconds_;
  RollCall roll_;
  std::vector<char> answered_;
  ControlMessage incoming_;
  bool failed_remotely_ = false;
  bool found_silent_ = false;
};

}  // namespace shardmill
