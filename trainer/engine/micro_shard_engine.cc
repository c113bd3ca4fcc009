// A fixed number of micro-shards, a graph and a thread for each; see batch_engine.h.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/comm/fixed_tree.h"
#include "trainer/comm/micro_shard_sums.h"
#include "trainer/engine/batch_engine.h"
#include "trainer/engine/gradient_passes.h"
#include "trainer/engine/row_scorer.h"
#include "trainer/engine/shard_threads.h"

namespace shardmill {
namespace {

// The sums of batch norm, over all micro-shards.
class ShardSums final : public SharedSums {
 public:
  ShardSums(MicroShardSums* sums, ShardThreads* threads, int local_shard)
      : sums_(sums), threads_(threads), local_shard_(local_shard) {}
  Status Sum(double* values, int64_t count, std::string_view name) override {
    const ShardThreads::Pause pause(threads_);
    return sums_->Sum(local_shard_, values, count, name);
  }

 private:
  MicroShardSums* sums_;
  ShardThreads* threads_;
  int local_shard_;
};

class MicroShardEngine final : public BatchEngine {
 public:
  MicroShardEngine(Graph* graph, FixedTree tree, int passes)
      : tree_(std::move(tree)), sums_(&tree_), threads_(tree_.local_shards()) {
    shards_.reserve(tree_.local_shards());
    for (int i = 0; i < tree_.local_shards(); ++i) {
      shards_.emplace_back(i == 0 ? graph : nullptr, &sums_, &threads_, i, passes);
    }
  }
  ~MicroShardEngine() override {
    // The main graph may live on and must not use the sums of this engine.
    if (!MainGraph()->ShareBatches(nullptr).ok()) return;
  }
  MicroShardEngine(const MicroShardEngine&) = delete;
  MicroShardEngine& operator=(const MicroShardEngine&) = delete;

  Status Start(const std::function<Result<std::unique_ptr<Graph>>()>& make_graph);
  Status Prepare(const Shape& images) override;
  Result<BatchOutcome> Train(const BatchRows& rows, bool stop) override;
  Result<BatchOutcome> Score(const BatchRows& rows, bool stop, ConfusionMatrix* matrix) override;
  double copied_seconds() const override;
  void ParametersChanged() override;

 private:
  struct Shard {
    Shard(Graph* graph, MicroShardSums* sums, ShardThreads* threads, int number, int passes)
        : graph(graph), sums(sums, threads, number), passes(passes) {}
    Graph* graph;
    std::unique_ptr<Graph> own_graph;
    ShardSums sums;
    GradientPasses passes;
    RowScorer scorer;
    BatchOutcome outcome;
    std::optional<ConfusionMatrix> matrix;
  };
  struct RowRange {
    int64_t begin = 0;
    int64_t end = 0;
  };

  Graph* MainGraph() const { return shards_.front().graph; }
  RowRange RangeOf(int64_t global_rows, int local_shard) const;
  BatchRows RowsOf(const BatchRows& rows, int local_shard) const;
  // Runs `body` for every micro-shard of this rank at once. One that fails wakes the others.
  Status ForEachShard(const std::function<Status(int local_shard)>& body);
  Status TrainShard(int local_shard, const BatchRows& rows, bool stop);
  Status TrainShardInPasses(int local_shard, const BatchRows& rows, bool stop);
  Status ScoreShard(int local_shard, const BatchRows& rows, bool stop);

