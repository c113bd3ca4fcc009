#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/file_start.h"
#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/record_key.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"
#include "tools/pack/layouts/list_choice.h"
#include "tools/pack/layouts/list_pairs.h"
#include "tools/pack/layouts/list_rows.h"

namespace shardmill {
namespace {

constexpr const char* kSplits[] = {"train", "val", "test"};
constexpr uint32_t kIgnore = 11;

// Names and display colours in the order of the ids.
std::vector<ClassInfo> CamvidClasses() {
  static constexpr std::pair<const char*, uint32_t> kClasses[] = {
      {"sky", 0x808080},      {"building", 0x800000},   {"pole", 0xC0C080},     {"road", 0x804080},
      {"pavement", 0x3C28DE}, {"tree", 0x808000},       {"sign", 0xC08080},     {"fence", 0x404080},
      {"car", 0x400080},      {"pedestrian", 0x404000}, {"bicyclist", 0x0080C0}};
  std::vector<ClassInfo> classes;
  for (const auto& [name, color] : kClasses) {
    classes.push_back({static_cast<uint32_t>(classes.size()), name, color});
  }
  return classes;
}

// SegNet's copy keeps labels in trainannot, valannot and testannot: other lists of pairs have
// other classes.
bool NamesAnnotations(const FolderListing& listing, const std::string& list_file) {
  const ListLines lines = ReadListLines(JoinPath(listing.root, list_file));
  return !lines.rows.empty() &&
         lines.rows.front().cuts.back().label.find("annot") != std::string::npos;
}

constexpr char kColorTable[] = "label_colors.txt", kColorSuffix[] = "_L";

const ListedFile* FindColorLabel(const FolderListing& listing) {
  return FindBelow(listing, "", [](std::string_view path) {
    return EndsWith(WithoutImageExtension(path), kColorSuffix);
  });
}

// Lists of splits with the name of an image in each line, and no label.
std::vector<std::string> ListsOfNames(const FolderListing& listing) {
  std::vector<std::string> lists;
  for (const char* split : kSplits) {
    const std::string list_file = std::string(split) + ".txt";
    if (listing.Find(list_file) == nullptr) continue;
    const ListLines lines = ReadListLines(JoinPath(listing.root, list_file));
    if (lines.rows.empty() && !lines.single_words.empty()) lists.push_back(list_file);
  }
  return lists;
}

bool HasListOfPairs(const FolderListing& listing) {
  return std::any_of(std::begin(kSplits), std::end(kSplits), [&](const char* split) {
    const std::string list_file = std::string(split) + ".txt";
    return listing.Find(list_file) != nullptr && LookIntoList(listing, list_file).pairs;
  });
}

// A split of SegNet's copy. The images of test may be listed alone.
Status ReadListOfSplit(const LayoutInput& input, const std::string& split, InputSet* set) {
  const std::string list_file = split + ".txt";
  set->lists.push_back(list_file);
  if (input.options.LeavesOut(split)) return AddSplit(split, {}, set);
  if (split == "test" && LookIntoList(input.listing, list_file).images_alone) {
    ASSIGN_OR_RETURN(const bool wanted, WantsImageList(input, list_file, set));
    if (!wanted) return OkStatus();
    ASSIGN_OR_RETURN(InputSplit images, ReadImageList(input.listing, list_file));
    return AddSplit(split, std::move(images), set);
  }
  ASSIGN_OR_RETURN(auto listed, ReadPairList(input.listing, list_file, &set->notes));
  return AddSplit(split, std::move(listed[""]), set);
}

std::string StemOf(std::string_view path) {
  return std::string(WithoutImageExtension(NameOf(path)));
}

// Images of the test split may all be without labels.
bool AllLackLabels(const InputSplit& split) {
  return split.samples.empty() && split.inputs() > 0 &&
         std::all_of(split.problems.begin(), split.problems.end(),
                     [](const Problem& problem) { return problem.lacks_label; });
}

std::set<std::string> KeysOf(const std::vector<Problem>& problems) {
  std::set<std::string> keys;
  for (const Problem& problem : problems) keys.insert(problem.key);
  return keys;
}

// Pairs by the names in lists, as splits.
class ListDivider {
 public:
  ListDivider(const LayoutInput& input, const InputSplit& all, InputSet* set);

  Status AddList(const std::string& list);

 private:
  Status AddWord(const std::string& list, const std::string& word, InputSplit* split);

