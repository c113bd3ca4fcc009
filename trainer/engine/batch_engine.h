// Runs batches through the network, on the graphs of this rank and together with the other ranks.
//
// A global batch is shared by all ranks: each passes its own rows, those of SliceForRank
// (reader/epoch_order.h); perhaps none when a batch is scored, never when it trains. What comes
// back is of the whole global batch and the same bits on every rank. Not for concurrent use.
//
// Two engines. The rank engine has one graph: one part of the batch per rank, gradients reduced
// in buckets while backward runs. The micro-shard engine cuts the global batch into a fixed number
// of parts, each with a graph and a thread of its own, and adds everything along a fixed tree, so
// that the bits do not depend on the number of ranks or threads.
#pragma once

#include <functional>
#include <memory>

#include "reader/base/status.h"
#include "trainer/comm/communicator.h"
#include "trainer/data/batch_rows.h"
#include "trainer/evaluation/metrics.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/tensor.h"

namespace shardmill {

class DeviceOpTable;

struct BatchOutcome {
  LossResult loss;
  bool stop = false;  // some rank was asked to stop
};

class BatchEngine {
 public:
  virtual ~BatchEngine() = default;

  // Plans the memory for training on images of this shape, `n` of which are a global batch.
  // InvalidArgument when a batch is too small to share.
  virtual Status Prepare(const Shape& images) = 0;

  // One step up to the gradient: afterwards parameters().gradients() of the main graph holds that
  // of the mean loss over the global batch, on all ranks. `stop`: this rank was asked to stop.
  virtual Result<BatchOutcome> Train(const BatchRows& rows, bool stop) = 0;

  // Loss of the global batch; adds this rank's rows to `matrix`.
  virtual Result<BatchOutcome> Score(const BatchRows& rows, bool stop, ConfusionMatrix* matrix) = 0;

  // Time spent so far to bring rows to the input of the graphs.
  virtual double copied_seconds() const = 0;

  // To be called when parameters or statistics of the main graph were changed from outside.
  virtual void ParametersChanged() = 0;
};

// `graph` and `communicator` must outlive the engines.
//
// With `passes` above 1 a graph runs its rows of a batch in that many passes, one after the other,
// and adds up the gradients of the loss sums; these are divided once, by the weight of the global
// batch. That saves memory and gives the gradient of one pass but for rounding, except that batch
// norm takes the statistics, and hard example mining the hardest pixels, of a pass.
//
// `device`: the op table of the graph where that is a device; else null.
Result<std::unique_ptr<BatchEngine>> CreateRankEngine(Graph* graph, Communicator* communicator,
                                                      int passes = 1,
                                                      DeviceOpTable* device = nullptr);

// `make_graph` makes further graphs like `graph`. InvalidArgument unless the number of ranks
// divides `micro_shards`.
Result<std::unique_ptr<BatchEngine>> CreateMicroShardEngine(
    Graph* graph, const std::function<Result<std::unique_ptr<Graph>>()>& make_graph,
    Communicator* communicator, int micro_shards, int passes = 1);

}  // namespace shardmill
