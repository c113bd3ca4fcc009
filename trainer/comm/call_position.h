// Where a rank is: the training step, and the call between ranks that it started last.
//
// Plain memory: it travels between ranks as bytes (all of one job run the same program) and lies
// in memory that a rank shares with its guard.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace shardmill {

struct CallPosition {
  static constexpr int kMaxName = 63;

  int64_t step = -1;       // -1: before the first step
  uint64_t sequence = 0;   // calls started so far; 0: none
  uint64_t signature = 0;  // of kind, type, sizes and name: equal on all ranks for one sequence
  char name[kMaxName + 1] = {};

  void set_name(std::string_view text);  // cut to kMaxName bytes
};

static_assert(std::is_trivially_copyable_v<CallPosition>);

enum class CallState { kStarted, kEnded };

// "step 17, in 'gradient bucket 3'", or "after" when the call has ended; "the start" for step -1.
std::string PositionText(const CallPosition& position, CallState state);

}  // namespace shardmill
