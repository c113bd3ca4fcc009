#include "tools/pack/inputs/split_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reader/base/checksum.h"
#include "reader/console/units.h"
#include "reader/names.h"
#include "tools/pack/augment/augment_options.h"
#include "tools/pack/inputs/group_pattern.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

constexpr uint32_t kWhole = 1000;

// Uniform over the values of 64 bits.
uint64_t PlaceOf(const std::string& group, uint64_t seed) {
  return MixBits(Checksum64(group.data(), group.size()) ^ MixBits(seed + 0x5b117u));
}

// The split whose share holds `part` of `whole`.
size_t SplitAt(const std::vector<SplitShare>& shares, unsigned __int128 part, uint64_t whole) {
  uint64_t end = 0;
  for (size_t i = 0; i + 1 < shares.size(); ++i) {
    end += shares[i].permille;
    if (part * kWhole < static_cast<unsigned __int128>(end) * whole) return i;
  }
  return shares.size() - 1;
}

size_t SplitOfPlace(const std::vector<SplitShare>& shares, uint64_t place) {
  // The upper half of the bits is enough and leaves room to multiply.
  return SplitAt(shares, place >> 32, uint64_t{1} << 32);
}

std::vector<size_t> DivideByHash(const SplitRule& rule, uint64_t seed,
                                 const std::vector<std::string>& groups) {
  std::vector<size_t> splits;
  for (const std::string& group : groups) {
    splits.push_back(SplitOfPlace(rule.shares, PlaceOf(group, seed)));
  }
  return splits;
}

// Each class in the order of its hashes, cut at the shares.
std::vector<size_t> DivideByClass(const SplitRule& rule, uint64_t seed,
                                  const std::vector<Sample>& samples) {
  std::map<uint32_t, std::vector<std::pair<uint64_t, size_t>>> classes;
  for (size_t i = 0; i < samples.size(); ++i) {
    classes[samples[i].class_id].emplace_back(PlaceOf(samples[i].key, seed), i);
  }
  std::vector<size_t> splits(samples.size());
  for (auto& [id, members] : classes) {
    std::sort(members.begin(), members.end());
    for (size_t i = 0; i < members.size(); ++i) {
      // The middle of each member's part of the whole.
      splits[members[i].second] = SplitAt(rule.shares, 2 * i + 1, 2 * members.size());
    }
  }
  return splits;
}

// All samples and problems in one, and no note of splits that were made before.
InputSplit TakeAll(InputSet* set) {
  InputSplit all;
  for (InputSplit& split : set->splits) {
    std::move(split.samples.begin(), split.samples.end(), std::back_inserter(all.samples));
    std::move(split.problems.begin(), split.problems.end(), std::back_inserter(all.problems));
  }
  auto less = [](const auto& a, const auto& b) { return a.key < b.key; };
  std::sort(all.samples.begin(), all.samples.end(), less);
  std::sort(all.problems.begin(), all.problems.end(), less);
  set->splits.clear();
  auto about_splits = [](const std::string& note) {
    constexpr std::string_view kEmpty = " is empty";  // split val
    return note.rfind("the folder has no splits", 0) == 0 ||
           (note.rfind("split ", 0) == 0 && note.size() > kEmpty.size() &&
            note.compare(note.size() - kEmpty.size(), kEmpty.size(), kEmpty) == 0);
  };
  set->notes.erase(std::remove_if(set->notes.begin(), set->notes.end(), about_splits),
                   set->notes.end());
  return all;
}

