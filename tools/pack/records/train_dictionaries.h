// Makes the dictionaries of fields that are stored with one, before anything is packed.
#pragma once

#include "reader/base/status.h"
#include "tools/pack/pack_options.h"
#include "tools/pack/pack_plan.h"

namespace shardmill {

// Fills in the dictionaries of `plan`. They follow from the plan and the sources alone: records of
// inputs at even distances in the shards' order of the first split are encoded raw, at most 2048
// and at most as many as the largest dictionary can use; inputs that cannot be packed are passed
// over. So every process that packs a part of the set makes the same ones. InvalidArgument when the
// records are too few; Cancelled on Ctrl-C.
Status TrainDictionaries(const PackOptions& options, int threads, PackPlan* plan);

}  // namespace shardmill
