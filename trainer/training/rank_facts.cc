#include "trainer/training/rank_facts.h"

#include <sstream>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"

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

std::string GivenText(const CLI::Option& option) {
  std::string text = option.get_default_str();
  if (option.count() > 0) {
    text.clear();
    for (const std::string& value : option.results()) text += (text.empty() ? "" : " ") + value;
  }
  return text.empty() ? "not given" : text;
}

}  // namespace

std::vector<RankFact> OptionFacts(const CLI::App& command, const std::set<std::string>& own) {
  std::vector<RankFact> facts;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->get_lnames().empty()) continue;
    const std::string name = "--" + option->get_lnames().front();
    if (own.count(name) == 0) facts.push_back({name, GivenText(*option)});
  }
  return facts;
}

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
