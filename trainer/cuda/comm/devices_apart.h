// Whether each rank of a job has a GPU of its own.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

// `ids`: by rank, of the GPU that it has taken. Unavailable names the first two that share one.
Status CheckApart(const std::vector<std::string>& ids);

}  // namespace shardmill
