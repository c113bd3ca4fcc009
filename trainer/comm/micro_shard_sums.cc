#include "trainer/comm/micro_shard_sums.h"

#include <algorithm>
#include <string>

namespace shardmill {

MicroShardSums::MicroShardSums(FixedTree* tree)
    : tree_(tree), rows_(tree->local_shards()), row_addresses_(tree->local_shards()) {}

Status MicroShardSums::Sum(int local_shard, double* values, int64_t count, std::string_view name) {
  SHARDMILL_CHECK(local_shard >= 0 && local_shard < tree_->local_shards());
  std::unique_lock<std::mutex> lock(mutex_);
  if (!failure_.ok()) return failure_;
  if (arrived_ == 0) {
    count_ = count;
    // Never smaller: a thread of the last round may still have to copy its sum.
    sum_.resize(std::max<size_t>(sum_.size(), count));
  } else if (count != count_) {
    failure_ = InternalError(std::string(name) + ": micro-shards bring " + std::to_string(count_) +
                             " and " + std::to_string(count) + " values");
    round_ended_.notify_all();
    return failure_;
  }
  rows_[local_shard].assign(values, values + count);
  row_addresses_[local_shard] = rows_[local_shard].data();
  const uint64_t round = round_;
  if (++arrived_ == tree_->local_shards()) {
    // The others wait for this thread, so it may hold the lock while it talks to other ranks.
    const Status status = tree_->Sum(row_addresses_.data(), count_, sum_.data(), name);
    if (!status.ok()) failure_ = status;
    arrived_ = 0;
    ++round_;
    round_ended_.notify_all();
  } else {
    round_ended_.wait(lock, [&] { return round_ != round || !failure_.ok(); });
  }
  if (!failure_.ok()) return failure_;
  // The next round cannot begin to change sum_ before every thread has come again.
  std::copy_n(sum_.data(), count, values);
  return OkStatus();
}

void MicroShardSums::Fail(const Status& failure) {
  SHARDMILL_CHECK(!failure.ok());
  std::lock_guard<std::mutex> lock(mutex_);
  if (failure_.ok()) failure_ = failure;
  round_ended_.notify_all();
}

}  // namespace shardmill
