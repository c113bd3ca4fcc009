// The middle of several measurements, and how far apart they lie.
//
// Compared programs take short turns one after the other, and the ratio of neighbouring turns is
// what counts: what else the machine does, or how fast its memory is at the moment, then touches
// both alike. Pure functions; safe for concurrent use.
#pragma once

#include <vector>

#include "tools/bench/stopwatch.h"

namespace shardmill {

struct Spread {
  double median = 0;
  double low = 0;  // a quarter of the values lie below
  double high = 0;
};

// Zeros for no values.
Spread SpreadOf(std::vector<double> values);
// The turn with the median speed; of two in the middle the slower one. Not measured for no turns.
Rate MedianRate(std::vector<Rate> rates);

// How fast a turn was beside the mean of the two turns around it.
double SpeedBeside(const Rate& turn, const Rate& before, const Rate& after);

}  // namespace shardmill
