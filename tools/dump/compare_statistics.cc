#include <algorithm>
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
  comparison.Number("image pixels", manifest.image_pixels(), counted.image_pixels());
  comparison.Sums("sum", manifest.channel_sum(), counted.channel_sum());
  comparison.Sums("sum of squares", manifest.channel_sum_sq(), counted.channel_sum_sq());
  comparison.Classes(schema, "pixels", manifest.class_pixels(), counted.class_pixels());
  comparison.Classes(schema, "images", manifest.class_images(), counted.class_images());
  comparison.Classes(schema, "pixels of the images", manifest.class_image_pixels(),
                     counted.class_image_pixels());
  comparison.Number("ignored pixels", manifest.ignore_pixels(), counted.ignore_pixels());
  return comparison.Take();
}

}  // namespace shardmill
