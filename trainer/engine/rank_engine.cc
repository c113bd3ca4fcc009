// One graph per rank; see batch_engine.h.
#include <string>
#include <utility>
#include <vector>

#include "reader/epoch_order.h"
#include "trainer/comm/gradient_buckets.h"
#include "trainer/engine/batch_engine.h"
#include "trainer/engine/gradient_passes.h"
#include "trainer/engine/row_scorer.h"

namespace shardmill {
namespace {

// The sums of batch norm, over all ranks.
class RankSums final : public SharedSums {
 public:
  explicit RankSums(Communicator* communicator) : communicator_(communicator) {}
  Status Sum(double* values, int64_t count, std::string_view name) override {
    return communicator_->Sum(values, count, name);
  }

 private:
  Communicator* communicator_;
};

class RankEngine final : public BatchEngine {
 public:
  RankEngine(Graph* graph, Communicator* communicator, int passes, DeviceOpTable* device)
      : graph_(graph),
        communicator_(communicator),
        sums_(communicator),
        passes_(passes),
        scorer_(device) {}
  ~RankEngine() override {
    // The graph may live on and must not use the sums of this engine.
    if (IsShared() && !graph_->ShareBatches(nullptr).ok()) return;
  }
  RankEngine(const RankEngine&) = delete;
  RankEngine& operator=(const RankEngine&) = delete;

  Status Start();
  Status Prepare(const Shape& images) override;
  Result<BatchOutcome> Train(const BatchRows& rows, bool stop) override;
  Result<BatchOutcome> Score(const BatchRows& rows, bool stop, ConfusionMatrix* matrix) override;
  double copied_seconds() const override { return graph_->copied_seconds(); }
  void ParametersChanged() override { changed_ = graph_->parameters().NarrowValues(); }

 private:
  bool IsShared() const { return communicator_->size() > 1; }
  Result<BatchOutcome> TrainAlone(const BatchRows& rows, bool stop);
  Result<BatchOutcome> TrainInPasses(const BatchRows& rows, bool stop);

  Graph* graph_;
  Communicator* communicator_;
  RankSums sums_;
  GradientPasses passes_;
  std::unique_ptr<GradientBuckets> buckets_;
  Status changed_;  // what became of the last change of the parameters
  RowScorer scorer_;
};

Status RankEngine::Start() {
  if (!IsShared()) return OkStatus();
  RETURN_IF_ERROR(graph_->ShareBatches(&sums_));
  ParameterStore& store = graph_->parameters();
  std::vector<GradientRange> ranges;
  for (const ParameterInfo& info : store.parameters()) {
    ranges.push_back({info.offset, info.offset + info.elements});
  }
  ASSIGN_OR_RETURN(buckets_, GradientBuckets::Create(communicator_, store.gradients(),
                                                     store.parameter_elements(), ranges, {}));
  return OkStatus();
}

Status RankEngine::Prepare(const Shape& images) {
  const RankSlice slice = SliceForRank(images.n, communicator_->rank(), communicator_->size());
  if (images.n < communicator_->size()) {
    return InvalidArgumentError("a batch of " + std::to_string(images.n) + " for " +
                                std::to_string(communicator_->size()) +
                                " ranks; --batch must give each rank one image at least");
  }
  RETURN_IF_ERROR(passes_.Check(images.n, communicator_->size()));
  Shape own = images;
  own.n = static_cast<int64_t>(slice.end - slice.begin);
  return passes_.Prepare(graph_, own);
}

Result<BatchOutcome> RankEngine::TrainAlone(const BatchRows& rows, bool stop) {
  RETURN_IF_ERROR(graph_->Forward(rows.images, Phase::kTraining));
  BatchOutcome outcome;
  ASSIGN_OR_RETURN(outcome.loss, graph_->Loss(rows.labels));
  RETURN_IF_ERROR(graph_->Backward());
  outcome.stop = stop;
  return outcome;
}

Result<BatchOutcome> RankEngine::TrainInPasses(const BatchRows& rows, bool stop) {
  Graph::GradientDone done;
  if (IsShared()) done = [this](int parameter) { return buckets_->MarkFinal(parameter); };
  ASSIGN_OR_RETURN(const LossResult loss, passes_.Run(graph_, rows, done));
  double numbers[3] = {loss.loss_sum, loss.weight_sum, stop ? 1.0 : 0.0};
  if (IsShared()) {
    RETURN_IF_ERROR(buckets_->Finish());
    RETURN_IF_ERROR(communicator_->Sum(numbers, 3, "loss"));
  }
  DivideGradients(numbers[1], &graph_->parameters());
  return BatchOutcome{{numbers[0], numbers[1]}, numbers[2] > 0};
}

Result<BatchOutcome> RankEngine::Train(const BatchRows& rows, bool stop) {
  RETURN_IF_ERROR(changed_);
  if (passes_.passes() > 1) return TrainInPasses(rows, stop);
  if (!IsShared()) return TrainAlone(rows, stop);
  RETURN_IF_ERROR(graph_->Forward(rows.images, Phase::kTraining));
  // The weight first: the gradient is that of the mean over all ranks.
  double numbers[3] = {};  // loss, weight, ranks that were asked to stop
  ASSIGN_OR_RETURN(numbers[1], graph_->LabelWeight(rows.labels));
  RETURN_IF_ERROR(communicator_->Sum(&numbers[1], 1, "weight of the labels"));
  ASSIGN_OR_RETURN(const LossResult loss, graph_->Loss(rows.labels, numbers[1]));
  numbers[0] = loss.loss_sum;
  numbers[2] = stop ? 1 : 0;
  const double total_weight = std::exchange(numbers[1], 0);
  RETURN_IF_ERROR(
      graph_->Backward([this](int parameter) { return buckets_->MarkFinal(parameter); }));
  RETURN_IF_ERROR(buckets_->Finish());
  RETURN_IF_ERROR(communicator_->Sum(numbers, 3, "loss"));
  BatchOutcome outcome;
  outcome.loss = {numbers[0], total_weight};
  outcome.stop = numbers[2] > 0;
  return outcome;
}

Result<BatchOutcome> RankEngine::Score(const BatchRows& rows, bool stop, ConfusionMatrix* matrix) {
  RETURN_IF_ERROR(changed_);
  ASSIGN_OR_RETURN(const LossResult loss, scorer_.Score(graph_, rows, matrix));
  double numbers[3] = {loss.loss_sum, loss.weight_sum, stop ? 1.0 : 0.0};
  RETURN_IF_ERROR(communicator_->Sum(numbers, 3, "loss of an evaluation batch"));
  return BatchOutcome{{numbers[0], numbers[1]}, numbers[2] > 0};
}

}  // namespace

Result<std::unique_ptr<BatchEngine>> CreateRankEngine(Graph* graph, Communicator* communicator,
                                                      int passes, DeviceOpTable* device) {
  auto engine = std::make_unique<RankEngine>(graph, communicator, passes, device);
  RETURN_IF_ERROR(engine->Start());
  return Result<std::unique_ptr<BatchEngine>>(std::move(engine));
}

}  // namespace shardmill
