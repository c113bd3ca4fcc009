// What lies in the source folder and becomes no record: counted and named, so that nothing of it is
// lost in silence.
//
// Free functions without state.
#pragma once

#include "reader/base/status.h"
#include "tools/pack/inputs/folder_scan.h"
#include "tools/pack/layouts/layout.h"

namespace shardmill {

// Dead links, pipes and devices become problems of the split whose folder they lie in, or else of
// the first one.
Status AddUnreadable(const FolderListing& listing, const LayoutOptions& options, InputSet* set);

// Images (or arrays) that are in no sample and no problem: those that set->unlisted takes for
// inputs become problems of the first split, the others are noted.
Status AddUnlisted(const FolderListing& listing, InputSet* set);

}  // namespace shardmill
