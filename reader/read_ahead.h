// What the kernel is told of how a split is going to be read.
#pragma once

#include "reader/dataset.h"

namespace shardmill {

// The records are read in an order that the kernel cannot guess: a page that has to come from the
// disk shall come alone. It would bring megabytes around it otherwise, of which most are evicted
// before their turn when the set is larger than the memory. The loader asks for the ranges that it
// needs ahead of time. A hint; files that are not mapped are passed over.
void AdviseRandomReads(const Dataset::Split& split);

// Asks for the headers of the blocks, of the first few thousand, so that the first record of each
// block need not wait for its own.
void AskForBlockHeaders(const Dataset::Split& split);

}  // namespace shardmill
