// Cityscapes, and KITTI's semantic set, which has its ids: the raw ids of the label files become
// the 19 training ids, the rest is ignored.
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/labels/class_table.h"
#include "tools/pack/labels/value_map.h"
#include "tools/pack/layouts/class_names.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"

namespace shardmill {
namespace {

constexpr char kImages[] = "leftImg8bit", kTrainExtra[] = "train_extra";
constexpr uint32_t kIgnore = 255;

Status UseTrainingIds(const LayoutInput& input, InputSet* set) {
  set->labels.ignore = kIgnore;
  set->labels.map = NamedValueMap("cityscapes");
  return UseClasses(input, CityscapesClasses(), set);
}

// What the names of the label files end in: raw ids, or where there are only generated training
// ids, those.
std::string LabelSuffix(const FolderListing& listing, const std::string& labels) {
  const std::string raw = "_" + labels + "_labelIds", trained = "_" + labels + "_labelTrainIds";
  auto has = [&](const std::string& suffix) {
    return FindBelow(listing, labels, [&](std::string_view path) {
             return EndsWith(path, suffix + ".png");
           }) != nullptr;
  };
  return !has(raw) && has(trained) ? trained : raw;
}

Status ReadSplit(const LayoutInput& input, const std::string& labels, const std::string& suffix,
                 const std::string& split, InputSet* set) {
  PairRules rules;
  rules.images = {std::string(kImages) + "/" + split, "", "_leftImg8bit", true, ""};
  rules.labels = {labels + "/" + split, "", suffix, true, ""};
  if (!input.listing.HasFolder(rules.labels.folder)) {
    return LeaveOutUnlabelled(input, rules.images.folder, "there is no " + rules.labels.folder, set,
                              rules.images.folder);
  }
  ASSIGN_OR_RETURN(InputSplit pairs, PairByStem(input.listing, split, rules, &set->notes));
  return AddSplit(split, std::move(pairs), set);
}

// The folders of KITTI that hold images and labels.
std::vector<std::string> LabelledFolders(const FolderListing& listing, const char* labels) {
  std::vector<std::string> folders;
  for (const std::string& folder : listing.FoldersIn("")) {
    if (listing.HasFolder(folder + "/image_2") && listing.HasFolder(folder + "/" + labels)) {
      folders.push_back(folder);
    }
  }
  return folders;
}

constexpr char kIdLabels[] = "semantic", kColorLabels[] = "semantic_rgb";

}  // namespace

std::string RecognizeCityscapes(const FolderListing& listing) {
  if (!listing.HasFolder(kImages)) return "";
  for (const char* labels : {"gtFine", "gtCoarse"}) {
    if (listing.HasFolder(labels)) {
      return std::string("folder ") + kImages + " lies beside " + labels;
    }
  }
  return "";
}

Status ReadCityscapes(const LayoutInput& input, InputSet* set) {
  const std::string labels = input.listing.HasFolder("gtFine") ? "gtFine" : "gtCoarse";
  const std::string suffix = LabelSuffix(input.listing, labels);
  if (EndsWith(suffix, "TrainIds")) {
    set->labels.ignore = kIgnore;
    set->notes.push_back("labels are *" + suffix + ".png, which hold training ids");
    RETURN_IF_ERROR(UseClasses(input, CityscapesClasses(), set));
  } else {
    RETURN_IF_ERROR(UseTrainingIds(input, set));
  }
  for (const std::string& split : input.listing.FoldersIn(kImages)) {
    if (labels == "gtFine" && split == kTrainExtra) {
      const bool wanted = WantsUnlabelled(input, split, "it has coarse labels alone",
                                          std::string(kImages) + "/" + split, {}, set);
      if (!wanted) continue;
    }
    if (UsualSplitName(split) == "test" &&
        !WantsUnlabelled(input, "test", "its public labels are dummies",
                         std::string(kImages) + "/" + split, {}, set)) {
      continue;
    }
    RETURN_IF_ERROR(ReadSplit(input, labels, suffix, split, set));
  }
  return OkStatus();
}

std::string RecognizeKitti(const FolderListing& listing) {
  for (const char* labels : {kIdLabels, kColorLabels}) {
    const std::vector<std::string> folders = LabelledFolders(listing, labels);
    if (!folders.empty()) {
      return folders.front() + "/image_2 lies beside " + folders.front() + "/" + labels;
    }
  }
  return "";
}

Status ReadKitti(const LayoutInput& input, InputSet* set) {
  const char* labels = kIdLabels;
  std::vector<std::string> folders = LabelledFolders(input.listing, labels);
  if (folders.empty()) {
    // The form that annotation tools export: colours, and a table of them.
    labels = kColorLabels;
    folders = LabelledFolders(input.listing, labels);
    RETURN_IF_ERROR(FindClasses(input, set));
  } else {
    RETURN_IF_ERROR(UseTrainingIds(input, set));
  }
  for (const std::string& folder : input.listing.FoldersIn("")) {
    if (!input.listing.HasFolder(folder + "/" + labels)) {
      RETURN_IF_ERROR(LeaveOutUnlabelled(input, folder, std::string("it has no ") + labels, set,
                                         folder + "/image_2"));
    }
  }
  for (const std::string& folder : folders) {
    PairRules rules;
    rules.images.folder = folder + "/image_2";
    rules.labels.folder = folder + "/" + labels;
    ASSIGN_OR_RETURN(InputSplit pairs, PairByStem(input.listing, folder, rules, &set->notes));
    if (folders.size() == 1) {
      DivideByKey(std::move(pairs), set);
    } else {
      RETURN_IF_ERROR(AddSplit(folder, std::move(pairs), set));
    }
  }
  return OkStatus();
}

}  // namespace shardmill
