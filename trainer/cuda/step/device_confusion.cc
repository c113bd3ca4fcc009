#include "trainer/cuda/step/device_confusion.h"

#include <algorithm>
#include <string>

#include "trainer/graph/graph_step.h"

namespace shardmill {

Status DeviceConfusion::Grow(int64_t pixels, int64_t classes) {
  const int64_t predicted = pixels * 2;
  if (predicted_.bytes() < predicted) {
    predicted_.Reset();
    ASSIGN_OR_RETURN(predicted_, DeviceBuffer::Create(&ops_, predicted));
  }
  host_counts_.resize(static_cast<size_t>(ConfusionCounts::Elements(classes)));
  const auto counts = static_cast<int64_t>(host_counts_.size() * sizeof(uint64_t));
  if (counts_.bytes() == counts) return OkStatus();
  counts_.Reset();
  ASSIGN_OR_RETURN(counts_, DeviceBuffer::Create(&ops_, counts));
  return OkStatus();
}

Status DeviceConfusion::Count(Graph* graph, const LabelBatch& labels, ConfusionMatrix* matrix) {
  const GraphStep step(graph);
  Stream& stream = step.stream();
  const int64_t pixels = labels.n * labels.h * labels.w, classes = matrix->classes();
  RETURN_IF_ERROR(Grow(pixels, classes));
  const ConfusionCounts counts = {classes, static_cast<uint64_t*>(counts_.data())};
  const int64_t ignore = matrix->ignore() ? static_cast<int64_t>(*matrix->ignore()) : -1;
  RETURN_IF_ERROR(ops_.SetZero(stream, counts_.bytes(), counts_.data()));
  RETURN_IF_ERROR(
      ops_.Argmax(stream, step.logits_shape(), step.logits(), labels.type, predicted_.data()));
  RETURN_IF_ERROR(ops_.CountConfusion(stream, labels.type, pixels, 0, ignore, step.staged_labels(),
                                      predicted_.data(), counts));
  RETURN_IF_ERROR(ops_.CopyToHost(stream, counts_.data(), counts_.bytes(), host_counts_.data()));
  RETURN_IF_ERROR(stream.Synchronize());
  return AddTo(labels, matrix);
}

Status DeviceConfusion::AddTo(const LabelBatch& labels, ConfusionMatrix* matrix) const {
  const int classes = matrix->classes();
  const auto pairs = static_cast<size_t>(classes) * static_cast<size_t>(classes);
  if (const uint64_t wrong = host_counts_[pairs + 1]; wrong != 0) {
    const auto pixel = static_cast<int64_t>(~wrong);
    const uint32_t label = labels.type == LabelType::kIndexU8
                               ? static_cast<const uint8_t*>(labels.data)[pixel]
                               : static_cast<const uint16_t*>(labels.data)[pixel];
    return WrongLabel(label, classes);
  }
  matrix->AddIgnored(host_counts_[pairs]);
  for (size_t i = 0; i < pairs; ++i) {
    matrix->AddCount(static_cast<int>(i) / classes, static_cast<int>(i) % classes, host_counts_[i]);
  }
  return OkStatus();
}

}  // namespace shardmill
