// The loop of a training run: steps, evaluations, checkpoints, logs.
//
// After each epoch OUTPUT/last.ckpt is written, while the next one begins, and OUTPUT/best.ckpt
// when the score of the evaluation is the best so far. SIGINT or SIGTERM stops the run after the
// step that is running, with a checkpoint from which --resume goes on bit for bit. A loss or
// gradient that is not finite stops the run before it can change a weight; the last checkpoint
// stays as it is.
//
// A loss that stands out is reported (see batch_guard.h). Rank 0 keeps the logs (see run_log.h)
// and, where it is asked for, writes the trace of all ranks at the end (see run_trace.h).
//
// With several ranks all run the same loop in step; rank 0 alone writes files and messages, and a
// signal to any rank stops all behind the same step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reader/base/status.h"
#include "trainer/evaluation/metrics.h"
#include "trainer/logs/console.h"
#include "trainer/logs/run_events.h"
#include "trainer/training/train_setup.h"

namespace shardmill {

struct TrainSummary : StepTimes {
  uint64_t steps = 0;        // of the whole run
  uint64_t first_steps = 0;  // steps that were done before this process
  uint64_t epochs = 0;       // complete
  bool complete = false;     // false: stopped by --limit-steps
  std::optional<double> best_score;
  uint64_t best_epoch = 0;  // counted from 1
  std::string weights_hash;
  Status trace;  // how writing the trace went; the run is done whatever it says
  // Of the steps of this process, as their times.
  int64_t images = 0;
  double seconds = 0;  // with evaluations and checkpoints
};

// Runs what `setup` describes to its end, which replaces what the output folder holds, or to the
// interruption (Cancelled, on all ranks).
Result<TrainSummary> Train(TrainSetup* setup, Console* console);

}  // namespace shardmill
