#include "trainer/evaluation/evaluation.h"

#include <chrono>
#include <optional>
#include <vector>

#include "trainer/data/data_feed.h"

namespace shardmill {
namespace {

// The matrix of all ranks.
Result<ConfusionMatrix> SumMatrix(const ConfusionMatrix& own, Communicator* communicator) {
  std::vector<uint64_t> counts = own.counts();
  for (const uint64_t count : {own.ignored(), own.top_five_hits(), own.top_five_records()}) {
    counts.push_back(count);
  }
  RETURN_IF_ERROR(
      communicator->Sum(counts.data(), static_cast<int64_t>(counts.size()), "confusion matrix"));
  ConfusionMatrix sum(own.classes(), own.ignore());
  const size_t extra = counts.size() - 3;
  sum.AddIgnored(counts[extra]);
  sum.AddTopFive(counts[extra + 1], counts[extra + 2]);
  for (int label = 0; label < own.classes(); ++label) {
    for (int predicted = 0; predicted < own.classes(); ++predicted) {
      sum.AddCount(label, predicted, counts[label * own.classes() + predicted]);
    }
  }
  return sum;
}

class Evaluation {
 public:
  Evaluation(BatchEngine* engine, Communicator* communicator, const DataTask& task,
             const EvaluationOptions& options)
      : engine_(engine),
        communicator_(communicator),
        options_(options),
        result_{ConfusionMatrix(static_cast<int>(task.classes.size()), task.ignore), {}, 0, 0} {}

  Result<EvaluationResult> Run(DataFeed* feed) {
    for (;;) {
      ASSIGN_OR_RETURN(const std::optional<FeedBatch> batch, feed->Next());
      if (!batch) break;
      RETURN_IF_ERROR(Add(*batch));
      if (communicator_->size() == 1) RETURN_IF_ERROR(wish_);
    }
    // All ranks go on together, so a wish that came last is given up.
    ASSIGN_OR_RETURN(result_.matrix, SumMatrix(result_.matrix, communicator_));
    return std::move(result_);
  }

 private:
  Status Add(const FeedBatch& batch) {
    const auto outcome = engine_->Score(batch.rows(), !wish_.ok(), &result_.matrix);
    if (!outcome.ok()) {
      const std::vector<uint64_t>& records = batch.lease.records();
      if (records.empty()) return outcome.status();
      return outcome.status().WithContext("split '" + options_.split + "', batch from record " +
                                          std::to_string(records.front()));
    }
    if (outcome->stop) {
      return wish_.ok() ? CancelledError("another rank was asked to stop") : wish_;
    }
    result_.loss.loss_sum += outcome->loss.loss_sum;
    result_.loss.weight_sum += outcome->loss.weight_sum;
    result_.records += batch.lease.global_rows();
    if (options_.progress) wish_ = options_.progress(result_.records);
    return OkStatus();
  }

  BatchEngine* engine_;
  Communicator* communicator_;
  const EvaluationOptions& options_;
  EvaluationResult result_;
  Status wish_;  // to end, of this rank
};

}  // namespace

Result<EvaluationResult> Evaluate(BatchEngine* engine, Communicator* communicator,
                                  std::shared_ptr<const Dataset> dataset, const DataTask& task,
                                  const EvaluationOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(
      const std::unique_ptr<DataFeed> feed,
      DataFeed::OpenEvaluation(std::move(dataset), task, options.split, options.batch,
                               static_cast<uint32_t>(communicator->rank()),
                               static_cast<uint32_t>(communicator->size()), options.io));
  ASSIGN_OR_RETURN(EvaluationResult result,
                   Evaluation(engine, communicator, task, options).Run(feed.get()));
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace shardmill
