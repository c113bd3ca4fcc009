// Predicts images window by window: for images larger than those that the network was trained on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "reader/base/status.h"
#include "trainer/comm/communicator.h"
#include "trainer/engine/batch_engine.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/tensor.h"
#include "trainer/prediction/logit_canvas.h"

namespace shardmill {

struct WindowOptions {
  int64_t height = 0;  // of a window; 0: whole images
  int64_t width = 0;
  int64_t stride_y = 0;  // 0: two thirds of the window
  int64_t stride_x = 0;
};

// InvalidArgument unless the strides are between 0 and the window.
Status CheckWindows(const WindowOptions& options);

class SlidingWindow {
 public:
  SlidingWindow(Graph* graph, const WindowOptions& options) : graph_(graph), options_(options) {}

  // The averaged logits of row `row` of the images, which may be smaller than a window.
  Status Predict(const ImageBatch& images, int64_t row, LogitCanvas* canvas);

 private:
  Graph* graph_;
  WindowOptions options_;
  std::vector<char> pixels_;   // of one window
  std::vector<float> logits_;  // of one window
};

// An engine that scores batches by windows and cannot train. The graph makes class maps.
std::unique_ptr<BatchEngine> CreateSlidingEngine(Graph* graph, Communicator* communicator,
                                                 const WindowOptions& options);

}  // namespace shardmill
