#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/console/units.h"
#include "tools/dump/describe.h"
#include "tools/dump/recount.h"

namespace shardmill {
namespace {

std::string Hex(const proto::UInt128& value) {
  char text[40];
  std::snprintf(text, sizeof text, "0x%016llx%016llx",
                static_cast<unsigned long long>(value.high()),
                static_cast<unsigned long long>(value.low()));
  return text;
}

class Comparison {
 public:
  void Number(const std::string& what, uint64_t manifest, uint64_t counted) {
    if (manifest == counted) return;
    differences_.push_back(what + ": " + FormatCount(manifest) + " in the manifest, " +
                           FormatCount(counted) + " in the records");
  }

  void Sums(const std::string& what,
            const google::protobuf::RepeatedPtrField<proto::UInt128>& manifest,
            const google::protobuf::RepeatedPtrField<proto::UInt128>& counted) {
    const proto::UInt128 zero;
    for (int i = 0; i < std::max(manifest.size(), counted.size()); ++i) {
      const std::string stored = Hex(i < manifest.size() ? manifest.Get(i) : zero);
      const std::string found = Hex(i < counted.size() ? counted.Get(i) : zero);
      if (stored == found) continue;
      differences_.push_back(what + " of channel " + std::to_string(i) + ": " + stored +
                             " in the manifest, " + found + " in the records");
    }
  }

  // Sums of floats differ in their last bits when their parts are added in another order; `scale`
  // is how large all of the parts are.
  void FloatSum(const std::string& what, double manifest, double counted, double scale) {
    constexpr double kTolerance = 1e-9;
    if (std::abs(manifest - counted) <= kTolerance * scale) return;
    char text[80];
    std::snprintf(text, sizeof text, "%.9g in the manifest, %.9g in the records", manifest,
                  counted);
    differences_.push_back(what + ": " + text);
  }

  void FloatSums(const proto::Statistics& manifest, const proto::Statistics& counted) {
    const auto at = [](const google::protobuf::RepeatedField<double>& list, int i) {
      return i < list.size() ? list.Get(i) : 0.0;
    };
    const int channels =
        std::max(manifest.channel_value_sum_size(), counted.channel_value_sum_size());
    for (int i = 0; i < channels; ++i) {
      const auto pixels = static_cast<double>(counted.image_pixels());
      const double sum = at(counted.channel_value_sum(), i);
      const double squares = at(counted.channel_value_sum_sq(), i);
      const std::string channel = " of channel " + std::to_string(i);
      FloatSum("sum" + channel, at(manifest.channel_value_sum(), i), sum,
               std::abs(sum) + std::sqrt(squares * pixels));
      // Differences from a mean that itself is rounded.
      FloatSum("sum of squared differences from the mean" + channel,
               at(manifest.channel_value_sum_sq(), i), squares,
               squares + (pixels > 0 ? 1e-7 * sum / pixels * sum : 0));
    }
  }

  void Classes(const RecordSchema& schema, const std::string& what,
               const google::protobuf::RepeatedField<uint64_t>& manifest,
               const google::protobuf::RepeatedField<uint64_t>& counted) {
    for (int id = 0; id < std::max(manifest.size(), counted.size()); ++id) {
      Number(
          what + " of class " + std::to_string(id) + " (" + DescribeClass(schema.classes, id) + ")",
          id < manifest.size() ? manifest.Get(id) : 0, id < counted.size() ? counted.Get(id) : 0);
    }
  }

  std::vector<std::string> Take() { return std::move(differences_); }

 private:
  std::vector<std::string> differences_;
};

}  // namespace

std::vector<std::string> CompareStatistics(const RecordSchema& schema,
                                           const proto::Statistics& manifest,
                                           const proto::Statistics& counted) {
  Comparison comparison;
  comparison.Number("records", manifest.records(), counted.records());
  // Sets of f32 need not have sums.
  if (counted.channel_value_sum_size() == 0 || manifest.channel_value_sum_size() > 0) {
    comparison.Number("image pixels", manifest.image_pixels(), counted.image_pixels());
    comparison.FloatSums(manifest, counted);
  }
  comparison.Sums("sum", manifest.channel_sum(), counted.channel_sum());
  comparison.Sums("sum of squares", manifest.channel_sum_sq(), counted.channel_sum_sq());
  comparison.Classes(schema, "pixels", manifest.class_pixels(), counted.class_pixels());
  comparison.Classes(schema, "records", manifest.class_images(), counted.class_images());
  comparison.Classes(schema, "pixels of the records", manifest.class_image_pixels(),
                     counted.class_image_pixels());
  comparison.Number("ignored pixels", manifest.ignore_pixels(), counted.ignore_pixels());
  return comparison.Take();
}

}  // namespace shardmill