// Inputs that are no samples go to the first split.
Status Distribute(const SplitRule& rule, InputSplit all, const std::vector<size_t>& split_of,
                  InputSet* set) {
  for (const SplitShare& share : rule.shares) set->splits.emplace_back().name = share.name;
  for (size_t i = 0; i < all.samples.size(); ++i) {
    set->splits[split_of[i]].samples.push_back(std::move(all.samples[i]));
  }
  set->splits.front().problems = std::move(all.problems);
  for (const InputSplit& split : set->splits) {
    if (!split.samples.empty()) continue;
    return InvalidArgumentError("split " + split.name +
                                " gets no input; give it a larger share with --split, or another "
                                "--seed");
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<SplitShare>> ParseShares(std::string_view text) {
  std::vector<SplitShare> shares;
  uint64_t sum = 0;
  while (true) {
    const std::string_view item = text.substr(0, text.find(','));
    const size_t equals = std::min(item.find('='), item.size());
    std::string name(item.substr(0, equals));
    // As folders and lists are called: "Train" is train.
    if (const std::string usual = UsualSplitName(name); !usual.empty()) name = usual;
    if (equals == item.size() || !IsPlainName(name)) {
      return InvalidArgumentError("'" + std::string(item) + "': write NAME=SHARE, as in train=0.9");
    }
    ASSIGN_OR_RETURN(const uint32_t permille, ParseThousandths(item.substr(equals + 1)));
    if (permille == 0) return InvalidArgumentError("the share of " + name + " is 0");
    for (const SplitShare& other : shares) {
      if (other.name == name) return InvalidArgumentError("split " + name + " stands twice");
    }
    shares.push_back({name, permille});
    sum += permille;
    if (item.size() == text.size()) break;
    text.remove_prefix(item.size() + 1);
  }
  if (sum == kWhole) return shares;
  return InvalidArgumentError("the shares add up to " +
                              FormatThousandths(static_cast<uint32_t>(sum)) + ", not to 1");
}

std::string FormatShares(const std::vector<SplitShare>& shares) {
  std::string text;
  for (const SplitShare& share : shares) {
    text += (text.empty() ? "" : ",") + share.name + "=" + FormatThousandths(share.permille);
  }
  return text;
}

std::vector<SplitShare> UsualShares() { return {{"train", 900}, {"val", 100}}; }

std::string_view SplitByName(SplitRule::By by) {
  switch (by) {
    case SplitRule::By::kRatio:
      return "ratio";
    case SplitRule::By::kGroup:
      return "group";
    case SplitRule::By::kLayout:
      break;
  }
  return "layout";
}

Status MakeSplits(const SplitRule& rule, uint64_t seed, InputSet* set) {
  if (rule.by == SplitRule::By::kLayout) return OkStatus();
  if (rule.balanced && set->task != Task::kClassification) {
    return InvalidArgumentError("--split-balanced is for sets with a class per image; layout " +
                                set->layout + " has label images");
  }
  InputSplit all = TakeAll(set);
  if (all.samples.empty() && !all.problems.empty()) {
    const Problem& first = all.problems.front();
    return NotFoundError("none of the " + FormatCount(all.problems.size()) +
                         " inputs can be packed; the first: " + first.key + ": " + first.reason);
  }
  std::vector<size_t> split_of;
  std::string what = FormatCount(all.samples.size()) + " inputs";
  if (rule.by == SplitRule::By::kGroup) {
    ASSIGN_OR_RETURN(const std::vector<std::string> groups,
                     FindGroups(rule.group_pattern, all.samples));
    split_of = DivideByHash(rule, seed, groups);
    what += " in " + FormatCount(std::set<std::string>(groups.begin(), groups.end()).size()) +
            " groups";
  } else if (rule.balanced) {
    split_of = DivideByClass(rule, seed, all.samples);
    what += ", class by class";
  } else {
    std::vector<std::string> keys;
    for (const Sample& sample : all.samples) keys.push_back(sample.key);
    split_of = DivideByHash(rule, seed, keys);
  }
  RETURN_IF_ERROR(Distribute(rule, std::move(all), split_of, set));
  std::string counts;
  for (const InputSplit& split : set->splits) {
    counts += (counts.empty() ? "" : ", ") + split.name + " " + FormatCount(split.samples.size());
  }
  set->notes.push_back("splits made of " + what + ": " + counts);
  return OkStatus();
}

}  // namespace shardmill
