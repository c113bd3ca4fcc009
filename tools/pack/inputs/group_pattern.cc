#include "tools/pack/inputs/group_pattern.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <regex>
#include <utility>

#include "reader/base/interrupt.h"
#include "reader/console/terminal.h"
#include "reader/console/units.h"

namespace shardmill {
namespace {

constexpr size_t kKeysShown = 5;
// For one key, some tenths of a second. A sound pattern takes a few for each character.
constexpr uint64_t kMostSteps = 10'000'000;
constexpr uint64_t kStepsBetweenChecks = 1 << 16;

struct TooManySteps : std::exception {
  const char* what() const noexcept override { return "too many steps"; }
};
struct Interrupted : std::exception {};

// Walks over a key and counts the looks at its characters, and at whether it is at its end.
// std::regex tries one way after the other, of which there may be more than it can ever try, and
// has no limit of its own.
class CountingIterator {
 public:
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator() = default;
  CountingIterator(const char* place, uint64_t* steps) : place_(place), steps_(steps) {}

  reference operator*() const {
    Count();
    return *place_;
  }
  CountingIterator& operator++() {
    ++place_;
    return *this;
  }
  CountingIterator operator++(int) { return {place_++, steps_}; }
  CountingIterator& operator--() {
    --place_;
    return *this;
  }
  CountingIterator operator--(int) { return {place_--, steps_}; }
  bool operator==(const CountingIterator& other) const {
    Count();
    return place_ == other.place_;
  }
  bool operator!=(const CountingIterator& other) const { return !(*this == other); }

  const char* place() const { return place_; }

 private:
  void Count() const {
    if (steps_ == nullptr) return;  // of a part that matched nothing
    if (++*steps_ > kMostSteps) throw TooManySteps();
    if (*steps_ % kStepsBetweenChecks == 0 && WasInterrupted()) throw Interrupted();
  }

  const char* place_ = nullptr;
  uint64_t* steps_ = nullptr;
};

using KeyMatch = std::match_results<CountingIterator>;

std::string TextOf(const KeyMatch& match, size_t part) {
  const auto& found = match[part];
  return found.matched ? std::string(found.first.place(), found.second.place()) : std::string();
}

// Throws as the iterator does. False when the pattern is not found.
bool FindGroup(const std::regex& expression, const std::string& key, std::string* group) {
  uint64_t steps = 0;
  KeyMatch match;
  const CountingIterator begin(key.data(), &steps), end(key.data() + key.size(), &steps);
  if (!std::regex_search(begin, end, match, expression)) return false;
  if (match.size() == 1) *group = TextOf(match, 0);
  for (size_t i = 1; i < match.size(); ++i) *group += TextOf(match, i) + '\n';
  return true;
}

Status NotFoundInKeys(const std::string& what, const std::vector<std::string>& unmatched,
                      size_t samples) {
  std::string keys;
  for (size_t i = 0; i < std::min(kKeysShown, unmatched.size()); ++i) {
    keys += "\n  " + EscapeControl(unmatched[i]);
  }
  return InvalidArgumentError(what + " is not found in " + FormatCount(unmatched.size()) + " of " +
                              FormatCount(samples) + " keys:" + keys +
                              (unmatched.size() > kKeysShown ? "\n  …" : ""));
}

}  // namespace

Result<std::vector<std::string>> FindGroups(const std::string& pattern,
                                            const std::vector<Sample>& samples) {
  const std::string what = "--group-pattern '" + pattern + "'";
  std::vector<std::string> groups, unmatched;
  const std::string* key = nullptr;
  try {
    const std::regex expression(pattern);
    for (const Sample& sample : samples) {
      key = &sample.key;
      RETURN_IF_ERROR(CheckInterrupt());
      if (!FindGroup(expression, *key, &groups.emplace_back())) unmatched.push_back(*key);
    }
  } catch (const TooManySteps&) {
    return InvalidArgumentError(
        what + " takes too many steps with the key " + EscapeControl(*key) +
        "; write it without repetitions of what can be repeated in several ways, as (a+)+ is");
  } catch (const Interrupted&) {
    return CheckInterrupt();
  } catch (const std::exception& error) {
    return InvalidArgumentError(what + ": " + error.what());
  }
  if (unmatched.empty()) return groups;
  return NotFoundInKeys(what, unmatched, samples.size());
}

}  // namespace shardmill
