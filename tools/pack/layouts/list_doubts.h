// Lists that look like classes of images and may be something else.
//
// A free function without state.
#pragma once

#include <string>

#include "tools/pack/inputs/folder_scan.h"
#include "tools/pack/layouts/layout.h"

namespace shardmill {

// Why a folder that fits layout csv may not be one, and what to say then; empty: there is no
// doubt. Labels are run lengths of masks or never the same twice, or the classes of another split
// lie in folders.
std::string DoubtClassLists(const FolderListing& listing, const LayoutOptions& options);

}  // namespace shardmill
