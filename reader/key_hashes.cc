#include "reader/key_hashes.h"

#include <algorithm>

namespace shardmill {
namespace {

// Bits per hash in the filter: of distinct hashes, one in 32 or fewer shares its bit.
constexpr uint64_t kBitsPerHash = 32;

// A bit for each hash, or two that share one now and then; seen once, and seen again.
class Filter {
 public:
  explicit Filter(uint64_t hashes) {
    while ((uint64_t{1} << log_bits_) < hashes * kBitsPerHash) ++log_bits_;
    seen_.resize((uint64_t{1} << log_bits_) / 64);
    again_.resize(seen_.size());
  }
  void Add(uint64_t hash) {
    const uint64_t index = IndexOf(hash);
    const uint64_t bit = uint64_t{1} << (index % 64);
    again_[index / 64] |= seen_[index / 64] & bit;
    seen_[index / 64] |= bit;
  }
  bool MayRepeat(uint64_t hash) const {
    const uint64_t index = IndexOf(hash);
    return (again_[index / 64] >> (index % 64) & 1) != 0;
  }

 private:
  // The upper 8 bits are the same in all hashes of a part.
  uint64_t IndexOf(uint64_t hash) const { return hash << 8 >> (64 - log_bits_); }

  uint32_t log_bits_ = 6;
  std::vector<uint64_t> seen_;
  std::vector<uint64_t> again_;
};

template <typename Visit>
void ForEachHash(const std::vector<std::unique_ptr<KeyHashes>>& gathered, uint32_t part,
                 Visit visit) {
  for (const auto& hashes : gathered) {
    hashes->ForEach(part, [&](const uint64_t* begin, uint64_t count) {
      for (uint64_t i = 0; i < count; ++i) visit(begin[i]);
    });
  }
}

void AddRepeatedOfPart(const std::vector<std::unique_ptr<KeyHashes>>& gathered, uint32_t part,
                       std::vector<uint64_t>* repeated) {
  uint64_t total = 0;
  for (const auto& hashes : gathered) {
    hashes->ForEach(part, [&](const uint64_t*, uint64_t count) { total += count; });
  }
  if (total < 2) return;
  Filter filter(total);
  ForEachHash(gathered, part, [&](uint64_t hash) { filter.Add(hash); });
  std::vector<uint64_t> candidates;
  ForEachHash(gathered, part, [&](uint64_t hash) {
    if (filter.MayRepeat(hash)) candidates.push_back(hash);
  });
  std::sort(candidates.begin(), candidates.end());
  for (size_t i = 1; i < candidates.size(); ++i) {
    const bool is_first = repeated->empty() || repeated->back() != candidates[i];
    if (candidates[i] == candidates[i - 1] && is_first) repeated->push_back(candidates[i]);
  }
}

}  // namespace

void HashRange::Count(int64_t hashes) {
  const int64_t now = hashes_.fetch_add(hashes, std::memory_order_relaxed) + hashes;
  if (now <= static_cast<int64_t>(max_hashes_) || hashes <= 0) return;
  uint32_t end = end_.load(std::memory_order_relaxed);
  const uint32_t half = begin_ + std::max((end - begin_) / 2, uint32_t{1});
  // Another thread may have been faster, and its half is what there is too much of.
  end_.compare_exchange_strong(end, half, std::memory_order_relaxed);
}

bool KeyHashes::Grow(uint32_t part) {
  range_->Count(static_cast<int64_t>(kChunkHashes));
  for (const uint32_t end = range_->end(); end_ > end; --end_) {
    Part& given_up = parts_[end_ - 1];
    range_->Count(-static_cast<int64_t>(given_up.chunks.size() * kChunkHashes));
    given_up = Part();
  }
  if (part >= end_) {
    range_->Count(-static_cast<int64_t>(kChunkHashes));
    return false;
  }
  // Every place is written before it is read.
  parts_[part].chunks.emplace_back(new uint64_t[kChunkHashes]);
  parts_[part].next = parts_[part].chunks.back().get();
  parts_[part].end = parts_[part].next + kChunkHashes;
  return true;
}

std::vector<uint64_t> RepeatedHashes(const std::vector<std::unique_ptr<KeyHashes>>& gathered) {
  std::vector<uint64_t> repeated;
  if (gathered.empty()) return repeated;
  const HashRange& range = gathered.front()->range();
  for (uint32_t part = range.begin(); part < range.end(); ++part) {
    AddRepeatedOfPart(gathered, part, &repeated);
  }
  return repeated;
}

}  // namespace shardmill
