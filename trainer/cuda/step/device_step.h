// Training steps that run on a device, from the batch in pinned memory to the updated weights.
//
// A batch is copied into a slot of the device by a stream of its own (see input_path.h). The rest
// of a step runs on the stream of the graph: the input kernel (crop, flip, colours, normalisation),
// forward, loss from the labels as they are stored, backward with the sums over the ranks beside
// it, the norm of the gradient, and the update of weights, moments and average in one launch each.
// All numbers that change from step to step lie in one small block of device memory, so the step
// is captured as a graph where it can be (see step_graph.h) and launched as one.
//
// The host waits for nothing but the outcome of a step that it asks for, and asks one step late:
// the device always has work. With several ranks it also asks the others, before it enqueues a
// step, whether all of them can launch it as a graph. So what is wrong with a step is known when
// the next one is under way; a loss or gradient that is not finite stops the update of its step and
// of all later ones on the device itself.
//
// A step is Push, Enqueue, and Await at some time; at most kMostPending steps may be enqueued and
// not yet awaited. One thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "trainer/comm/gradient_buckets.h"
#include "trainer/cuda/comm/device_communicator.h"
#include "trainer/cuda/ops/device_op_table.h"
#include "trainer/cuda/runtime/input_path.h"
#include "trainer/cuda/runtime/step_graph.h"
#include "trainer/cuda/step/device_state.h"
#include "trainer/cuda/step/pass_sums.h"
#include "trainer/cuda/step/rank_norm_sums.h"
#include "trainer/cuda/step/step_block.h"
#include "trainer/cuda/step/step_passes.h"
#include "trainer/data/batch_rows.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/graph_step.h"
#include "trainer/optimization/optimizer.h"

namespace shardmill {

struct DeviceStepOptions {
  DeviceStateOptions state;
  double clip_norm = 0;
  int64_t batch_bytes = 0;  // of the largest batch that is pushed: images and labels
  int64_t rows = 0;         // likewise
  // What lies over the edges of the images where rows are moved.
  float outside = 0;
  int64_t outside_label = 0;
  // Into how many passes a batch is cut: forward and backward one after the other, gradients and
  // losses added up, one update.
  int passes = 1;
  bool capture = true;
};

struct DeviceBatch {
  BatchRows rows;  // memory of the host, pinned if the copy is to run by itself
  // What is done to each row; empty: nothing. Then images and labels get this height and width.
  std::vector<InputRow> moves;
  int64_t height = 0, width = 0;
};

struct DeviceOutcome {
  LossResult loss;  // of all ranks
  double gradient_norm = 0;
  bool stop = false;  // some rank was asked to stop
};

class DeviceStep {
 public:
  static constexpr int kMostPending = 2;

  // All that is passed must outlive the object. `ranks` connects the GPUs of all ranks for
  // ComputeStream(); null: there are no others. Unavailable when the memory does not suffice.
  static Result<std::unique_ptr<DeviceStep>> Create(Graph* graph, DeviceOpTable* ops,
                                                    DeviceCommunicator* ranks,
                                                    const DeviceStepOptions& options);
  ~DeviceStep();
  DeviceStep(const DeviceStep&) = delete;
  DeviceStep& operator=(const DeviceStep&) = delete;

  // The stream on which a graph computes.
  static StreamHandle ComputeStream(Graph* graph, DeviceOpTable* ops);

  // Starts the copy of a batch. `give_back` is called once when its memory may change, at the
  // latest when the step was awaited.
  Status Push(const DeviceBatch& batch, std::function<void()> give_back);
  // The step of the oldest batch that was pushed. `rate`: the learning rate.
  Status Enqueue(double rate, bool stop);
  // The outcome of the oldest step that was enqueued; waits for it.
  Result<DeviceOutcome> Await();
  int pending() const { return static_cast<int>(enqueued_ - awaited_); }

  // The weights' moments and average, which live on the device between the steps.
  DeviceState& state() { return *state_; }

  // Why steps run without a captured graph; empty: they do not.
  const std::string& note() const { return graphs_.note().empty() ? note_ : graphs_.note(); }
  int64_t graphs_launched() const { return graphs_.launched(); }

 private:
  // Of a pass among those of its step.
  struct PassPlace {
    bool is_first = true, is_last = true;
  };
  // What a batch is, beside its memory on the device.
  struct Pushed {
    BatchRows rows;
    bool moves = false;
    int64_t height = 0, width = 0;
  };
  DeviceStep(Graph* graph, DeviceOpTable* ops, DeviceCommunicator* ranks,
             const DeviceStepOptions& options);
  Status Start();
  Status StartRanks();
  Result<const InputRow*> KeepMoves(const std::vector<InputRow>& moves);
  static StepBatch Place(const Pushed& batch, const InputPath::DevicePieces& pieces);
  Status Upload(const Pushed& batch, double rate, bool stop);
  Status PlanPasses(const std::vector<StepPass>& passes);
  Status GrowMovedLabels(const StepPass& pass);
  std::string KeyOf(const Pushed& batch, const InputPath::DevicePieces& pieces) const;
  Status Run(const std::string& key, const std::vector<StepPass>& passes);
  bool HasPasses() const { return options_.passes > 1; }

  // The parts of a step, enqueued.
  Status EnqueueStep(const std::vector<StepPass>& passes);
  Status BeginPass(const StepPass& pass);
  Status EnqueueInput(const StepPass& pass);
  Status EnqueueForward();
  Status EnqueueLoss(const StepPass& pass);
  Status EnqueueLossOfPass(const LabelBatch& labels, std::vector<MemorySpan> reads);
  Status EnqueueBackward(const PassPlace& place);
  Status EnqueueGradientsDone(const std::vector<int>& parameters);
  Status EnqueueSums();
  Status EnqueueUpdate();
  Status SumOverRanks(double* values, int64_t count, std::string_view name);
  // Launches on the stream of the graph, with what it reads and writes for those who check it.
  Status Launch(const char* name, std::vector<MemorySpan> reads, std::vector<MemorySpan> writes,
                const std::function<Status()>& launch);

  MemorySpan Arena() const { return {step_.arena(), step_.arena_bytes()}; }

  Graph& graph_;
  DeviceOpTable& ops_;
  CudaRuntime& runtime_;
  DeviceCommunicator* ranks_;
  std::optional<RankNormSums> norm_sums_;
  DeviceStepOptions options_;
  GraphStep step_;
  StreamHandle stream_;
  std::unique_ptr<GradientBuckets> buckets_;
  std::unique_ptr<InputPath> input_;
  std::unique_ptr<DeviceState> state_;
  StepGraph graphs_;
  StepBlockRing block_;
  PassSums pass_sums_;
  DeviceBuffer window_sums_, moved_labels_;
  InputRow* pinned_moves_ = nullptr;  // kMoveRing batches
  std::deque<Pushed> pushed_;
  int64_t pushes_ = 0, enqueued_ = 0, awaited_ = 0;
  const void* arena_ = nullptr;  // that the graphs use
  std::string note_;
};

}  // namespace shardmill
