// Layouts: how data sets lie in folders, and which one a folder has.
//
// To add a layout, write its Recognize and Read functions in a file of its own and put it into
// the table in layout.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/folder_scan.h"
#include "tools/pack/input_set.h"

namespace shardmill {

struct LayoutOptions {
  std::string layout = "auto";
  std::vector<std::string> splits;  // only these; empty: all
  std::optional<std::string> classes_file;
  std::optional<uint32_t> ignore;  // in the place of the layout's own
};

struct Layout {
  const char* name;
  const char* expects;  // for the message that no layout fits
  // Why the folder looks like this layout; empty: it does not.
  std::string (*recognize)(const FolderListing& listing);
  // Fills splits, classes, ignore and notes. `classes` is the user's table, or empty.
  Status (*read)(const FolderListing& listing, const std::vector<ClassInfo>& classes,
                 InputSet* set);
};

const std::vector<Layout>& Layouts();
std::vector<std::string> LayoutNames();  // "auto" first

// Lists the folder, finds its layout unless one was asked for, and reads it. NotFound when there
// is nothing to pack; InvalidArgument when the layout is not certain, saying what was seen.
Result<InputSet> ReadInputSet(const std::string& source, const LayoutOptions& options);

// "train", "val" and "test" for the usual names of splits ("training", "validation", …), also in
// upper case; empty for other names.
std::string UsualSplitName(const std::string& name);

}  // namespace shardmill
