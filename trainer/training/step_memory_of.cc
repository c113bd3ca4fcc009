#include "trainer/training/step_memory_of.h"

#include <algorithm>

#include "reader/epoch_order.h"
#include "trainer/cuda/ops/device_op_table.h"
#include "trainer/data/data_feed.h"
#include "trainer/data/input_augmentation.h"

namespace shardmill {
namespace {

// One row of labels as the feed makes them for training.
int64_t LabelBytesOf(const DataTask& task) {
  LabelBatch labels;
  labels.type = task.soft_field.empty() ? task.label_type : LabelType::kOneHotF32;
  labels.h = task.label_h;
  labels.w = task.label_w;
  labels.classes = static_cast<int64_t>(task.classes.size());
  return LabelRowBytes(labels);
}

}  // namespace

Result<StepMemoryRequest> StepMemoryRequestOf(const TrainSetup& setup, int64_t batch) {
  const RankLayout& layout = setup.communicator->layout();
  const RankSlice slice = SliceForRank(static_cast<uint64_t>(batch), layout.rank, layout.size);
  const DataTask moved = TrainingTask(setup.task, setup.augment);
  StepMemoryRequest request;
  request.rows = static_cast<int64_t>(slice.end - slice.begin);
  request.passes = setup.config.accumulate();
  request.ranks = layout.size;
  request.images = moved.image;
  request.images.n = 1;
  Shape stored = setup.task.image;
  if (setup.task.sequences) {
    ASSIGN_OR_RETURN(request.images.w,
                     LongestSequence(*setup.dataset, setup.task, setup.config.train_split()));
    stored.w = request.images.w;
  }
  stored.n = 1;
  // Rows come as they are stored, or as the loader has moved them.
  const int64_t sample = ImageTypeBytes(setup.task.image_type);
  const int64_t pixels = std::max(stored.Elements(), request.images.Elements());
  request.label_bytes = std::max(LabelBytesOf(setup.task), LabelBytesOf(moved));
  request.row_bytes = pixels * sample + request.label_bytes;
  if (setup.val_records > 0 && !setup.task.sequences && !setup.task.SizesVary()) {
    const RankSlice scored = SliceForRank(
        static_cast<uint64_t>(EvaluationBatch(batch, request.passes)), layout.rank, layout.size);
    request.evaluation = setup.task.image;
    request.evaluation.n = std::min(static_cast<int64_t>(scored.end - scored.begin),
                                    static_cast<int64_t>(setup.val_records));
    request.evaluation_row_bytes = stored.Elements() * sample + LabelBytesOf(setup.task);
  }
  ASSIGN_OR_RETURN(request.optimizer, OptimizerOptionsOf(setup.config));
  request.average = setup.config.ema() > 0;
  request.hard_pixels = setup.config.ohem() > 0;
  return request;
}

int64_t EvaluationBatch(int64_t batch, int passes) { return std::max<int64_t>(batch / passes, 1); }

Result<StepMemory> StepMemoryOf(const TrainSetup& setup, int64_t batch) {
  ASSIGN_OR_RETURN(const StepMemoryRequest request, StepMemoryRequestOf(setup, batch));
  return MeasureStep(setup.graph.get(), request);
}

Status CheckStepFits(const TrainSetup& setup, int64_t batch) {
  if (setup.device.device_ops == nullptr) return OkStatus();
  ASSIGN_OR_RETURN(const StepMemory memory, StepMemoryOf(setup, batch));
  ASSIGN_OR_RETURN(const int64_t free_bytes, setup.device.device_ops->runtime()->FreeBytes());
  return CheckFits(memory, batch / setup.communicator->size(), free_bytes);
}

}  // namespace shardmill
