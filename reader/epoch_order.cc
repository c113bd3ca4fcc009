#include "reader/epoch_order.h"

#include "reader/base/status.h"

namespace shardmill {

RankSlice SliceForRank(uint64_t batch_records, uint32_t rank, uint32_t ranks) {
  SHARDMILL_CHECK(rank < ranks && batch_records >> 32 == 0);
  return {batch_records * rank / ranks, batch_records * (rank + 1) / ranks};
}

}  // namespace shardmill