  const LayoutInput& input_;
  InputSet* set_;
  // By name; the names are all different.
  std::map<std::string, const Sample*> samples_;
  std::map<std::string, const Problem*> without_label_;
  std::map<std::string, std::string> list_of_;
};

ListDivider::ListDivider(const LayoutInput& input, const InputSplit& all, InputSet* set)
    : input_(input), set_(set) {
  for (const Sample& sample : all.samples) samples_[StemOf(sample.image.path)] = &sample;
  for (const Problem& problem : all.problems) {
    if (problem.lacks_label) without_label_[StemOf(problem.key)] = &problem;
  }
}

Status ListDivider::AddWord(const std::string& list, const std::string& word, InputSplit* split) {
  const std::string stem = StemOf(word);
  const auto [other, is_new] = list_of_.emplace(stem, list);
  if (!is_new) {
    return InvalidArgumentError(list + " names " + word + ", as " + other->second +
                                " does before; list each image once");
  }
  if (const auto sample = samples_.find(stem); sample != samples_.end()) {
    split->samples.push_back(*sample->second);
    return OkStatus();
  }
  if (const auto image = without_label_.find(stem); image != without_label_.end()) {
    split->problems.push_back(*image->second);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(std::string key, RecordKey(word));
  split->problems.push_back({std::move(key), list + " names it, and there is no such image"});
  return OkStatus();
}

Status ListDivider::AddList(const std::string& list) {
  set_->lists.push_back(list);
  InputSplit split;
  for (const std::string& word : ReadListLines(JoinPath(input_.listing.root, list)).single_words) {
    RETURN_IF_ERROR(AddWord(list, word, &split));
  }
  const std::string name = list.substr(0, list.rfind('.'));
  const bool unlabelled = name == "test" && AllLackLabels(split);
  if (unlabelled && !WantsUnlabelled(input_, name, "none of the images in " + list + " has a label",
                                     "", KeysOf(split.problems), set_)) {
    return OkStatus();
  }
  return AddSplit(name, std::move(split), set_);
}

// Takes the images of a folder "test" out of `all` when none of them has a label.
Status TakeUnlabelledTest(const LayoutInput& input, InputSplit* all, InputSet* set) {
  InputSplit test;
  const auto in_test = [](const std::string& path) {
    return UsualSplitName(std::string(NameOf(FolderAbove(path)))) == "test";
  };
  for (const Problem& problem : all->problems) {
    if (problem.lacks_label && in_test(problem.key)) test.problems.push_back(problem);
  }
  const bool some_labelled =
      std::any_of(all->samples.begin(), all->samples.end(),
                  [&](const Sample& sample) { return in_test(sample.image.path); });
  if (test.problems.empty() || some_labelled) return OkStatus();
  const std::string folder = FolderAbove(test.problems.front().key);
  std::set<std::string> keys = KeysOf(test.problems);
  all->problems.erase(
      std::remove_if(all->problems.begin(), all->problems.end(),
                     [&](const Problem& problem) { return keys.count(problem.key) > 0; }),
      all->problems.end());
  if (input.options.LeavesOut("test")) return OkStatus();
  if (!WantsUnlabelled(input, "test", "none of the images in " + folder + " has a label", "",
                       std::move(keys), set)) {
    return OkStatus();
  }
  return AddSplit("test", std::move(test), set);
}

// The original form: X.png and X_L.png, in one folder or two, with colours of a table. Void is a
// class like others.
Status ReadColorLabels(const LayoutInput& input, InputSet* set) {
  RETURN_IF_ERROR(FindClasses(input, set));
  PairRules rules;
  rules.images.except_suffix = kColorSuffix;
  rules.labels.suffix = kColorSuffix;
  rules.labels.must_match = true;
  rules.by_name_alone = true;
  std::vector<std::string> left_out;  // the images, which are no labels
  ASSIGN_OR_RETURN(InputSplit all, PairByStem(input.listing, "", rules, &left_out));
  const std::vector<std::string> lists = ListsOfNames(input.listing);
  if (lists.empty()) {
    RETURN_IF_ERROR(TakeUnlabelledTest(input, &all, set));
    DivideByKey(std::move(all), set);
    return OkStatus();
  }
  ListDivider divider(input, all, set);
  for (const std::string& list : lists) RETURN_IF_ERROR(divider.AddList(list));
  set->unlisted.trees = {""};
  set->unlisted.reason = "no list names it";
  return OkStatus();
}

// Whether the labels are gray, as far as the first one tells: no table's colours are theirs.
bool HoldsNumbers(const FolderListing& listing, const InputSet& set) {
  constexpr size_t kColorType = 25;  // in a PNG file, where 0 is gray
  for (const InputSplit& split : set.splits) {
    if (split.samples.empty()) continue;
    const std::string& label = split.samples.front().label.path;
    const Result<std::string> start = ReadFileStart(JoinPath(listing.root, label), kColorType + 1);
    return start.ok() && start->size() > kColorType && SniffFormat(*start) == FileFormat::kPng &&
           (*start)[kColorType] == 0;
  }
  return false;
}

}  // namespace

std::string RecognizeCamvid(const FolderListing& listing) {
  for (const char* split : kSplits) {
    std::string list_file = std::string(split) + ".txt";
    if (listing.Find(list_file) == nullptr || !NamesAnnotations(listing, list_file)) continue;
    if (LookIntoList(listing, list_file).pairs) {
      return list_file + " lists image and label paths";
    }
  }
  const ListedFile* label = FindColorLabel(listing);
  if (label == nullptr || listing.Find(kColorTable) == nullptr) return "";
  return std::string("there are ") + kColorTable + " and " + label->path;
}

Status ReadCamvid(const LayoutInput& input, InputSet* set) {
  if (!HasListOfPairs(input.listing) && !ListsOfNames(input.listing).empty()) {
    return ReadColorLabels(input, set);
  }
  for (const char* split : kSplits) {
    if (input.listing.Find(std::string(split) + ".txt") == nullptr) continue;
    RETURN_IF_ERROR(ReadListOfSplit(input, split, set));
  }
  if (set->splits.empty()) return ReadColorLabels(input, set);
  set->unlisted.trees = {""};
  set->unlisted.reason = "no list names it";
  // Annotation tools export lists too, with colours of their own.
  if (input.listing.Find(kColorTable) != nullptr) {
    RETURN_IF_ERROR(FindClasses(input, set));
    if (!input.classes.empty() || !HoldsNumbers(input.listing, *set)) return OkStatus();
    return CheckNumbering(input, CamvidClasses(), set->classes, ClassTableAtTop(input.listing),
                          *set);
  }
  set->labels.ignore = kIgnore;
  return UseClasses(input, CamvidClasses(), set);
}

}  // namespace shardmill
