// A batch on a device, cut into the passes of a step.
//
// Pass `pass` of `passes` has rows [n pass / passes, n (pass + 1) / passes), on each rank of its
// own n rows: the passes of GradientPasses (trainer/engine/gradient_passes.h).
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/cuda/kernels/input.h"
#include "trainer/data/batch_rows.h"

namespace shardmill {

// All addresses are of the device, but for those of the lengths of sequences.
struct StepBatch {
  BatchRows rows;                   // as they are stored
  const InputRow* moves = nullptr;  // null: images and labels stay as they are
  int64_t height = 0, width = 0;    // that the network sees
};

struct StepPass {
  StepBatch batch;            // the rows of the pass; global_rows: of this pass on all ranks
  ImageBatch images;          // what the network sees of them; no data
  LabelBatch labels;          // what the loss takes
  bool moves_labels = false;  // then they have no data yet
};

// REQUIRES: at least `passes` rows. `ranks`: that share the batch.
std::vector<StepPass> CutPasses(const StepBatch& batch, int passes, int ranks);

}  // namespace shardmill
