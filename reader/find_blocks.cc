#include "reader/find_blocks.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "reader/shard_format.h"

namespace shardmill {
namespace {

// This many bytes are looked at before asking whether a hole follows.
constexpr uint64_t kHoleSearchBytes = uint64_t{1} << 20;

// A sound header of a block of the shard.
struct Candidate {
  BlockTableEntry entry;
  uint32_t number = 0;
  bool fits = false;  // all before it are there, and it has the number that follows from them
};

// How good a choice of candidates is, and how it ends.
struct Chain {
  uint64_t fitting = 0;
  uint64_t blocks = 0;
  size_t last = 0;  // candidate; those before it are found through `before`

  bool operator<(const Chain& other) const {
    return std::tie(fitting, blocks) < std::tie(other.fitting, other.blocks);
  }
};

// The best of the chains with the lowest numbers: a tree of maxima over prefixes.
class BestChains {
 public:
  explicit BestChains(size_t size) : best_(size + 1) {}

  // Of those at places before `end`.
  Chain Before(size_t end) const {
    Chain best;
    for (size_t i = end; i > 0; i -= i & -i) best = std::max(best, best_[i]);
    return best;
  }
  void Add(size_t place, const Chain& chain) {
    for (size_t i = place + 1; i < best_.size(); i += i & -i) best_[i] = std::max(best_[i], chain);
  }

 private:
  std::vector<Chain> best_;
};

// The best choice of candidates, in order, whose numbers ascend.
std::vector<size_t> BestChoice(const std::vector<Candidate>& candidates) {
  std::vector<uint32_t> numbers;
  for (const Candidate& candidate : candidates) numbers.push_back(candidate.number);
  std::sort(numbers.begin(), numbers.end());
  BestChains chains(numbers.size());
  std::vector<Chain> before;
  Chain best;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const auto place = static_cast<size_t>(
        std::lower_bound(numbers.begin(), numbers.end(), candidates[i].number) - numbers.begin());
    before.push_back(chains.Before(place));
    const Chain chain = {before[i].fitting + (candidates[i].fits ? 1 : 0), before[i].blocks + 1, i};
    chains.Add(place, chain);
    best = std::max(best, chain);
  }
  std::vector<size_t> chosen;
  for (Chain chain = best; chain.blocks > 0; chain = before[chain.last]) {
    chosen.push_back(chain.last);
  }
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

class Finder {
 public:
  Finder(const InputFile& file, const BlockSearch& search) : file_(file), search_(search) {}

  FoundBlocks Find() {
    FindCandidates();
    uint64_t found_bytes = 0;
    for (const size_t i : BestChoice(candidates_)) {
      found_.blocks.push_back(candidates_[i].entry);
      found_.numbers.push_back(candidates_[i].number);
      found_bytes += candidates_[i].entry.bytes;
    }
    const uint64_t all = search_.end - std::min(search_.begin, search_.end);
    found_.missed_bytes = all - std::min(all, found_bytes);
    return std::move(found_);
  }

 private:
  Result<BlockHeader> HeaderAt(uint64_t offset) {
    Result<BlockHeader> header = ReadBlockHeader(file_, offset, search_.end - offset);
    if (header.status().code() == StatusCode::kIo && found_.failure.ok()) {
      found_.failure = header.status();
    }
    return header;
  }

  bool IsOurs(const BlockHeader& header) const {
    const BlockIdentity& identity = search_.identity;
    return header.dataset_id == identity.dataset_id &&
           header.shard_number == identity.shard_number &&
           header.split_sum == identity.split_sum.value_or(header.split_sum) &&
           (search_.records_per_block == 0 ||
            header.first_record == uint64_t{header.block_number} * search_.records_per_block);
  }

  void FindCandidates() {
    uint64_t slot = 0;  // the number that a block at slot_begin has in a shard that is whole
    uint64_t slot_begin = search_.begin;
    for (uint64_t offset = search_.begin; offset < search_.end && found_.failure.ok();) {
      const Result<BlockHeader> header = HeaderAt(offset);
      if (!header.ok()) {
        offset = Next(offset);
        continue;
      }
      const bool in_slot = offset == slot_begin;
      if (IsOurs(*header)) {
        candidates_.push_back({{offset, header->block_bytes, header->first_record, header->records},
                               header->block_number,
                               in_slot && header->block_number == slot});
      }
      if (in_slot) {
        ++slot;
        slot_begin += header->block_bytes;
      }
      const uint64_t end = offset + header->block_bytes;
      // A block that was put in a wrong place may say that it reaches over others.
      const bool is_followed = end == search_.end || HeaderAt(end).ok();
      offset = is_followed ? end : Next(offset);
    }
  }

  uint64_t Next(uint64_t offset) const {
    const uint64_t next = offset + kAlignment;
    if (next % kHoleSearchBytes != 0) return next;
    return file_.SkipHole(next) / kAlignment * kAlignment;
  }

  const InputFile& file_;
  const BlockSearch& search_;
  std::vector<Candidate> candidates_;
  FoundBlocks found_;
};

}  // namespace

FoundBlocks FindBlocksByHeaders(const InputFile& file, const BlockSearch& search) {
  return Finder(file, search).Find();
}

}  // namespace shardmill
