#include "trainer/comm/roll_call.h"

#include <algorithm>

#include "reader/base/status.h"

namespace shardmill {

RollCall::RollCall(int own_rank, int ranks) : own_rank_(own_rank), rows_(ranks) {
  SHARDMILL_CHECK(own_rank >= 0 && own_rank < ranks);
}

std::optional<std::string> RollCall::Record(int rank, const CallPosition& position) {
  SHARDMILL_CHECK(rank >= 0 && rank < static_cast<int>(rows_.size()));
  Row& row = rows_[rank];
  row.calls[position.sequence % kHistory] = position;
  row.latest = std::max(row.latest, position.sequence);
  if (rank != own_rank_) return Compare(rank, position.sequence);
  for (int other = 0; other < static_cast<int>(rows_.size()); ++other) {
    if (auto difference = Compare(other, position.sequence)) return difference;
  }
  return std::nullopt;
}

const CallPosition& RollCall::Latest(int rank) const {
  const Row& row = rows_[rank];
  return row.calls[row.latest % kHistory];
}

std::vector<int> RollCall::NotStarted(uint64_t sequence) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < static_cast<int>(rows_.size()); ++rank) {
    if (rows_[rank].latest < sequence) ranks.push_back(rank);
  }
  return ranks;
}

std::optional<std::string> RollCall::Compare(int rank, uint64_t sequence) const {
  const CallPosition& own = rows_[own_rank_].calls[sequence % kHistory];
  const CallPosition& other = rows_[rank].calls[sequence % kHistory];
  if (own.sequence != sequence || other.sequence != sequence) return std::nullopt;
  if (own.signature == other.signature) return std::nullopt;
  return "the ranks do not make the same calls: rank " + std::to_string(own_rank_) + " is at " +
         PositionText(own, CallState::kStarted) + " where rank " + std::to_string(rank) +
         " is at " + PositionText(other, CallState::kStarted) +
         " (or with other sizes); were all started with the same options?";
}

std::string RanksText(const std::vector<int>& ranks) {
  constexpr size_t kMaxParts = 10;
  std::vector<std::string> parts;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i >= 3) {
      parts.push_back(std::to_string(ranks[i]) + " to " + std::to_string(ranks[end - 1]));
    } else {
      for (size_t k = i; k < end; ++k) parts.push_back(std::to_string(ranks[k]));
    }
    i = end;
  }
  if (parts.size() > kMaxParts) {
    parts.resize(kMaxParts);
    parts.push_back("others");
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

}  // namespace shardmill
