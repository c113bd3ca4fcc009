// Test splits whose labels are not public.
//
// A free function without state.
#pragma once

#include "reader/base/status.h"
#include "tools/pack/layouts/layout.h"

namespace shardmill {

// The split test, where it was asked for by name and none of its images has a label: nobody can
// train on it, but predict. Elsewhere a missing label stays a problem. InvalidArgument when a file
// of the folder could be a label of the split, in a form or place that the layout does not read.
Status UseUnlabelled(const FolderListing& listing, const LayoutOptions& options, InputSet* set);

}  // namespace shardmill
