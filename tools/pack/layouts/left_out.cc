#include "tools/pack/layouts/left_out.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/record_key.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/layouts/layout_parts.h"

namespace shardmill {
namespace {

constexpr size_t kExamples = 3;

using Paths = std::unordered_set<std::string_view>;

// The split that the first folder of a split's name above the file means; empty: there is none.
std::string SplitAbove(std::string_view path) {
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string split = UsualSplitName(std::string(path.substr(begin, end - begin)));
    if (!split.empty()) return split;
    begin = end + 1;
  }
  return "";
}

InputSplit* FindSplit(const std::string& name, InputSet* set) {
  for (InputSplit& split : set->splits) {
    if (split.name == name) return &split;
  }
  return &set->splits.front();
}

Paths ProblemKeys(const InputSet& set) {
  Paths keys;
  for (const InputSplit& split : set.splits) {
    for (const Problem& problem : split.problems) keys.insert(problem.key);
  }
  return keys;
}

// Counts files for one note.
class FileCount {
 public:
  void Add(const std::string& path) {
    if (++count_ > kExamples) return;
    examples_ += (examples_.empty() ? "" : ", ") + path;
  }
  void Note(const std::string& what, InputSet* set) const {
    if (count_ == 0) return;
    set->notes.push_back(std::to_string(count_) + (count_ == 1 ? " file " : " files ") + what +
                         ": " + examples_ + (count_ > kExamples ? ", …" : ""));
  }

 private:
  uint64_t count_ = 0;
  std::string examples_;
};

// The files that the layout has found a use for, and what stands for them in problems; `shared`
// counts the label images that several samples have.
Paths UsedFiles(const InputSet& set, FileCount* shared) {
  Paths used = ProblemKeys(set);
  const bool has_label_images =
      set.task == Task::kSegmentation && set.labels.form == LabelForm::kImage;
  size_t files = used.size();
  for (const InputSplit& split : set.splits) files += 2 * split.samples.size();
  used.reserve(files);
  for (const InputSplit& split : set.splits) {
    for (const Sample& sample : split.samples) {
      used.insert(sample.image.path);
      if (sample.label.path.empty()) continue;
      if (!used.insert(sample.label.path).second && has_label_images)
        shared->Add(sample.label.path);
    }
  }
  return used;
}

bool IsKindOf(const InputSet& set, const std::string& path) {
  return set.holds_arrays ? EndsWith(LowerCase(path), ".npy") : HasImageExtension(path);
}

bool IsBelow(const std::string& path, const std::string& tree) {
  return tree.empty() || BeginsWith(path, tree + "/");
}

// nullptr: it does not belong to a split without labels.
const std::string* ReasonOfUnlabelled(const InputSet& set, const std::string& path) {
  for (const UnlabelledImages& images : set.unlabelled) {
    const bool in_tree = !images.tree.empty() && IsBelow(path, images.tree);
    if (in_tree || images.files.count(path) > 0) return &images.reason;
  }
  return nullptr;
}

bool IsInput(const UnlistedRule& rule, const std::string& path) {
  if (rule.folders.count(FolderAbove(path)) > 0) return true;
  return std::any_of(rule.trees.begin(), rule.trees.end(),
                     [&](const std::string& tree) { return IsBelow(path, tree); });
}

}  // namespace

Status AddUnreadable(const FolderListing& listing, const LayoutOptions& options, InputSet* set) {
  if (set->splits.empty() || listing.unreadable.empty()) return OkStatus();
  const Paths known = ProblemKeys(*set);
  std::vector<std::pair<InputSplit*, Problem>> problems;
  for (const UnreadableEntry& entry : listing.unreadable) {
    const std::string split = SplitAbove(entry.path);
    ASSIGN_OR_RETURN(std::string key, RecordKey(entry.path));
    if (known.count(key) > 0 || (!split.empty() && options.LeavesOut(split))) continue;
    problems.push_back({FindSplit(split, set), {std::move(key), entry.reason}});
  }
  for (auto& [split, problem] : problems) split->problems.push_back(std::move(problem));
  return OkStatus();
}

Status AddUnlisted(const FolderListing& listing, InputSet* set) {
  FileCount inputs, others, shared;
  const Paths used = UsedFiles(*set, &shared);
  std::vector<Problem> problems;
  for (const ListedFile& file : listing.files) {
    if (used.count(file.path) > 0 || !IsKindOf(*set, file.path)) continue;
    ASSIGN_OR_RETURN(std::string key, RecordKey(file.path));
    if (used.count(key) > 0) continue;
    // The layout has noted these.
    if (const std::string* reason = ReasonOfUnlabelled(*set, file.path)) {
      problems.push_back({std::move(key), *reason, true});
    } else if (IsInput(set->unlisted, file.path)) {
      inputs.Add(file.path);
      problems.push_back({std::move(key), set->unlisted.reason, set->unlisted.by_rule});
    } else {
      others.Add(file.path);
    }
  }
  std::vector<Problem>& all = set->splits.front().problems;
  std::move(problems.begin(), problems.end(), std::back_inserter(all));
  shared.Note("named as the label of more than one image", set);
  inputs.Note("left out (" + set->unlisted.reason + ")", set);
  others.Note("not read, as layout " + set->layout + " has no use for them", set);
  return OkStatus();
}

}  // namespace shardmill
