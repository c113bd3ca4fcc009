// Arithmetic on proto::Statistics: adding up shards, mean and standard deviation.
//
// The messages hold integers, whose sums do not depend on the order of adding; but those of f32
// images do, in their last bits. Pure functions; safe for concurrent use.
#pragma once

#include <cstdint>
#include <vector>

namespace shardmill {

namespace proto {
class Statistics;
class UInt128;
}  // namespace proto

// *sum += value, modulo 2^128.
void AddUInt128(uint64_t low, uint64_t high, proto::UInt128* sum);

// Adds the numbers of `part` to `sum`. Lists of different lengths (channels, classes) are treated
// as if the shorter one went on with zeros.
void AddStatistics(const proto::Statistics& part, proto::Statistics* sum);

// Mean and population standard deviation of one channel, in the units of the stored pixels (0 to
// 255 for 8-bit images).
struct ChannelMoments {
  double mean = 0;
  double standard_deviation = 0;
};

// Per channel; zeros when no pixel was counted, nothing when no channel was.
std::vector<ChannelMoments> MomentsOfChannels(const proto::Statistics& statistics);

}  // namespace shardmill
