// A new data set that grows in a folder below the old one, until it can take its place.
//
// The manifest of the new set, written below the old one, commits the replacement: from then on
// nothing but these files is needed to finish it, and whoever enters the folder next does so,
// after whichever step it was cut off. Free functions without state; the caller holds the folder's
// lock alone.
#pragma once

#include <string>

#include "reader/base/status.h"

namespace shardmill {

// Where the new set grows while `folder` holds an old one.
std::string IncomingFolder(const std::string& folder);
// An empty one.
Status StartIncoming(const std::string& folder);

// Takes the old set out of `folder` and moves the new one, which has its manifest, to its place,
// with its state. DataLoss, and the old set is not touched, when the new one is not whole.
Status ReplaceByIncoming(const std::string& folder);
// Finishes a replacement that was cut off. False: none was.
Result<bool> FinishCutReplacement(const std::string& folder);

// Throws away what grows there, unless it has begun to take the place of the old set.
void RemoveIncoming(const std::string& folder);

}  // namespace shardmill
