#include "trainer/rank_facts.h"

#include <sstream>

namespace shardmill {
namespace {

std::string Encode(const std::vector<RankFact>& facts) {
  std::string text;
  for (const RankFact& fact : facts) {
    for (const char c : fact.value) text += c == '\n' ? ' ' : c;
    text += '\n';
  }
  return text;
}

std::vector<std::string> Values(const std::string& text) {
  std::vector<std::string> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) values.push_back(line);
  return values;
}

}  // namespace

Status CompareFacts(Communicator* communicator, const std::vector<RankFact>& facts) {
  if (communicator->size() == 1) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> all,
                   communicator->Gather(Encode(facts), "facts of the start"));
  const std::vector<std::string> first = Values(all[0]);
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    const std::vector<std::string> other = Values(all[rank]);
    const std::string text = "rank " + std::to_string(rank) + " of " + std::to_string(all.size());
    if (first.size() != facts.size() || other.size() != facts.size()) {
      return InvalidArgumentError(text + " runs another program than rank 0");
    }
    for (size_t i = 0; i < facts.size(); ++i) {
      if (other[i] == first[i]) continue;
      return InvalidArgumentError(text + " was started differently: " + facts[i].name + " is " +
                                  other[i] + " there and " + first[i] +
                                  " on rank 0; start all ranks with the same program, options and "
                                  "data set");
    }
  }
  return OkStatus();
}

}  // namespace shardmill
