// The memory that a rank shares with its guard (rank_guard.h): what the rank was doing when it
// died. Written by the rank, read by the guard; also there, unshared, when there is no guard.
#pragma once

#include <atomic>
#include <cstdint>

#include "trainer/comm/call_position.h"

namespace shardmill {

enum class RankState : int {
  kAlone,     // no communicator over several ranks yet
  kStarting,  // inside the start of MPI, which has no deadline of its own
  kOpen,
  kClosing,  // inside the end of MPI, likewise
  kClosed,
  kAborted,
};

struct RankPage {
  std::atomic<RankState> state{RankState::kAlone};
  // When kStarting or kClosing has taken too long, on CLOCK_MONOTONIC; 0: never.
  std::atomic<int64_t> limit_nanoseconds{0};
  CallPosition position;
  CallState call_state = CallState::kEnded;
};

// The page of this process. ShareRankPage() must come first if the page is to survive a fork.
RankPage& ThisRankPage();

// Puts the page into memory that processes forked later share with this one. Called once, before
// any use of the page; false when the system refuses the memory.
bool ShareRankPage();

int64_t MonotonicNanoseconds();

}  // namespace shardmill
