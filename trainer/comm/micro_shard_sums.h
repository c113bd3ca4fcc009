// Sums over all micro-shards, asked for by the threads that work on them.
//
// A rank that has several micro-shards runs one thread for each. Where all of them need a common
// number in the middle of their work (the statistics of a batch norm) each brings its own values
// and gets the sum over all micro-shards of all ranks, added along the fixed tree. All threads of
// all ranks make the same calls in the same order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "trainer/comm/fixed_tree.h"

namespace shardmill {

class MicroShardSums {
 public:
  // The tree must outlive this object, and no other thread may use it or its communicator while
  // a sum is under way.
  explicit MicroShardSums(FixedTree* tree);
  MicroShardSums(const MicroShardSums&) = delete;
  MicroShardSums& operator=(const MicroShardSums&) = delete;

  // Called by one thread for each micro-shard of this rank, `local_shard` from 0. Blocks until all
  // have come; replaces values[i] by its sum. The last one to come talks to the other ranks.
  Status Sum(int local_shard, double* values, int64_t count, std::string_view name);

  // A thread that gives up wakes the others: their calls, now and later, return `failure`.
  void Fail(const Status& failure);

 private:
  FixedTree* tree_;
  std::mutex mutex_;
  std::condition_variable round_ended_;
  uint64_t round_ = 0;
  int arrived_ = 0;
  int64_t count_ = 0;
  std::vector<std::vector<double>> rows_;  // one per micro-shard
  std::vector<double*> row_addresses_;
  std::vector<double> sum_;
  Status failure_;
};

}  // namespace shardmill
