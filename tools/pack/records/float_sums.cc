#include "tools/pack/records/float_sums.h"

#include <cstring>

#include "proto/manifest.pb.h"

namespace shardmill {
namespace {

template <typename Visit>
void ForEachFloat(const uint8_t* pixels, size_t width, size_t channels,
                  const std::vector<PixelSpan>& rows, Visit visit) {
  for (size_t y = 0; y < rows.size(); ++y) {
    const uint8_t* row = pixels + (y * width + rows[y].begin) * channels * sizeof(float);
    for (uint32_t x = rows[y].begin; x < rows[y].end; ++x) {
      for (size_t channel = 0; channel < channels; ++channel, row += sizeof(float)) {
        float value;
        std::memcpy(&value, row, sizeof value);
        visit(channel, double{value});
      }
    }
  }
}

}  // namespace

void AddFloatSums(const uint8_t* pixels, size_t width, size_t channels,
                  const std::vector<PixelSpan>& rows, proto::Statistics* statistics) {
  uint64_t count = 0;
  for (const PixelSpan& row : rows) count += row.end - row.begin;
  std::vector<double> sum(channels), mean(channels), squares(channels);
  ForEachFloat(pixels, width, channels, rows,
               [&](size_t channel, double value) { sum[channel] += value; });
  for (size_t channel = 0; channel < channels && count > 0; ++channel) {
    mean[channel] = sum[channel] / static_cast<double>(count);
  }
  ForEachFloat(pixels, width, channels, rows, [&](size_t channel, double value) {
    const double apart = value - mean[channel];
    squares[channel] += apart * apart;
  });
  for (size_t channel = 0; channel < channels; ++channel) {
    statistics->add_channel_value_sum(sum[channel]);
    statistics->add_channel_value_sum_sq(squares[channel]);
  }
}

}  // namespace shardmill
