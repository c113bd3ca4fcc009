#include "trainer/engine/row_scorer.h"

namespace shardmill {
namespace {

template <typename ClassId>
Status CountOnHost(const LabelBatch& labels, Graph* graph, ClassId* predicted,
                   ConfusionMatrix* matrix) {
  RETURN_IF_ERROR(graph->Predict(labels.type, predicted));
  return matrix->Add(static_cast<const ClassId*>(labels.data), predicted,
                     labels.n * labels.h * labels.w);
}

template <typename ClassId>
void CountTopFive(const LabelBatch& labels, const float* logits, ConfusionMatrix* matrix) {
  for (int64_t n = 0; n < labels.n; ++n) {
    matrix->AddTopFive(static_cast<const ClassId*>(labels.data)[n], logits + n * matrix->classes());
  }
}

}  // namespace

Status RowScorer::Count(Graph* graph, const LabelBatch& labels, ConfusionMatrix* matrix) {
  if (confusion_) return confusion_->Count(graph, labels, matrix);
  predicted_.resize(labels.n * labels.h * labels.w);
  return labels.type == LabelType::kIndexU8
             ? CountOnHost(labels, graph, reinterpret_cast<uint8_t*>(predicted_.data()), matrix)
             : CountOnHost(labels, graph, predicted_.data(), matrix);
}

Result<LossResult> RowScorer::Score(Graph* graph, const BatchRows& rows, ConfusionMatrix* matrix) {
  if (rows.labels.n == 0) return LossResult();
  if (rows.row_sizes == nullptr) return ScoreTogether(graph, rows, matrix);
  LossResult sum;
  for (int64_t row = 0; row < rows.labels.n; ++row) {
    ASSIGN_OR_RETURN(const LossResult loss,
                     ScoreTogether(graph, SelectRows(rows, row, row + 1), matrix));
    sum.loss_sum += loss.loss_sum;
    sum.weight_sum += loss.weight_sum;
  }
  return sum;
}

Result<LossResult> RowScorer::ScoreTogether(Graph* graph, const BatchRows& rows,
                                            ConfusionMatrix* matrix) {
  RETURN_IF_ERROR(graph->Forward(rows.images, Phase::kEvaluation));
  ASSIGN_OR_RETURN(const LossResult loss, graph->Loss(rows.labels));
  RETURN_IF_ERROR(Count(graph, rows.labels, matrix));
  if (rows.labels.h * rows.labels.w > 1) return loss;
  logits_.resize(graph->logits_shape().Elements());
  RETURN_IF_ERROR(graph->ReadLogits(logits_.data()));
  rows.labels.type == LabelType::kIndexU8
      ? CountTopFive<uint8_t>(rows.labels, logits_.data(), matrix)
      : CountTopFive<uint16_t>(rows.labels, logits_.data(), matrix);
  return loss;
}

}  // namespace shardmill
