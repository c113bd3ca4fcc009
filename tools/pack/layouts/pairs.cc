// Two folders of images and label images, paired by name: as the options say, or as folders and
// files of usual names suggest.
#include <algorithm>
#include <iterator>
#include <utility>

#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"

namespace shardmill {
namespace {

constexpr const char* kImageNames[] = {"images",     "image", "imgs",   "img",  "images_png",
                                       "jpegimages", "rgb",   "frames", "data", "input"};
constexpr const char* kLabelNames[] = {"masks",     "mask",        "labels",       "label",
                                       "masks_png", "annotations", "annotation",   "annot",
                                       "gt",        "groundtruth", "segmentation", "segmentations",
                                       "targets",   "target",      "1st_manual"};

struct FolderPair {
  std::string split;  // "" when it is the whole set
  std::string images, labels;
};

template <size_t kCount>
std::string FindNamed(const std::vector<std::string>& folders, const char* const (&names)[kCount]) {
  for (const char* name : names) {
    for (const std::string& folder : folders) {
      if (LowerCase(folder) == name) return folder;
    }
  }
  return "";
}

std::string Join(const std::string& above, const std::string& name) {
  return above.empty() ? name : above + "/" + name;
}

// The folders in `above` of these names, in any case of letters, that hold images.
template <size_t kCount>
std::vector<std::string> AllNamed(const FolderListing& listing, const std::string& above,
                                  const char* const (&names)[kCount]) {
  std::vector<std::string> found;
  for (const std::string& folder : listing.FoldersIn(above)) {
    const std::string lower = LowerCase(folder);
    const bool is_named = std::any_of(std::begin(names), std::end(names),
                                      [&](const char* name) { return lower == name; });
    const std::string path = Join(above, folder);
    if (is_named && FindBelow(listing, path, HasImageExtension) != nullptr) found.push_back(path);
  }
  return found;
}

// The first of several folders would be one of them by chance.
Status CheckOneOfEach(const FolderListing& listing, const std::string& above) {
  const auto check = [&](const std::vector<std::string>& found, const char* what) {
    if (found.size() < 2) return OkStatus();
    return InvalidArgumentError("the folders " + found[0] + " and " + found[1] +
                                " could both hold the " + what +
                                "; say which does with --images FOLDER --labels FOLDER, or take "
                                "the other out of the source folder");
  };
  RETURN_IF_ERROR(check(AllNamed(listing, above, kImageNames), "images"));
  return check(AllNamed(listing, above, kLabelNames), "labels");
}

// The folders of images and labels directly in `above`, if there are both.
std::vector<FolderPair> UsualPair(const FolderListing& listing, const std::string& above) {
  const std::vector<std::string> folders = listing.FoldersIn(above);
  const std::string images = FindNamed(folders, kImageNames);
  const std::string labels = FindNamed(folders, kLabelNames);
  if (images.empty() || labels.empty()) return {};
  return {{"", Join(above, images), Join(above, labels)}};
}

// When both folders hold folders of splits, those are the pairs.
std::vector<FolderPair> SplitsWithin(const FolderListing& listing, const FolderPair& pair) {
  const std::vector<std::string> folders = listing.FoldersIn(pair.images);
  std::vector<FolderPair> splits;
  for (const std::string& folder : folders) {
    const std::string images = Join(pair.images, folder), labels = Join(pair.labels, folder);
    if (UsualSplitName(folder).empty() || !listing.HasFolder(labels)) continue;
    splits.push_back({folder, images, labels});
  }
  return splits.empty() ? std::vector<FolderPair>{pair} : splits;
}

std::vector<FolderPair> FindPairs(const FolderListing& listing) {
  const std::vector<FolderPair> top = UsualPair(listing, "");
  if (!top.empty()) return SplitsWithin(listing, top.front());
  std::vector<FolderPair> splits;
  for (const std::string& folder : listing.FoldersIn("")) {
    if (UsualSplitName(folder).empty()) continue;
    for (FolderPair& pair : UsualPair(listing, folder)) {
      pair.split = folder;
      splits.push_back(std::move(pair));
    }
  }
  return splits;
}

std::vector<std::string> Stems(const FolderListing& listing, const std::string& folder) {
  std::vector<std::string> stems;
  auto [begin, end] = listing.FilesBelow(folder);
  for (size_t i = begin; i < end; ++i) {
    if (!HasImageExtension(listing.files[i].path)) continue;
    stems.emplace_back(WithoutImageExtension(NameOf(listing.files[i].path)));
  }
  return stems;
}

std::string DigitsOf(const std::string& text) {
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits),
               [](char c) { return c >= '0' && c <= '9'; });
  return digits;
}

