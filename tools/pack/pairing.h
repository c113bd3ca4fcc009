// Pairs images with label images by their stems, never by position.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "reader/base/status.h"
#include "tools/pack/folder_scan.h"
#include "tools/pack/input_set.h"

namespace shardmill {

// Sorts samples and problems by key. InvalidArgument when two samples of the set have one key,
// naming both.
Status SortAndCheckKeys(InputSet* set);

struct PairFolders {
  std::string images, labels;  // below the listing's root
  // A label may carry this behind its stem: "a_L.png" belongs to "a.png".
  std::string label_suffix;
};

// The pairs of two folders, looked through with their sub-folders; what has no partner becomes a
// problem. InvalidArgument when two files of one folder have the same stem. Files without an
// image's extension are left out and noted in `notes`.
Result<InputSplit> PairByStem(const FolderListing& listing, const std::string& split,
                              const PairFolders& folders, std::vector<std::string>* notes);

}  // namespace shardmill
