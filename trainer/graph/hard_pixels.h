// Which pixels online hard example mining counts, and the check of the loss options.
#pragma once

#include <vector>

#include "reader/base/status.h"
#include "trainer/graph/graph.h"

namespace shardmill {

// InvalidArgument says which number of the loss is out of range.
Status CheckLossTerms(const LossOptions& options);

// The probability from which on pixels do not count, given how many pixels of the batch lie in
// each of the equal bins of [0, 1]. It is options.hard_probability, or as much more as it takes to
// keep options.hard_share of them.
double ProbabilityLimitOf(const std::vector<double>& counts, const LossOptions& options);

}  // namespace shardmill
