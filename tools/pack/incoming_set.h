// A new data set that grows in a folder below the old one, until it can take its place.
//
// Replacing is a row of steps that may be cut off after any of them: the same pack run again
// finishes it. Free functions without state; the caller holds the folder's lock alone.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

// Where the new set grows while `folder` holds an old one.
std::string IncomingFolder(const std::string& folder);
// An empty one.
Status StartIncoming(const std::string& folder);

// Takes the old set out of `folder` and moves the new one there with its state, without a
// manifest.
Status ReplaceByIncoming(const std::string& folder);
// After a replacement that was cut off: brings those of the planned shards back that were moved
// already.
Status UndoCutReplacement(const std::string& folder, const std::vector<std::string>& planned);

void RemoveIncoming(const std::string& folder);

}  // namespace shardmill
