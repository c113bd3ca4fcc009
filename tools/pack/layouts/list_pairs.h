// Lists of image and label paths, as several layouts have them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/inputs/folder_scan.h"
#include "tools/pack/inputs/input_set.h"

namespace shardmill {

// Reads the pairs of a list file, which lies below the listing's root. What a line names and is
// not there becomes a problem. InvalidArgument for a line that can be read in two ways, and for an
// image that two lines name.
// By the list's split column; under "" when it has none. A first line of words that name no files,
// before lines that do, is taken for names of columns, which `notes` tells.
Result<std::map<std::string, InputSplit>> ReadPairList(const FolderListing& listing,
                                                       const std::string& list_file,
                                                       std::vector<std::string>* notes);

// Reads a list that names an image in each line and no label, as those of test splits. Each image
// becomes a problem that lacks its label alone; what is not there becomes another one. A first line
// may name the column.
Result<InputSplit> ReadImageList(const FolderListing& listing, const std::string& list_file);

}  // namespace shardmill