// What all names begin with, up to its last _ or -; and what they end in, from its first on.
void FindCommonParts(const std::vector<std::string>& stems, std::string* prefix,
                     std::string* suffix) {
  if (stems.empty()) return;
  *prefix = *suffix = stems.front();
  for (const std::string& stem : stems) {
    size_t same = 0;
    while (same < std::min(prefix->size(), stem.size()) && (*prefix)[same] == stem[same]) ++same;
    prefix->resize(same);
    same = 0;
    while (same < std::min(suffix->size(), stem.size()) &&
           (*suffix)[suffix->size() - 1 - same] == stem[stem.size() - 1 - same]) {
      ++same;
    }
    suffix->erase(0, suffix->size() - same);
  }
  prefix->resize(prefix->find_last_of("_-") + 1);
  const size_t border = suffix->find_first_of("_-");
  suffix->erase(0, border == std::string::npos ? suffix->size() : border);
  const bool overlap = std::any_of(stems.begin(), stems.end(), [&](const std::string& stem) {
    return prefix->size() + suffix->size() >= stem.size();
  });
  if (!overlap) return;
  // Of a lone name both would be all of it: the part with a number is what its pair shares.
  (DigitsOf(*prefix).empty() ? suffix : prefix)->clear();
}

bool SharesAStem(const FolderListing& listing, const FolderPair& pair) {
  const std::vector<std::string> labels = Stems(listing, pair.labels);
  for (const std::string& stem : Stems(listing, pair.images)) {
    if (std::find(labels.begin(), labels.end(), stem) != labels.end()) return true;
  }
  return false;
}

// The rules that the options give, or when no two names are equal, those that the names suggest.
Result<PairRules> RulesFor(const LayoutInput& input, const FolderPair& pair,
                           std::vector<std::string>* notes) {
  const PairOptions& options = input.options.pairs;
  PairRules rules;
  rules.images = {pair.images, options.image_prefix, options.image_suffix, true, ""};
  rules.labels = {pair.labels, options.label_prefix, options.label_suffix, true, ""};
  if (options.GivesNames() || SharesAStem(input.listing, pair)) return rules;
  FindCommonParts(Stems(input.listing, pair.images), &rules.images.prefix, &rules.images.suffix);
  FindCommonParts(Stems(input.listing, pair.labels), &rules.labels.prefix, &rules.labels.suffix);
  const std::string seen = "no name is equal in " + pair.images + " and " + pair.labels;
  const std::string taken = rules.images.prefix + "NAME" + rules.images.suffix + " and " +
                            rules.labels.prefix + "NAME" + rules.labels.suffix;
  // Words are a rule of naming; numbers tell drives, cameras and years apart.
  const std::string of_images = DigitsOf(rules.images.prefix + rules.images.suffix);
  const std::string of_labels = DigitsOf(rules.labels.prefix + rules.labels.suffix);
  if (!of_images.empty() && !of_labels.empty() && of_images != of_labels) {
    return InvalidArgumentError(seen + ", and " + taken +
                                " differ in numbers, so that they may not belong together; if they "
                                "are pairs, say so with --image-prefix, --image-suffix, "
                                "--label-prefix and --label-suffix");
  }
  notes->push_back(seen + "; taken for pairs: " + taken);
  return rules;
}

// A folder of a split that is on one side alone.
Status CheckSplitsWithin(const LayoutInput& input, const FolderPair& whole,
                         const std::vector<FolderPair>& pairs, InputSet* set) {
  if (pairs.size() == 1 && pairs.front().split.empty()) return OkStatus();
  const std::pair<std::string, std::string> sides[] = {{whole.images, whole.labels},
                                                       {whole.labels, whole.images}};
  for (const auto& [here, there] : sides) {
    for (const std::string& name : input.listing.FoldersIn(here)) {
      if (UsualSplitName(name).empty() || input.listing.HasFolder(Join(there, name))) continue;
      RETURN_IF_ERROR(LeaveOutUnlabelled(input, Join(here, name),
                                         "there is no " + Join(there, name), set,
                                         here == whole.images ? Join(here, name) : ""));
    }
  }
  return OkStatus();
}

