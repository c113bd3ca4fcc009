#include "trainer/prediction/sliding_window.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "trainer/data/batch_rows.h"

namespace shardmill {
namespace {

int64_t StrideOf(int64_t stride, int64_t window) {
  return stride > 0 ? stride : std::max<int64_t>(1, 2 * window / 3);
}

// Copies a window of one image, dense rows.
void CopyWindow(const ImageBatch& images, int64_t row, int64_t y, int64_t x, const Shape& window,
                char* to) {
  const int64_t pixel_bytes = images.shape.c * ImageTypeBytes(images.type);
  const char* image =
      static_cast<const char*>(images.data) + row * images.shape.h * images.shape.w * pixel_bytes;
  for (int64_t line = 0; line < window.h; ++line) {
    std::memcpy(to + line * window.w * pixel_bytes,
                image + ((y + line) * images.shape.w + x) * pixel_bytes,
                static_cast<size_t>(window.w * pixel_bytes));
  }
}

// The cross-entropy of one image.
template <typename ClassId>
LossResult LossOf(const ClassId* labels, const float* logits, int64_t pixels,
                  const ConfusionMatrix& matrix) {
  LossResult loss;
  const int classes = matrix.classes();
  for (int64_t p = 0; p < pixels; ++p, logits += classes) {
    if (labels[p] >= classes || (matrix.ignore() && labels[p] == *matrix.ignore())) continue;
    const double top = *std::max_element(logits, logits + classes);
    double sum = 0;
    for (int k = 0; k < classes; ++k) sum += std::exp(logits[k] - top);
    loss.loss_sum += top + std::log(sum) - logits[labels[p]];
    loss.weight_sum += 1;
  }
  return loss;
}

template <typename ClassId>
Result<LossResult> CountImage(const ClassId* labels, const LogitCanvas& canvas,
                              ConfusionMatrix* matrix) {
  const std::vector<uint16_t> classes = canvas.Classes();
  const std::vector<ClassId> predicted(classes.begin(), classes.end());
  const auto pixels = static_cast<int64_t>(predicted.size());
  RETURN_IF_ERROR(matrix->Add(labels, predicted.data(), pixels));
  return LossOf(labels, canvas.logits(), pixels, *matrix);
}

class SlidingEngine final : public BatchEngine {
 public:
  SlidingEngine(Graph* graph, Communicator* communicator, const WindowOptions& options)
      : graph_(*graph), communicator_(communicator), windows_(graph, options) {}

  Status Prepare(const Shape&) override { return OkStatus(); }
  double copied_seconds() const override { return graph_.copied_seconds(); }
  void ParametersChanged() override {}
  Result<BatchOutcome> Train(const BatchRows&, bool) override {
    return InternalError("windows are for scoring, not for training");
  }

  Result<BatchOutcome> Score(const BatchRows& rows, bool stop, ConfusionMatrix* matrix) override {
    double numbers[3] = {0, 0, stop ? 1.0 : 0.0};
    for (int64_t row = 0; row < rows.images.shape.n; ++row) {
      ASSIGN_OR_RETURN(const LossResult loss, ScoreRow(SelectRows(rows, row, row + 1), matrix));
      numbers[0] += loss.loss_sum;
      numbers[1] += loss.weight_sum;
    }
    RETURN_IF_ERROR(communicator_->Sum(numbers, 3, "loss of an evaluation batch"));
    return BatchOutcome{{numbers[0], numbers[1]}, numbers[2] > 0};
  }

 private:
  Result<LossResult> ScoreRow(const BatchRows& row, ConfusionMatrix* matrix) {
    LogitCanvas canvas(row.images.shape.h, row.images.shape.w, graph_.classes());
    RETURN_IF_ERROR(windows_.Predict(row.images, 0, &canvas));
    return row.labels.type == LabelType::kIndexU8
               ? CountImage(static_cast<const uint8_t*>(row.labels.data), canvas, matrix)
               : CountImage(static_cast<const uint16_t*>(row.labels.data), canvas, matrix);
  }

  const Graph& graph_;
  Communicator* communicator_;
  SlidingWindow windows_;
};

}  // namespace

Status CheckWindows(const WindowOptions& options) {
  const auto fits = [](int64_t stride, int64_t window) { return stride >= 0 && stride <= window; };
  if (fits(options.stride_y, options.height) && fits(options.stride_x, options.width)) {
    return OkStatus();
  }
  return InvalidArgumentError(
      "--stride must not be larger than --window: windows would leave gaps");
}

Status SlidingWindow::Predict(const ImageBatch& images, int64_t row, LogitCanvas* canvas) {
  Shape window = images.shape;
  window.n = 1;
  if (options_.height > 0) window.h = std::min(window.h, options_.height);
  if (options_.width > 0) window.w = std::min(window.w, options_.width);
  pixels_.resize(window.Elements() * ImageTypeBytes(images.type));
  logits_.resize(window.Pixels() * graph_->classes());
  canvas->Clear();
  for (const int64_t y :
       WindowStarts(images.shape.h, window.h, StrideOf(options_.stride_y, window.h))) {
    for (const int64_t x :
         WindowStarts(images.shape.w, window.w, StrideOf(options_.stride_x, window.w))) {
      CopyWindow(images, row, y, x, window, pixels_.data());
      ImageBatch one;
      one.data = pixels_.data();
      one.type = images.type;
      one.shape = window;
      RETURN_IF_ERROR(graph_->Forward(one, Phase::kEvaluation));
      if (graph_->logits_shape().Pixels() != window.Pixels()) {
        return InvalidArgumentError("the network makes no class maps: windows do not apply to it");
      }
      RETURN_IF_ERROR(graph_->ReadLogits(logits_.data()));
      canvas->Add(y, x, window.h, window.w, logits_.data());
    }
  }
  canvas->Average();
  return OkStatus();
}

std::unique_ptr<BatchEngine> CreateSlidingEngine(Graph* graph, Communicator* communicator,
                                                 const WindowOptions& options) {
  return std::make_unique<SlidingEngine>(graph, communicator, options);
}

}  // namespace shardmill
