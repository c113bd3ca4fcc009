// Watches the loss of each step: one that is not finite ends the run, one that stands out from
// those before is reported, with the records of its batch. All ranks call it alike and come to the
// same verdict. Not for concurrent use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/data/data_feed.h"
#include "trainer/graph/graph.h"
#include "trainer/logs/run_events.h"
#include "trainer/optimization/loss_outliers.h"
#include "trainer/training/train_setup.h"

namespace shardmill {

class BatchGuard {
 public:
  // `setup` must outlive the guard.
  explicit BatchGuard(TrainSetup* setup);

  // Of the step behind those that the progress counts, before it changes a weight. InvalidArgument
  // on all ranks when loss or gradient is not finite; the batch is kept in a file then.
  Status CheckFinite(const FeedBatch& batch, const LossResult& loss, double gradient_norm) const;

  // Of a finite step, likewise. With --outlier-action dump or stop the batch is kept in a file;
  // with stop the event is an error on all ranks.
  // `is_updated`: the step has changed the weights already.
  Result<std::optional<OutlierEvent>> CheckOutlier(const FeedBatch& batch, const LossResult& loss,
                                                   bool is_updated);

 private:
  Result<std::vector<std::string>> RecordsOfAllRanks(const FeedBatch& batch) const;
  // The path of the file; empty when it could not be written.
  std::string Dump(const FeedBatch& batch) const;

  TrainSetup& setup_;
  LossOutliers outliers_;
  int dumps_ = 0;
};

// "the loss of step 17, 8.2, is 6.5 standard deviations above …", with the records of the batch.
std::string OutlierText(const OutlierEvent& event);

// "17 (train/0017.png)": the number in the split and the key, which may be unreadable.
std::vector<std::string> RecordNames(const Dataset::Split& split,
                                     const std::vector<uint64_t>& records);

}  // namespace shardmill
