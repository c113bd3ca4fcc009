// Which text files of a folder are lists, and of what.
//
// Free functions without state.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/inputs/folder_scan.h"
#include "tools/pack/layouts/layout.h"

namespace shardmill {

struct List {
  std::string file;           // below the root
  std::string split;          // as its name says; empty: no usual name
  bool images_alone = false;  // of a split without labels, which was asked for
};

enum class ListKind {
  kPairs,    // images and labels
  kClasses,  // images and their classes
};

// What the lines of a list lead to. Lines that cannot be read are passed over: whether a file is a
// list, and whether it is a sound one, are two questions.
struct ListContent {
  bool pairs = false, classes = false;
  bool images_alone = false;  // lines name images and nothing else
  std::string missing;        // an image that is not there, when no line names one that is
  bool any_row = false;       // of two words or more
  Status problem;             // of the first line that cannot be read
};
ListContent LookIntoList(const FolderListing& listing, const std::string& file);

// The lists of this kind at the top of the folder: those of splits, or else all.
std::vector<List> FindLists(const FolderListing& listing, ListKind kind);

// Those that the options leave to read. Beside a list of one split, a file that has the name of
// another one's list is one too, whatever is wrong with it; for a test split without labels see
// WantsUnlabelled. NotFound when there is none.
Result<std::vector<List>> ChooseLists(const LayoutInput& input, ListKind kind, InputSet* set);

// For a list of test images without labels: WantsUnlabelled() of its images.
Result<bool> WantsImageList(const LayoutInput& input, const std::string& file, InputSet* set);

// Files that have the name of a split's list, and that the layout has not looked at: they are
// noted. InvalidArgument when the layout was found by itself and such a file lists images, or no
// line of it can be read: then it may be what counts.
Status CheckUnreadLists(const LayoutInput& input, InputSet* set);

}  // namespace shardmill
