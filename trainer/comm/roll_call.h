// Who has come how far: the latest calls of each rank, as its notes tell them.
//
// Rank 0 keeps the roll of all ranks, and rank 1 that of rank 0; the others know only themselves.
// Pure bookkeeping, no communication. Not for concurrent use.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/comm/call_position.h"

namespace shardmill {

class RollCall {
 public:
  RollCall(int own_rank, int ranks);

  // Takes a rank's note. When that rank and this one have started different calls under the same
  // number, returns a sentence that says so: their programs or options differ.
  std::optional<std::string> Record(int rank, const CallPosition& position);

  // The last call that `rank` is known to have started (sequence 0: none).
  const CallPosition& Latest(int rank) const;

  // The ranks that are not known to have started call `sequence`, in order.
  std::vector<int> NotStarted(uint64_t sequence) const;

 private:
  // Ranks run ahead of each other by the calls that are started and not waited for.
  static constexpr int kHistory = 64;
  struct Row {
    std::array<CallPosition, kHistory> calls;  // call s at s % kHistory
    uint64_t latest = 0;
  };

  std::optional<std::string> Compare(int rank, uint64_t sequence) const;

  int own_rank_;
  std::vector<Row> rows_;
};

// "rank 3", "ranks 1, 3 and 4", "ranks 1 to 7" for runs; at most about ten numbers are named.
std::string RanksText(const std::vector<int>& ranks);

}  // namespace shardmill
