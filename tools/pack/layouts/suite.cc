#include <utility>

#include "reader/base/file.h"
#include "reader/names.h"
#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/labels/class_table.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"

namespace shardmill {
namespace {

constexpr char kLabelsSuffix[] = "_labels";
constexpr char kClassTable[] = "class_dict.csv";

// Folders X for which X_labels exists too.
std::vector<std::string> SplitFolders(const FolderListing& listing) {
  std::vector<std::string> splits;
  for (const std::string& name : listing.FoldersIn("")) {
    if (listing.HasFolder(name + kLabelsSuffix)) splits.push_back(name);
  }
  return splits;
}

// The labels of a split whose images are not there.
Status CheckLabelFolders(const LayoutInput& input) {
  for (const std::string& folder : input.listing.FoldersIn("")) {
    if (!EndsWith(folder, kLabelsSuffix)) continue;
    const std::string images = folder.substr(0, folder.size() - sizeof kLabelsSuffix + 1);
    const std::string split = UsualSplitName(images);
    if (split.empty() || input.listing.HasFolder(images) || input.options.LeavesOut(split)) {
      continue;
    }
    return NotFoundError("folder " + folder + " cannot be packed: there is no folder " + images +
                         " of its images. Add the images, remove the folder, or choose other "
                         "splits with --split NAME,…");
  }
  return OkStatus();
}

}  // namespace

std::string RecognizeSuite(const FolderListing& listing) {
  std::vector<std::string> splits = SplitFolders(listing);
  if (splits.empty()) return "";
  return "folder " + splits.front() + " lies beside " + splits.front() + kLabelsSuffix;
}

Status ReadSuite(const LayoutInput& input, InputSet* set) {
  const FolderListing& listing = input.listing;
  std::vector<std::string> folders = SplitFolders(listing);
  if (folders.empty()) {
    return InvalidArgumentError("no folder X with a folder X_labels beside it in " + listing.root);
  }
  set->classes = input.classes;
  if (input.classes.empty()) {
    if (listing.Find(kClassTable) == nullptr) {
      return NotFoundError("there is no " + std::string(kClassTable) + " in " + listing.root +
                           "; give the class table with --classes FILE");
    }
    ASSIGN_OR_RETURN(set->classes, ReadClassTable(JoinPath(listing.root, kClassTable)));
  }
  set->labels.colors_in_files = AllHaveColors(set->classes);
  for (const std::string& folder : folders) {
    const std::string usual = UsualSplitName(folder);
    const std::string split = usual.empty() ? folder : usual;
    if (!IsPlainName(split)) {
      return InvalidArgumentError("folder '" + folder +
                                  "' cannot be the name of a split; use letters, digits, _ . -");
    }
    PairRules rules;
    rules.images.folder = folder;
    rules.labels.folder = folder + kLabelsSuffix;
    rules.labels.suffix = "_L";
    ASSIGN_OR_RETURN(InputSplit pairs, PairByStem(listing, split, rules, &set->notes));
    set->splits.push_back(std::move(pairs));
  }
  for (const std::string& folder : listing.FoldersIn("")) {
    if (UsualSplitName(folder).empty() || listing.HasFolder(folder + kLabelsSuffix)) continue;
    RETURN_IF_ERROR(LeaveOutUnlabelled(
        input, folder, "there is no " + folder + kLabelsSuffix + " beside it", set, folder));
  }
  return CheckLabelFolders(input);
}

}  // namespace shardmill