// A folder beside those of splits that would be left out, although it holds what they hold.
Status CheckNoSplit(const LayoutInput& input, const std::string& name) {
  const bool is_pair = !AllNamed(input.listing, name, kImageNames).empty() &&
                       !AllNamed(input.listing, name, kLabelNames).empty();
  if (!is_pair || input.options.LeavesOut(name)) return OkStatus();
  return InvalidArgumentError("folder " + name +
                              " holds images and labels as the splits do, and would be left out, "
                              "because its name is that of no split; rename it to train, val or "
                              "test, or take it out of the source folder");
}

// The folders of splits at the top that hold no two folders of images and labels, and folders that
// do without being called like a split.
Status CheckSplitsAtTop(const LayoutInput& input, const std::vector<FolderPair>& pairs,
                        InputSet* set) {
  for (const std::string& name : input.listing.FoldersIn("")) {
    const bool is_pair = std::any_of(pairs.begin(), pairs.end(),
                                     [&](const FolderPair& pair) { return pair.split == name; });
    if (is_pair) continue;
    if (UsualSplitName(name).empty()) {
      if (!pairs.empty()) RETURN_IF_ERROR(CheckNoSplit(input, name));
      continue;
    }
    const std::vector<std::string> folders = input.listing.FoldersIn(name);
    const std::string images = FindNamed(folders, kImageNames);
    const bool unlabelled = !images.empty() && FindNamed(folders, kLabelNames).empty();
    RETURN_IF_ERROR(LeaveOutUnlabelled(input, name,
                                       "it does not hold a folder of images and one of labels", set,
                                       unlabelled ? Join(name, images) : ""));
  }
  return OkStatus();
}

Result<std::vector<FolderPair>> ChoosePairs(const LayoutInput& input, InputSet* set) {
  const PairOptions& options = input.options.pairs;
  if (options.images.empty() != options.labels.empty()) {
    return InvalidArgumentError("--images and --labels need each other");
  }
  if (options.images.empty()) {
    std::vector<FolderPair> pairs = FindPairs(input.listing);
    const std::vector<FolderPair> top = UsualPair(input.listing, "");
    for (const FolderPair& pair : top.empty() ? pairs : top) {
      RETURN_IF_ERROR(CheckOneOfEach(input.listing, pair.split));
    }
    RETURN_IF_ERROR(top.empty() ? CheckSplitsAtTop(input, pairs, set)
                                : CheckSplitsWithin(input, top.front(), pairs, set));
    if (!pairs.empty()) return pairs;
    return InvalidArgumentError("no two folders for images and labels in " + input.listing.root +
                                "; name them with --images FOLDER --labels FOLDER");
  }
  for (const std::string& folder : {options.images, options.labels}) {
    if (folder == "." || input.listing.HasFolder(folder)) continue;
    return NotFoundError("there is no folder " + folder + " in " + input.listing.root);
  }
  auto below = [](const std::string& folder) { return folder == "." ? "" : folder; };
  const FolderPair whole = {"", below(options.images), below(options.labels)};
  std::vector<FolderPair> pairs = SplitsWithin(input.listing, whole);
  RETURN_IF_ERROR(CheckSplitsWithin(input, whole, pairs, set));
  // What lies beside the folders of splits has no partner.
  set->unlisted.trees = {whole.images, whole.labels};
  return pairs;
}

}  // namespace

std::string RecognizePairs(const FolderListing& listing) {
  const std::vector<FolderPair> pairs = FindPairs(listing);
  if (pairs.empty()) return "";
  return "folder " + pairs.front().images + " lies beside " + pairs.front().labels;
}

Status ReadPairs(const LayoutInput& input, InputSet* set) {
  ASSIGN_OR_RETURN(const std::vector<FolderPair> pairs, ChoosePairs(input, set));
  RETURN_IF_ERROR(FindClasses(input, set));
  set->unlisted.reason = "its place or name fits no pair";
  for (const FolderPair& pair : pairs) {
    set->unlisted.trees.push_back(pair.images);
    set->unlisted.trees.push_back(pair.labels);
    ASSIGN_OR_RETURN(PairRules rules, RulesFor(input, pair, &set->notes));
    if (pair.images == pair.labels && rules.images.suffix.empty()) {
      rules.images.except_prefix = rules.labels.prefix;
      rules.images.except_suffix = rules.labels.suffix;
    }
    ASSIGN_OR_RETURN(InputSplit split, PairByStem(input.listing, pair.split, rules, &set->notes));
    RETURN_IF_ERROR(AddOrDivide(pair.split, std::move(split), set));
  }
  return OkStatus();
}

}  // namespace shardmill
