#include "trainer/evaluation/metrics.h"

#include <string>

namespace shardmill {

ConfusionMatrix::ConfusionMatrix(int classes, std::optional<uint32_t> ignore)
    : classes_(classes), ignore_(ignore), counts_(static_cast<size_t>(classes) * classes, 0) {
  SHARDMILL_CHECK(classes > 0);
}

Status WrongLabel(uint32_t label, int classes) {
  return DataLossError("label value " + std::to_string(label) + " is neither a class (0 to " +
                       std::to_string(classes - 1) + ") nor the ignore value");
}

template <typename ClassId>
Status ConfusionMatrix::Add(const ClassId* labels, const ClassId* predicted, int64_t pixels) {
  const auto classes = static_cast<uint32_t>(classes_);
  for (int64_t i = 0; i < pixels; ++i) {
    const uint32_t label = labels[i];
    if (ignore_ && label == *ignore_) {
      ++ignored_;
      continue;
    }
    if (label >= classes) {
      return WrongLabel(label, classes_);
    }
    const uint32_t prediction = predicted[i];
    if (prediction >= classes) {
      return InternalError("prediction " + std::to_string(prediction) + " is not a class");
    }
    ++counts_[static_cast<size_t>(label) * classes + prediction];
  }
  return OkStatus();
}

template Status ConfusionMatrix::Add(const uint8_t*, const uint8_t*, int64_t);
template Status ConfusionMatrix::Add(const uint16_t*, const uint16_t*, int64_t);

template <typename ClassId>
void ConfusionMatrix::AddTopFive(ClassId label, const float* scores) {
  if ((ignore_ && label == *ignore_) || label >= static_cast<uint32_t>(classes_)) return;
  int better = 0;
  for (int k = 0; k < classes_; ++k) {
    // Of equals the first counts as the more likely one, as for predictions.
    better += scores[k] > scores[label] || (scores[k] == scores[label] && k < label);
  }
  AddTopFive(better < 5 ? 1 : 0, 1);
}

template void ConfusionMatrix::AddTopFive(uint8_t, const float*);
template void ConfusionMatrix::AddTopFive(uint16_t, const float*);

void ConfusionMatrix::AddCount(int label, int predicted, uint64_t count) {
  SHARDMILL_CHECK(label >= 0 && label < classes_ && predicted >= 0 && predicted < classes_);
  counts_[static_cast<size_t>(label) * classes_ + predicted] += count;
}

void ConfusionMatrix::Merge(const ConfusionMatrix& other) {
  SHARDMILL_CHECK(other.classes_ == classes_);
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  ignored_ += other.ignored_;
  AddTopFive(other.top_five_hits_, other.top_five_records_);
}

namespace {

std::optional<double> Ratio(uint64_t part, uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::optional<double> MeanOfExisting(const std::vector<std::optional<double>>& values) {
  double sum = 0;
  int count = 0;
  for (const auto& value : values) {
    if (!value) continue;
    sum += *value;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

}  // namespace

Scores ComputeScores(const ConfusionMatrix& matrix) {
  const int classes = matrix.classes();
  std::vector<uint64_t> labelled(classes, 0);
  std::vector<uint64_t> predicted(classes, 0);
  uint64_t correct = 0;
  uint64_t total = 0;
  for (int row = 0; row < classes; ++row) {
    for (int column = 0; column < classes; ++column) {
      labelled[row] += matrix.count(row, column);
      predicted[column] += matrix.count(row, column);
    }
    correct += matrix.count(row, row);
    total += labelled[row];
  }
  Scores scores;
  scores.pixel_accuracy = Ratio(correct, total);
  scores.top_five_accuracy = Ratio(matrix.top_five_hits(), matrix.top_five_records());
  for (int k = 0; k < classes; ++k) {
    const uint64_t hit = matrix.count(k, k);
    scores.class_accuracy.push_back(Ratio(hit, labelled[k]));
    scores.class_iou.push_back(Ratio(hit, labelled[k] + predicted[k] - hit));
  }
  scores.mean_accuracy = MeanOfExisting(scores.class_accuracy);
  scores.mean_iou = MeanOfExisting(scores.class_iou);
  scores.class_pixels = std::move(labelled);
  return scores;
}

}  // namespace shardmill
