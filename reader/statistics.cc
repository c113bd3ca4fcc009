#include "reader/statistics.h"

#include <algorithm>
#include <cmath>

#include "proto/manifest.pb.h"

namespace shardmill {
namespace {

void AddList(const google::protobuf::RepeatedField<uint64_t>& part,
             google::protobuf::RepeatedField<uint64_t>* sum) {
  while (sum->size() < part.size()) sum->Add(0);
  for (int i = 0; i < part.size(); ++i) sum->Set(i, sum->Get(i) + part.Get(i));
}

void AddList(const google::protobuf::RepeatedPtrField<proto::UInt128>& part,
             google::protobuf::RepeatedPtrField<proto::UInt128>* sum) {
  while (sum->size() < part.size()) sum->Add();
  for (int i = 0; i < part.size(); ++i) {
    AddUInt128(part.Get(i).low(), part.Get(i).high(), sum->Mutable(i));
  }
}

// Sums and sums of squared differences from the mean, as of Chan, Golub and LeVeque (1979): squares
// of the values themselves would lose a deviation that is small beside its mean.
void AddFloats(const proto::Statistics& part, proto::Statistics* sum) {
  const auto more = static_cast<double>(part.image_pixels());
  const auto before = static_cast<double>(sum->image_pixels());
  const int channels = std::min(part.channel_value_sum_size(), part.channel_value_sum_sq_size());
  while (sum->channel_value_sum_size() < channels) sum->add_channel_value_sum(0);
  while (sum->channel_value_sum_sq_size() < channels) sum->add_channel_value_sum_sq(0);
  for (int i = 0; i < channels; ++i) {
    double squares = sum->channel_value_sum_sq(i) + part.channel_value_sum_sq(i);
    if (more > 0 && before > 0) {
      const double apart = part.channel_value_sum(i) / more - sum->channel_value_sum(i) / before;
      squares += apart * apart * (more / (more + before)) * before;
    }
    sum->set_channel_value_sum(i, sum->channel_value_sum(i) + part.channel_value_sum(i));
    sum->set_channel_value_sum_sq(i, squares);
  }
}

ChannelMoments MomentsOf(long double mean, long double variance) {
  ChannelMoments moments;
  moments.mean = static_cast<double>(mean);
  moments.standard_deviation = static_cast<double>(std::sqrt(std::max(variance, 0.0L)));
  return moments;
}

long double ToLongDouble(const proto::UInt128& value) {
  return std::ldexp(static_cast<long double>(value.high()), 64) + value.low();
}

}  // namespace

void AddUInt128(uint64_t low, uint64_t high, proto::UInt128* sum) {
  const uint64_t new_low = sum->low() + low;
  const uint64_t carry = new_low < low ? 1 : 0;
  sum->set_low(new_low);
  sum->set_high(sum->high() + high + carry);
}

void AddStatistics(const proto::Statistics& part, proto::Statistics* sum) {
  AddFloats(part, sum);  // by the pixels of both
  sum->set_records(sum->records() + part.records());
  sum->set_image_pixels(sum->image_pixels() + part.image_pixels());
  AddList(part.channel_sum(), sum->mutable_channel_sum());
  AddList(part.channel_sum_sq(), sum->mutable_channel_sum_sq());
  AddList(part.class_pixels(), sum->mutable_class_pixels());
  AddList(part.class_images(), sum->mutable_class_images());
  AddList(part.class_image_pixels(), sum->mutable_class_image_pixels());
  sum->set_ignore_pixels(sum->ignore_pixels() + part.ignore_pixels());
  sum->set_dropped_records(sum->dropped_records() + part.dropped_records());
}

std::vector<ChannelMoments> MomentsOfChannels(const proto::Statistics& statistics) {
  const bool floats = statistics.channel_value_sum_size() > 0;
  const int channels =
      floats ? std::min(statistics.channel_value_sum_size(), statistics.channel_value_sum_sq_size())
             : std::min(statistics.channel_sum_size(), statistics.channel_sum_sq_size());
  std::vector<ChannelMoments> moments(channels);
  const long double pixels = statistics.image_pixels();
  if (pixels == 0) return moments;
  for (int i = 0; i < channels; ++i) {
    if (floats) {
      moments[i] = MomentsOf(statistics.channel_value_sum(i) / pixels,
                             statistics.channel_value_sum_sq(i) / pixels);
      continue;
    }
    const long double mean = ToLongDouble(statistics.channel_sum(i)) / pixels;
    moments[i] = MomentsOf(mean, ToLongDouble(statistics.channel_sum_sq(i)) / pixels - mean * mean);
  }
  return moments;
}

}  // namespace shardmill
