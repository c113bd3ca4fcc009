#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/file_format.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"
#include "tools/pack/layouts/list_choice.h"
#include "tools/pack/layouts/list_pairs.h"
#include "tools/pack/pairing.h"
#include "tools/pack/record_key.h"
#include "tools/pack/split_names.h"
#include "tools/pack/text_lines.h"

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
    if (!WantsUnlabelled(input, split, list_file + " names images alone", set)) return OkStatus();
    ASSIGN_OR_RETURN(InputSplit images, ReadImageList(input.listing, list_file));
    return AddSplit(split, std::move(images), set);
  }
  ASSIGN_OR_RETURN(auto listed, ReadPairList(input.listing, list_file, &set->notes));
  return AddSplit(split, std::move(listed[""]), set);
}

std::string StemOf(std::string_view path) {
  return std::string(WithoutImageExtension(NameOf(path)));
}

Status DivideByLists(const FolderListing& listing, const std::vector<std::string>& lists,
                     InputSplit all, InputSet* set) {
  std::map<std::string, const Sample*> samples;  // by name; the names are all different
  for (const Sample& sample : all.samples) samples[StemOf(sample.image.path)] = &sample;
  std::map<std::string, std::string> list_of;  // by name
  for (const std::string& list : lists) {
    set->lists.push_back(list);
    InputSplit split;
    for (const std::string& word : ReadListLines(JoinPath(listing.root, list)).single_words) {
      const auto [other, is_new] = list_of.emplace(StemOf(word), list);
      if (!is_new) {
        return InvalidArgumentError(list + " names " + word + ", as " + other->second +
                                    " does before; list each image once");
      }
      const auto found = samples.find(StemOf(word));
      if (found != samples.end()) {
        split.samples.push_back(*found->second);
        continue;
      }
      ASSIGN_OR_RETURN(std::string key, RecordKey(word));
      split.problems.push_back({std::move(key), list + " names it, and there is no such image "
                                                       "with a label"});
    }
    RETURN_IF_ERROR(AddSplit(list.substr(0, list.rfind('.')), std::move(split), set));
  }
  std::vector<Problem>& problems = set->splits.front().problems;
  std::move(all.problems.begin(), all.problems.end(), std::back_inserter(problems));
  set->unlisted.trees = {""};
  set->unlisted.reason = "no list names it";
  return OkStatus();
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
    DivideByKey(std::move(all), set);
    return OkStatus();
  }
  return DivideByLists(input.listing, lists, std::move(all), set);
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
  if (input.listing.Find(kColorTable) != nullptr) return FindClasses(input, set);
  set->classes = input.classes.empty() ? CamvidClasses() : input.classes;
  set->labels.ignore = kIgnore;
  return OkStatus();
}

}  // namespace shardmill
