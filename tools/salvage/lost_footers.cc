#include "tools/salvage/lost_footers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "reader/serialize.h"
#include "tools/salvage/salvage_shard.h"

namespace shardmill {
namespace {

using SkippedList = google::protobuf::RepeatedPtrField<proto::SkippedInput>;

// The shards of one split of the manifest.
class SplitFooters {
 public:
  SplitFooters(const proto::Split& split, const SalvageShard* shards,
               const ShardReport* const* reports)
      : split_(split),
        shards_(shards),
        reports_(reports),
        restored_(static_cast<size_t>(split.shards_size())) {}

  // Empty: they do not fit together.
  std::vector<RestoredFooter> Restore(std::vector<std::string>* remarks) {
    if (!ShareOutSkipped() || !GiveDropped()) return {};
    for (const std::string& remark : remarks_) remarks->push_back(remark);
    return std::move(restored_);
  }

 private:
  // Null when the footer is lost.
  const proto::ShardSummary* SummaryOf(size_t k) const {
    const ShardReport* report = reports_[k];
    if (report == nullptr || !report->has_footer) return nullptr;
    return IsAnotherThanNamed(shards_[k], *report) ? nullptr : report->parts->summary.get();
  }

  // Whether the list has `part` at `at`.
  bool HasAt(int at, const SkippedList& part) const {
    if (part.size() > split_.skipped_size() - at) return false;
    for (int i = 0; i < part.size(); ++i) {
      if (SerializeDeterministic(split_.skipped(at + i)) != SerializeDeterministic(part[i])) {
        return false;
      }
    }
    return true;
  }

  bool ShareOutSkipped() {
    int at = 0;
    for (size_t k = 0; k < restored_.size(); ++k) {
      const proto::ShardSummary* summary = SummaryOf(k);
      if (summary == nullptr) {
        lost_.push_back(k);
        restored_[k].is_known = true;
        continue;
      }
      if (summary->skipped().empty()) continue;
      int begin = at;
      while (begin < split_.skipped_size() && !HasAt(begin, summary->skipped())) ++begin;
      if (begin == split_.skipped_size() || !GiveSkipped(at, begin)) return false;
      at = begin + summary->skipped_size();
    }
    return GiveSkipped(at, split_.skipped_size());
  }

  // Entries [begin, end) belong to the lost shards since the last time.
  bool GiveSkipped(int begin, int end) {
    if (begin < end) {
      if (lost_.empty()) return false;
      proto::ShardSummary& summary = restored_[lost_.front()].summary;
      for (int i = begin; i < end; ++i) *summary.add_skipped() = split_.skipped(i);
      if (lost_.size() > 1) {
        remarks_.push_back(shards_[lost_.front()].FileName() + " now says of " +
                           std::to_string(end - begin) +
                           " inputs that they were left out: they are those of this shard and of " +
                           "others whose footers are lost");
      }
    }
    lost_.clear();
    return true;
  }

  bool GiveDropped() {
    uint64_t dropped = split_.statistics().dropped_records();
    std::optional<size_t> first_lost;
    for (size_t k = 0; k < restored_.size(); ++k) {
      const proto::ShardSummary* summary = SummaryOf(k);
      if (summary == nullptr) {
        if (!first_lost) first_lost = k;
        continue;
      }
      if (summary->statistics().dropped_records() > dropped) return false;
      dropped -= summary->statistics().dropped_records();
    }
    if (dropped == 0) return true;
    if (!first_lost) return false;
    restored_[*first_lost].summary.mutable_statistics()->set_dropped_records(dropped);
    return true;
  }

  const proto::Split& split_;
  const SalvageShard* const shards_;
  const ShardReport* const* const reports_;
  std::vector<size_t> lost_;  // shards to which the next entries may belong
  std::vector<RestoredFooter> restored_;
  std::vector<std::string> remarks_;
};

}  // namespace

std::vector<RestoredFooter> RestoreFooters(const SalvagePlan& plan,
                                           const std::vector<const ShardReport*>& reports,
                                           std::vector<std::string>* remarks) {
  std::vector<RestoredFooter> all(plan.shards.size());
  if (plan.manifest == nullptr) return all;
  size_t first = 0;
  for (const proto::Split& split : plan.manifest->splits()) {
    SplitFooters footers(split, &plan.shards[first], &reports[first]);
    std::vector<RestoredFooter> restored = footers.Restore(remarks);
    std::move(restored.begin(), restored.end(), all.begin() + static_cast<std::ptrdiff_t>(first));
    first += static_cast<size_t>(split.shards_size());
  }
  return all;
}

}  // namespace shardmill
