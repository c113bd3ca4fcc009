#include "reader/block_window_order.h"

#include <algorithm>
#include <utility>

namespace shardmill {
namespace {

constexpr uint64_t kMaxRecords = uint64_t{1} << 62;

}  // namespace

BlockWindowOrder::BlockWindowOrder(uint64_t records, const BlockWindow& window, uint64_t seed,
                                   std::string split)
    : records_(records),
      block_records_(std::min(window.block_records, std::max<uint64_t>(1, records))),
      blocks_((records + block_records_ - 1) / block_records_),
      window_blocks_(std::min(window.window_blocks, std::max<uint64_t>(1, blocks_))),
      missing_(blocks_ * block_records_ - records),
      seed_(seed),
      split_(std::move(split)) {
  SHARDMILL_CHECK(records < kMaxRecords);
}

void BlockWindowOrder::StartEpoch(uint64_t epoch) {
  key_ = MakeOrderKey(seed_, epoch, split_, "windows");
  block_permutation_.Reset(blocks_, MakeOrderKey(seed_, epoch, split_, "blocks"));
  short_block_at_ = blocks_ == 0 ? 0 : block_permutation_.PositionOf(blocks_ - 1);
  for (Window& window : windows_) window.number = std::numeric_limits<uint64_t>::max();
}

// The position in the epoch at which a window begins; for the number behind the last window, the
// end of the epoch.
uint64_t BlockWindowOrder::FirstOfWindow(uint64_t number) const {
  const uint64_t first_block = std::min(number * window_blocks_, blocks_);
  const uint64_t missing = short_block_at_ < first_block ? missing_ : 0;
  return first_block * block_records_ - missing;
}

const KeyedPermutation& BlockWindowOrder::PermutationOf(uint64_t number) {
  Window& window = windows_[number % windows_.size()];
  if (window.number != number) {
    window.permutation.Reset(FirstOfWindow(number + 1) - FirstOfWindow(number),
                             DeriveKey(key_, number));
    window.number = number;
  }
  return window.permutation;
}

// Record `in_window` of a window, counted block by block.
uint64_t BlockWindowOrder::RecordAt(uint64_t window, uint64_t in_window) const {
  const uint64_t first_block = window * window_blocks_;
  if (short_block_at_ >= first_block) {
    const uint64_t behind_short_block =
        (short_block_at_ - first_block + 1) * block_records_ - missing_;
    if (in_window >= behind_short_block) in_window += missing_;
  }
  const uint64_t block = block_permutation_.At(first_block + in_window / block_records_);
  return block * block_records_ + in_window % block_records_;
}

Status BlockWindowOrder::Fill(uint64_t first, uint64_t count, uint64_t* out) {
  SHARDMILL_CHECK(first <= records_ && count <= records_ - first);
  uint64_t window = first / (window_blocks_ * block_records_);
  while (count > 0) {
    // The short block may have moved the windows behind it by less than one window.
    while (FirstOfWindow(window + 1) <= first) ++window;
    const KeyedPermutation& permutation = PermutationOf(window);
    const uint64_t begin = first - FirstOfWindow(window);
    const uint64_t part = std::min(count, permutation.size() - begin);
    permutation.Fill(begin, part, out);
    for (uint64_t i = 0; i < part; ++i) out[i] = RecordAt(window, out[i]);
    first += part;
    count -= part;
    out += part;
  }
  return OkStatus();
}

}  // namespace shardmill
