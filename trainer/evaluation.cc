#include "trainer/evaluation.h"

#include <chrono>
#include <optional>
#include <vector>

#include "trainer/data_feed.h"

namespace shardmill {
namespace {

// Predicts one batch into `predicted` and counts it.
template <typename ClassId>
Status Count(const FeedBatch& batch, Graph* graph, std::vector<ClassId>* predicted,
             ConfusionMatrix* matrix) {
  const int64_t pixels = batch.labels.n * batch.labels.h * batch.labels.w;
  predicted->resize(pixels);
  RETURN_IF_ERROR(graph->Predict(batch.labels.type, predicted->data()));
  return matrix->Add(static_cast<const ClassId*>(batch.labels.data), predicted->data(), pixels);
}

class Evaluator {
 public:
  Evaluator(Graph* graph, const DataTask& task)
      : graph_(graph),
        result_{ConfusionMatrix(static_cast<int>(task.classes.size()), task.ignore), {}, 0, 0} {}

  Status Add(const FeedBatch& batch) {
    RETURN_IF_ERROR(graph_->Forward(batch.images, Phase::kEvaluation));
    ASSIGN_OR_RETURN(const LossResult loss, graph_->Loss(batch.labels));
    result_.loss.loss_sum += loss.loss_sum;
    result_.loss.weight_sum += loss.weight_sum;
    result_.records += batch.lease.rows();
    return batch.labels.type == LabelType::kIndexU8
               ? Count(batch, graph_, &predicted_u8_, &result_.matrix)
               : Count(batch, graph_, &predicted_u16_, &result_.matrix);
  }

  EvaluationResult& result() { return result_; }

 private:
  Graph* graph_;
  EvaluationResult result_;
  std::vector<uint8_t> predicted_u8_;
  std::vector<uint16_t> predicted_u16_;
};

}  // namespace

Result<EvaluationResult> Evaluate(Graph* graph, std::shared_ptr<const Dataset> dataset,
                                  const DataTask& task, const EvaluationOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(
      const std::unique_ptr<DataFeed> feed,
      DataFeed::OpenEvaluation(std::move(dataset), task, options.split, options.batch));
  Evaluator evaluator(graph, task);
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<FeedBatch> batch, feed->Next());
    if (!batch) break;
    const uint64_t first = batch->lease.records().front();
    RETURN_IF_ERROR(evaluator.Add(*batch).WithContext(
        "split '" + options.split + "', batch from record " + std::to_string(first)));
    if (options.progress) RETURN_IF_ERROR(options.progress(evaluator.result().records));
  }
  EvaluationResult result = std::move(evaluator.result());
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace shardmill