  FixedTree tree_;
  MicroShardSums sums_;
  std::vector<Shard> shards_;
  std::vector<float*> gradient_rows_;
  ShardThreads threads_;
};

Status MicroShardEngine::Start(const std::function<Result<std::unique_ptr<Graph>>()>& make_graph) {
  for (Shard& shard : shards_) {
    if (shard.graph == nullptr) {
      ASSIGN_OR_RETURN(shard.own_graph, make_graph());
      shard.graph = shard.own_graph.get();
    }
    RETURN_IF_ERROR(shard.graph->ShareBatches(&shard.sums));
  }
  ParametersChanged();
  return OkStatus();
}

// Micro-shard s has rows [floor(G s / M), floor(G (s + 1) / M)) of a global batch of G. Those of
// this rank begin where SliceForRank begins, because its first micro-shard is M r / W.
MicroShardEngine::RowRange MicroShardEngine::RangeOf(int64_t global_rows, int local_shard) const {
  const int64_t shards = tree_.micro_shards();
  const int64_t first = tree_.first_shard();
  const int64_t shard = first + local_shard;
  const int64_t origin = global_rows * first / shards;
  return {global_rows * shard / shards - origin, global_rows * (shard + 1) / shards - origin};
}

BatchRows MicroShardEngine::RowsOf(const BatchRows& rows, int local_shard) const {
  const RowRange range = RangeOf(rows.global_rows, local_shard);
  return SelectRows(rows, range.begin, range.end);
}

Status MicroShardEngine::ForEachShard(const std::function<Status(int)>& body) {
  return threads_.Run([&](int local_shard) {
    const Status status = body(local_shard);
    if (!status.ok()) sums_.Fail(status);
    return status;
  });
}

Status MicroShardEngine::Prepare(const Shape& images) {
  if (images.n < tree_.micro_shards()) {
    return InvalidArgumentError("a batch of " + std::to_string(images.n) + " cannot be cut into " +
                                std::to_string(tree_.micro_shards()) +
                                " micro-shards; use a larger --batch or fewer --micro-shards");
  }
  RETURN_IF_ERROR(shards_.front().passes.Check(images.n, tree_.micro_shards()));
  // In the threads that will run them: the operations are made for their number of threads.
  return ForEachShard([&](int local_shard) {
    const RowRange range = RangeOf(images.n, local_shard);
    Shape own = images;
    own.n = range.end - range.begin;
    return shards_[local_shard].passes.Prepare(shards_[local_shard].graph, own);
  });
}

Status MicroShardEngine::TrainShard(int local_shard, const BatchRows& rows, bool stop) {
  Shard& shard = shards_[local_shard];
  if (shard.passes.passes() > 1) return TrainShardInPasses(local_shard, rows, stop);
  RETURN_IF_ERROR(shard.graph->Forward(rows.images, Phase::kTraining));
  // The weight first: the gradient is that of the mean over the global batch.
  ASSIGN_OR_RETURN(double total_weight, shard.graph->LabelWeight(rows.labels));
  RETURN_IF_ERROR(shard.sums.Sum(&total_weight, 1, "weight of the labels"));
  ASSIGN_OR_RETURN(const LossResult loss, shard.graph->Loss(rows.labels, total_weight));
  RETURN_IF_ERROR(shard.graph->Backward());
  double numbers[2] = {loss.loss_sum, stop ? 1.0 : 0.0};
  RETURN_IF_ERROR(shard.sums.Sum(numbers, 2, "loss"));
  shard.outcome.loss = {numbers[0], total_weight};
  shard.outcome.stop = numbers[1] > 0;
  return OkStatus();
}

Status MicroShardEngine::TrainShardInPasses(int local_shard, const BatchRows& rows, bool stop) {
  Shard& shard = shards_[local_shard];
  ASSIGN_OR_RETURN(const LossResult loss, shard.passes.Run(shard.graph, rows, nullptr));
  double numbers[3] = {loss.loss_sum, loss.weight_sum, stop ? 1.0 : 0.0};
  RETURN_IF_ERROR(shard.sums.Sum(numbers, 3, "loss"));
  shard.outcome = {{numbers[0], numbers[1]}, numbers[2] > 0};
  return OkStatus();
}

Result<BatchOutcome> MicroShardEngine::Train(const BatchRows& rows, bool stop) {
  RETURN_IF_ERROR(ForEachShard(
      [&](int local_shard) { return TrainShard(local_shard, RowsOf(rows, local_shard), stop); }));
  gradient_rows_.clear();
  for (Shard& shard : shards_) gradient_rows_.push_back(shard.graph->parameters().gradients());
  ParameterStore& store = MainGraph()->parameters();
  RETURN_IF_ERROR(
      tree_.Sum(gradient_rows_.data(), store.parameter_elements(), store.gradients(), "gradients"));
  const Shard& first = shards_.front();
  if (first.passes.passes() > 1) DivideGradients(first.outcome.loss.weight_sum, &store);
  return shards_.front().outcome;
}

Status MicroShardEngine::ScoreShard(int local_shard, const BatchRows& rows, bool stop) {
  Shard& shard = shards_[local_shard];
  ASSIGN_OR_RETURN(const LossResult loss, shard.scorer.Score(shard.graph, rows, &*shard.matrix));
  double numbers[3] = {loss.loss_sum, loss.weight_sum, stop ? 1.0 : 0.0};
  RETURN_IF_ERROR(shard.sums.Sum(numbers, 3, "loss of an evaluation batch"));
  shard.outcome = {{numbers[0], numbers[1]}, numbers[2] > 0};
  return OkStatus();
}

Result<BatchOutcome> MicroShardEngine::Score(const BatchRows& rows, bool stop,
                                             ConfusionMatrix* matrix) {
  for (Shard& shard : shards_) shard.matrix.emplace(matrix->classes(), matrix->ignore());
  RETURN_IF_ERROR(ForEachShard(
      [&](int local_shard) { return ScoreShard(local_shard, RowsOf(rows, local_shard), stop); }));
  for (const Shard& shard : shards_) matrix->Merge(*shard.matrix);
  return shards_.front().outcome;
}

// As many at a time as compute.
double MicroShardEngine::copied_seconds() const {
  double sum = 0;
  for (const Shard& shard : shards_) sum += shard.graph->copied_seconds();
  return sum / threads_.at_once();
}

void MicroShardEngine::ParametersChanged() {
  ParameterStore& main = MainGraph()->parameters();
  for (Shard& shard : shards_) {
    ParameterStore& store = shard.graph->parameters();
    if (&store == &main) continue;
    std::copy_n(main.values(), main.parameter_elements(), store.values());
    std::copy_n(main.running_statistics(), main.statistic_elements(), store.running_statistics());
  }
}

}  // namespace

Result<std::unique_ptr<BatchEngine>> CreateMicroShardEngine(
    Graph* graph, const std::function<Result<std::unique_ptr<Graph>>()>& make_graph,
    Communicator* communicator, int micro_shards, int passes) {
  ASSIGN_OR_RETURN(FixedTree tree, FixedTree::Create(communicator, micro_shards));
  auto engine = std::make_unique<MicroShardEngine>(graph, std::move(tree), passes);
  RETURN_IF_ERROR(engine->Start(make_graph));
  return Result<std::unique_ptr<BatchEngine>>(std::move(engine));
}

}  // namespace shardmill
