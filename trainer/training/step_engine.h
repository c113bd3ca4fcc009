// Whole training steps: the gradient of a batch, its norm, the update of the weights.
//
// The host does a step when it is asked to. A device is asked for one step ahead: what it reports
// is the step before, and only Settle tells of the last one. The other ranks do the same: all
// ranks get the reports of the same steps from the same calls. Not for concurrent use.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/data/data_feed.h"
#include "trainer/graph/graph.h"

namespace shardmill {

struct StepReport {
  FeedBatch batch;
  uint64_t step = 0;  // of the run, counted from 0
  LossResult loss;    // of all ranks, as everything that follows
  double gradient_norm = 0;
  double learning_rate = 0;
  bool stop = false;        // some rank was asked to stop
  bool is_updated = false;  // the weights were changed by it
};

class StepEngine {
 public:
  // Looks at a step whose loss and gradient are known; an error ends the run. The host has not
  // changed the weights yet. A device has, unless loss or gradient are not finite.
  using Check = std::function<Status(const StepReport&)>;
  virtual ~StepEngine() = default;

  // What the feed should be like: memory of the batches, and who moves the rows.
  virtual void ShapeFeed(TrainingFeedOptions*) {}
  // Why there was no such memory, where a feed could not be opened for that; else OK.
  virtual Status feed_failure() const { return OkStatus(); }

  // Does step `step`, or has it done; the report of one step, if it is time for one. `stop`: this
  // rank was asked to stop.
  virtual Result<std::optional<StepReport>> Step(FeedBatch batch, uint64_t step, bool stop) = 0;
  // The report that is still due, if one is. Afterwards weights, moments and average are those
  // behind the last step, in the memory of the host.
  virtual Result<std::optional<StepReport>> Settle() = 0;
  // Time spent so far to bring batches to the input of the network; see StepTimes::copy_ms.
  virtual double copied_seconds() const = 0;
  // Steps that were asked for and not yet reported.
  virtual uint64_t pending() const = 0;
  // To be called when weights, moments or average were changed from outside; REQUIRES: settled.
  virtual Status StateChanged() = 0;
  // Why the steps are slower than they might be, as far as is known by now.
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace shardmill
