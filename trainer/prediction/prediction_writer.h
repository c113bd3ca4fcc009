// Writes what a network predicts into a folder: DIR/KEY.png in the colours of the classes (its
// pixels are the class ids), DIR/KEY.overlay.png over the image; or, of one class per image,
// DIR/predictions.csv. Records that are tiles of the same source can be put together again; what no
// tile covers then has the ignore value. All files appear whole or not at all. The names are those
// that prediction_files.h checks.
//
// Not for concurrent use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/record_meta.pb.h"
#include "reader/base/file.h"
#include "reader/base/status.h"
#include "trainer/evaluation/scorer.h"
#include "trainer/graph/tensor.h"
#include "trainer/prediction/logit_canvas.h"
#include "trainer/prediction/pictures.h"
#include "trainer/prediction/prediction_files.h"

namespace shardmill {

// What no tile covers in the pictures that tiles make.
struct UncoveredParts {
  uint64_t pictures = 0;
  uint64_t pixels = 0;
  uint16_t value = 0;  // that they have
};

class PredictionWriter {
 public:
  static Result<std::unique_ptr<PredictionWriter>> Create(const PredictionOptions& options,
                                                          const Scorer& scorer);
  ~PredictionWriter();

  // The averaged logits of row `row` of the images.
  Status Add(const proto::RecordMeta& meta, const ImageBatch& images, int64_t row,
             const LogitCanvas& logits);
  // The logits of a record that has one class.
  Status AddClass(const proto::RecordMeta& meta, const float* logits);
  Status Close();
  uint64_t written() const { return written_; }
  const UncoveredParts& uncovered() const { return uncovered_; }

 private:
  struct Whole;  // a source whose tiles are being put together

  PredictionWriter(const PredictionOptions& options, const Scorer& scorer);
  Status AddTile(const proto::RecordMeta& meta, const ImageBatch& images, int64_t row,
                 const LogitCanvas& logits);
  Status FinishWhole();
  Status Write(const std::string& name, const std::vector<uint16_t>& classes,
               const std::vector<uint8_t>& rgb, int64_t height, int64_t width);

  PredictionOptions options_;
  std::vector<std::string> class_names_;
  std::vector<uint32_t> colors_;
  int64_t classes_;
  ClassMapForm form_;
  std::unique_ptr<Whole> whole_;
  std::optional<AtomicFile> table_;
  UncoveredParts uncovered_;
  uint64_t written_ = 0;
};

}  // namespace shardmill
