// Pairs images with label images by their stems, never by position.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/inputs/folder_scan.h"
#include "tools/pack/inputs/input_set.h"

namespace shardmill {

// Sorts samples and problems by key. InvalidArgument when two samples of the set have one key,
// naming both.
Status SortAndCheckKeys(InputSet* set);

// Which files of a folder are one half of pairs, and what they are called without the rest.
struct NameRule {
  std::string folder;          // below the listing's root, with all below it; "" is the root
  std::string prefix, suffix;  // of a name without extension
  // True: files without prefix and suffix are left out, and both are cut off before names are
  // compared. False: a label may have them or not.
  bool must_match = false;
  // Names without extension that end in this, and begin with the prefix, are left out.
  std::string except_suffix, except_prefix = {};

  bool HasException() const { return !(except_suffix + except_prefix).empty(); }
};

struct PairRules {
  NameRule images, labels;
  // What stands between the folder and the file does not count: "a/x.png" pairs with "b/x.png".
  bool by_name_alone = false;
};

// The pairs of two folders, looked through with their sub-folders; what has no partner becomes a
// problem. InvalidArgument when two files of one side have the same stem. Files without an image's
// extension, and those that no rule takes, are left out and noted in `notes`.
Result<InputSplit> PairByStem(const FolderListing& listing, const std::string& split,
                              const PairRules& rules, std::vector<std::string>* notes);

// The files that a rule takes, by stem: the path below the folder without extension.
using FilesByStem = std::map<std::string, const ListedFile*>;
Result<FilesByStem> CollectStems(const FolderListing& listing, const NameRule& rule,
                                 bool by_name_alone, std::vector<std::string>* notes);

// A sample of the two files, with the image's path as its key. InvalidArgument when they are one.
Result<Sample> MakePair(const ListedFile& image, const ListedFile& label);

}  // namespace shardmill
