// Segmentation and classification metrics from one confusion matrix of 64-bit counts.
//
// All scores come from sums over the whole split, never from averages over images or batches, so
// they do not depend on how the pixels were cut into batches or over ranks: add the matrices,
// then score once. Not for concurrent use.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

// DataLoss: the label is neither a class nor the one to ignore.
Status WrongLabel(uint32_t label, int classes);

class ConfusionMatrix {
 public:
  // `ignore`: the label value that is counted apart and takes part in no score.
  ConfusionMatrix(int classes, std::optional<uint32_t> ignore);

  // Counts `pixels` pairs of a label and a predicted class. DataLoss names the first label that is
  // neither a class nor the ignore value; Internal, a prediction that is not a class. The matrix
  // then holds the pixels before it. Instantiated for u8 and u16.
  template <typename ClassId>
  Status Add(const ClassId* labels, const ClassId* predicted, int64_t pixels);

  // Counts a label of a record that has one class, given its scores per class: whether it is one of
  // the five most likely. Labels that Add does not count are left out.
  template <typename ClassId>
  void AddTopFive(ClassId label, const float* scores);
  void AddTopFive(uint64_t hits, uint64_t records) {
    top_five_hits_ += hits;
    top_five_records_ += records;
  }
  uint64_t top_five_hits() const { return top_five_hits_; }
  uint64_t top_five_records() const { return top_five_records_; }

  // Requires 0 <= label, predicted < classes().
  void AddCount(int label, int predicted, uint64_t count);
  void AddIgnored(uint64_t count) { ignored_ += count; }
  // Requires the same number of classes.
  void Merge(const ConfusionMatrix& other);

  int classes() const { return classes_; }
  std::optional<uint32_t> ignore() const { return ignore_; }
  uint64_t count(int label, int predicted) const { return counts_[label * classes_ + predicted]; }
  uint64_t ignored() const { return ignored_; }
  // Row-major, labels in rows; the sum over ranks of these is the matrix of all ranks.
  const std::vector<uint64_t>& counts() const { return counts_; }

 private:
  int classes_;
  std::optional<uint32_t> ignore_;
  uint64_t ignored_ = 0;
  uint64_t top_five_hits_ = 0;
  uint64_t top_five_records_ = 0;
  std::vector<uint64_t> counts_;
};

// nullopt where there is nothing to divide by: the score does not exist, and means leave it out.
// A class that occurs in no label but was predicted has an IoU of 0, which does count.
struct Scores {
  std::optional<double> pixel_accuracy;     // of all pixels with a class
  std::optional<double> mean_accuracy;      // over classes that occur in the labels
  std::optional<double> top_five_accuracy;  // of records with one class, where it was counted
  std::optional<double> mean_iou;           // over classes that occur in labels or predictions
  std::vector<std::optional<double>> class_accuracy;
  std::vector<std::optional<double>> class_iou;
  std::vector<uint64_t> class_pixels;  // labelled pixels
};

Scores ComputeScores(const ConfusionMatrix& matrix);

}  // namespace shardmill
