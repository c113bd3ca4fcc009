// COCO-Stuff's pixel maps: images/train2017/N.jpg with annotations/train2017/N.png. The values are
// one below the published ids, and 255 is unlabelled.
#include <algorithm>
#include <utility>

#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/layouts/class_names.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"

namespace shardmill {
namespace {

constexpr const char* kLabelFolders[] = {"annotations", "stuffthingmaps",
                                         "stuffthingmaps_trainval2017"};

// What a training tool makes of the maps, and lays beside them.
constexpr char kConverted[] = "_labelTrainIds";

bool IsPng(std::string_view path) { return EndsWith(path, ".png"); }

// Where the folders train2017 … of the images lie.
std::string ImagesFolder(const FolderListing& listing) {
  return listing.HasFolder("images") ? "images/" : "";
}

struct SplitPair {
  std::string name, images, labels;
};

// The splits of both sides, whose names end in a year.
std::vector<SplitPair> FindSplits(const FolderListing& listing) {
  std::vector<SplitPair> splits;
  const std::string images = ImagesFolder(listing);
  for (const char* labels : kLabelFolders) {
    for (const std::string& name : listing.FoldersIn(labels)) {
      const bool has_year = !name.empty() && name.back() >= '0' && name.back() <= '9';
      const std::string folder = std::string(labels) + "/" + name;
      if (!has_year || UsualSplitName(name).empty() || !listing.HasFolder(images + name)) continue;
      if (FindBelow(listing, folder, IsPng) == nullptr) continue;
      splits.push_back({name, images + name, folder});
    }
  }
  return splits;
}

// Folders of images that have a split's name and no labels.
Status CheckOtherFolders(const LayoutInput& input, const std::vector<SplitPair>& splits,
                         InputSet* set) {
  const std::string above = ImagesFolder(input.listing);
  for (const std::string& name :
       input.listing.FoldersIn(above.empty() ? "" : above.substr(0, above.size() - 1))) {
    const bool has_labels = std::any_of(splits.begin(), splits.end(),
                                        [&](const SplitPair& split) { return split.name == name; });
    if (has_labels || UsualSplitName(name).empty()) continue;
    RETURN_IF_ERROR(
        LeaveOutUnlabelled(input, above + name,
                           std::string("there are no PNG files of it in ") +
                               splits.front().labels.substr(0, splits.front().labels.rfind('/')),
                           set, above + name));
  }
  return OkStatus();
}

}  // namespace

std::string RecognizeCocoStuff(const FolderListing& listing) {
  const std::vector<SplitPair> splits = FindSplits(listing);
  if (splits.empty()) return "";
  return "folder " + splits.front().images + " lies beside PNG files in " + splits.front().labels;
}

Status ReadCocoStuff(const LayoutInput& input, InputSet* set) {
  set->labels.ignore = 255;
  RETURN_IF_ERROR(UseClasses(input, CocoStuffClasses(), set, NoClassRow::kFirstOrLast));
  const std::vector<SplitPair> splits = FindSplits(input.listing);
  RETURN_IF_ERROR(CheckOtherFolders(input, splits, set));
  for (const SplitPair& split : splits) {
    PairRules rules;
    rules.images.folder = split.images;
    rules.labels.folder = split.labels;
    rules.labels.except_suffix = kConverted;
    ASSIGN_OR_RETURN(InputSplit pairs, PairByStem(input.listing, split.name, rules, &set->notes));
    RETURN_IF_ERROR(AddSplit(split.name, std::move(pairs), set));
  }
  return OkStatus();
}

}  // namespace shardmill
