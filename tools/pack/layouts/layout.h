// Layouts: how data sets lie in folders, and which one a folder has.
//
// To add a layout, write its Recognize and Read functions in a file of its own below layouts/ and
// put it into the table in layout.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/inputs/folder_scan.h"
#include "tools/pack/inputs/input_set.h"

namespace shardmill {

// How the two files of a pair are named, for layout pairs. Empty: as the folder looks.
struct PairOptions {
  std::string images, labels;  // folders below the source
  std::string image_prefix, image_suffix, label_prefix, label_suffix;

  bool GivesNames() const {
    return !(image_prefix + image_suffix + label_prefix + label_suffix).empty();
  }
};

struct LayoutOptions {
  std::string layout = "auto";
  std::vector<std::string> splits;  // only these; empty: all
  std::optional<std::string> classes_file;
  std::optional<uint32_t> ignore;  // in the place of the layout's own
  std::optional<std::string> map;  // a file, a profile or "none", likewise
  PaletteReading palette = PaletteReading::kAuto;
  GrayReading gray = GrayReading::kAuto;
  std::optional<uint32_t> label_tolerance;
  PairOptions pairs;
  std::string list;                // for layouts list and csv: a file below the source
  std::string output;              // the folder of the packed set, which is no input
  int threads = 1;                 // that list the folder
  bool keep_category_ids = false;  // for the layouts of COCO: class ids are the category ids

  bool Wants(const std::string& split) const;  // by name
  bool LeavesOut(const std::string& split) const { return !splits.empty() && !Wants(split); }
};

struct LayoutInput {
  const FolderListing& listing;
  const std::vector<ClassInfo>& classes;  // the user's table, or empty
  const LayoutOptions& options;
};

struct Layout {
  const char* name;
  const char* expects;  // for help and for the message that no layout fits
  // Of the layouts that fit, those of the lowest rank count: 0 for the forms of certain data sets,
  // more for what many folders look like.
  int rank;
  // Why the folder looks like this layout; empty: it does not.
  std::string (*recognize)(const FolderListing& listing);
  // Fills splits, classes, labels and notes.
  Status (*read)(const LayoutInput& input, InputSet* set);
  // Why the folder may be something else, and what to say then; empty: it is certain. Asked only
  // when the layout was found by itself.
  std::string (*doubt)(const FolderListing& listing, const LayoutOptions& options) = nullptr;
};

const std::vector<Layout>& Layouts();
std::vector<std::string> LayoutNames();  // "auto" first
std::string DescribeLayouts();           // a line for each, for help

// Lists the folder, finds its layout unless one was asked for, and reads it. NotFound when there
// is nothing to pack; InvalidArgument when the layout is not certain, saying what was seen.
Result<InputSet> ReadInputSet(const std::string& source, const LayoutOptions& options);

}  // namespace shardmill
