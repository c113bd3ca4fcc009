// COCO-Stuff's pixel maps: images/train2017/N.jpg with annotations/train2017/N.png. The values are
// one below the published ids, and 255 is unlabelled.
#include <utility>

#include "tools/pack/layouts/class_names.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"
#include "tools/pack/pairing.h"
#include "tools/pack/split_names.h"

namespace shardmill {
namespace {

constexpr const char* kLabelFolders[] = {"annotations", "stuffthingmaps",
                                         "stuffthingmaps_trainval2017"};

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

}  // namespace

std::string RecognizeCocoStuff(const FolderListing& listing) {
  const std::vector<SplitPair> splits = FindSplits(listing);
  if (splits.empty()) return "";
  return "folder " + splits.front().images + " lies beside PNG files in " + splits.front().labels;
}

Status ReadCocoStuff(const LayoutInput& input, InputSet* set) {
  set->labels.ignore = 255;
  RETURN_IF_ERROR(UseClasses(input, CocoStuffClasses(), set));
  for (const SplitPair& split : FindSplits(input.listing)) {
    PairRules rules;
    rules.images.folder = split.images;
    rules.labels.folder = split.labels;
    ASSIGN_OR_RETURN(InputSplit pairs, PairByStem(input.listing, split.name, rules, &set->notes));
    RETURN_IF_ERROR(AddSplit(split.name, std::move(pairs), set));
  }
  return OkStatus();
}

}  // namespace shardmill
