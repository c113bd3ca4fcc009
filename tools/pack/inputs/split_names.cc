#include "tools/pack/inputs/split_names.h"

#include <utility>

#include "reader/base/checksum.h"
#include "tools/pack/inputs/text_lines.h"

namespace shardmill {
namespace {

// One in this many images goes to the made val split.
constexpr uint64_t kValShare = 10;

std::string WithoutYear(const std::string& name) {
  constexpr size_t kYearDigits = 4;
  const size_t end = name.find_last_not_of("0123456789") + 1;
  return name.size() - end == kYearDigits ? name.substr(0, end) : name;
}

}  // namespace

std::string UsualSplitName(const std::string& name) {
  const std::string lower = WithoutYear(LowerCase(name));
  if (lower == "train" || lower == "training") return "train";
  if (lower == "val" || lower == "valid" || lower == "validation") return "val";
  if (lower == "test" || lower == "testing") return "test";
  return "";
}

void DivideByKey(InputSplit all, InputSet* set) {
  InputSplit train, val;
  train.name = "train";
  val.name = "val";
  train.made = val.made = true;
  train.problems = std::move(all.problems);
  for (Sample& sample : all.samples) {
    const bool to_val = Checksum64(sample.key.data(), sample.key.size()) % kValShare == 0;
    (to_val ? val : train).samples.push_back(std::move(sample));
  }
  if (train.samples.empty()) std::swap(train.samples, val.samples);
  set->notes.push_back("the folder has no splits: made train and val 90/10 by hash of the key (" +
                       std::to_string(train.samples.size()) + " and " +
                       std::to_string(val.samples.size()) + ")");
  set->splits.push_back(std::move(train));
  set->splits.push_back(std::move(val));
}

}  // namespace shardmill
