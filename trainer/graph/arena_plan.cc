#include "trainer/graph/arena_plan.h"

#include <algorithm>
#include <numeric>

#include "reader/base/status.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

int ArenaPlan::Add(int64_t bytes, int first, int last) {
  SHARDMILL_CHECK(bytes >= 0 && first <= last);
  Block block;
  block.bytes = (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
  block.first = first;
  block.last = last;
  blocks_.push_back(block);
  return static_cast<int>(blocks_.size()) - 1;
}

void ArenaPlan::Extend(int block, int first, int last) {
  blocks_[block].first = std::min(blocks_[block].first, first);
  blocks_[block].last = std::max(blocks_[block].last, last);
}

int64_t ArenaPlan::LowestOffset(const Block& block, const std::vector<const Block*>& placed) const {
  int64_t offset = 0;
  for (const Block* other : placed) {  // in the order of their offsets
    if (other->last < block.first || block.last < other->first) continue;
    if (offset + block.bytes <= other->offset) break;
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

void ArenaPlan::Place() {
  std::vector<int> order(blocks_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return blocks_[a].bytes > blocks_[b].bytes; });
  std::vector<const Block*> placed;
  total_bytes_ = 0;
  for (const int index : order) {
    Block& block = blocks_[index];
    block.offset = LowestOffset(block, placed);
    total_bytes_ = std::max(total_bytes_, block.offset + block.bytes);
    const auto behind =
        std::upper_bound(placed.begin(), placed.end(), &block,
                         [](const Block* a, const Block* b) { return a->offset < b->offset; });
    placed.insert(behind, &block);
  }
}

}  // namespace shardmill
