#include "tools/pack/report/source_sizes.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "proto/record_meta.pb.h"
#include "reader/console/units.h"

namespace shardmill {
namespace {

// More sizes than this are put into classes.
constexpr size_t kMostBars = 12;

using Counts = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;  // by height and width

std::string_view SourceOfKey(const proto::RecordMeta& meta) {
  std::string_view key = meta.key();
  if (meta.variant() > 0) key = key.substr(0, std::min(key.rfind("#v"), key.size()));
  return key;
}

Status CountShard(const ShardReader& shard, Counts* counts) {
  std::string last;
  for (uint64_t record = 0; record < shard.records(); ++record) {
    ASSIGN_OR_RETURN(const proto::RecordMeta meta, shard.ReadMeta(record));
    // Records of one source are neighbours.
    const std::string_view source = SourceOfKey(meta);
    if (record > 0 && source == last) continue;
    last = source;
    ++(*counts)[{meta.source_height(), meta.source_width()}];
  }
  return OkStatus();
}

std::string Megapixels(double pixels) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", pixels / 1e6);
  return text;
}

// Classes by area, each twice as large as the one before.
std::vector<SizeBar> BarsByArea(const Counts& counts) {
  std::map<int, uint64_t> classes;
  for (const auto& [size, sources] : counts) {
    int power = 0;
    for (uint64_t area = uint64_t{size.first} * size.second; area > 1; area /= 2) ++power;
    classes[power] += sources;
  }
  std::vector<SizeBar> bars;
  for (int power = classes.begin()->first; power <= classes.rbegin()->first; ++power) {
    const auto from = static_cast<double>(uint64_t{1} << power);
    const auto found = classes.find(power);
    bars.push_back({Megapixels(from) + " to " + Megapixels(2 * from) + " megapixels",
                    found == classes.end() ? 0 : found->second});
  }
  return bars;
}

std::vector<SizeBar> BarsBySize(const Counts& counts) {
  std::vector<SizeBar> bars;
  for (const auto& [size, sources] : counts) {
    bars.push_back({DescribeImageSize({size.first, size.second}), sources});
  }
  std::stable_sort(bars.begin(), bars.end(),
                   [](const SizeBar& a, const SizeBar& b) { return a.sources > b.sources; });
  return bars;
}

}  // namespace

Result<SourceSizes> CountSourceSizes(const ShardSet& set) {
  Counts counts;
  for (const ShardSet::Split& split : set.splits()) {
    for (const ShardReader* shard : split.shards) RETURN_IF_ERROR(CountShard(*shard, &counts));
  }
  SourceSizes sizes;
  sizes.distinct = counts.size();
  for (const auto& [size, sources] : counts) sizes.sources += sources;
  if (counts.empty()) return sizes;
  sizes.bars = counts.size() <= kMostBars ? BarsBySize(counts) : BarsByArea(counts);
  return sizes;
}

}  // namespace shardmill
