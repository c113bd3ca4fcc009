// Folders that look like classes and may be something else: halves of pairs, splits with unusual
// names, the folder above a data set. Taking those for classes would train on nonsense in silence.
//
// Free functions without state.
#pragma once

#include <string>

#include "tools/pack/inputs/folder_scan.h"
#include "tools/pack/layouts/layout.h"

namespace shardmill {

// Why a folder that fits layout imagefolder (or npy) may not be one, and what to say then; empty:
// there is no doubt.
std::string DoubtClassFolders(const FolderListing& listing, const LayoutOptions& options);

// For a folder that fits no layout: why the nearest ones do not fit, a line for each.
std::string NearLayouts(const FolderListing& listing);

}  // namespace shardmill
