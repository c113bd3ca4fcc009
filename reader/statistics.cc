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

void AddList(const google::protobuf::RepeatedField<double>& part,
             google::protobuf::RepeatedField<double>* sum) {
  while (sum->size() < part.size()) sum->Add(0);
  for (int i = 0; i < part.size(); ++i) sum->Set(i, sum->Get(i) + part.Get(i));
}

ChannelMoments MomentsOf(long double sum, long double sum_sq, long double pixels) {
  const long double mean = sum / pixels;
  const long double variance = std::max(sum_sq / pixels - mean * mean, 0.0L);
  ChannelMoments moments;
  moments.mean = static_cast<double>(mean);
  moments.standard_deviation = static_cast<double>(std::sqrt(variance));
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
  sum->set_records(sum->records() + part.records());
  sum->set_image_pixels(sum->image_pixels() + part.image_pixels());
  AddList(part.channel_sum(), sum->mutable_channel_sum());
  AddList(part.channel_sum_sq(), sum->mutable_channel_sum_sq());
  AddList(part.channel_value_sum(), sum->mutable_channel_value_sum());
  AddList(part.channel_value_sum_sq(), sum->mutable_channel_value_sum_sq());
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
    moments[i] = floats ? MomentsOf(statistics.channel_value_sum(i),
                                    statistics.channel_value_sum_sq(i), pixels)
                        : MomentsOf(ToLongDouble(statistics.channel_sum(i)),
                                    ToLongDouble(statistics.channel_sum_sq(i)), pixels);
  }
  return moments;
}

}  // namespace shardmill
