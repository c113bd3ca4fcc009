#include "trainer/prediction/evaluation_pictures.h"

#include <algorithm>
#include <optional>

#include "reader/png_encode.h"
#include "trainer/data/batch_rows.h"
#include "trainer/data/data_feed.h"
#include "trainer/prediction/pictures.h"

namespace shardmill {
namespace {

// Class ids of one row, whatever type they have.
std::vector<uint16_t> Row(const void* ids, LabelType type, int64_t row, int64_t pixels) {
  std::vector<uint16_t> row_ids(static_cast<size_t>(pixels));
  for (int64_t i = 0; i < pixels; ++i) {
    const int64_t at = row * pixels + i;
    row_ids[static_cast<size_t>(i)] = type == LabelType::kIndexU8
                                          ? static_cast<const uint8_t*>(ids)[at]
                                          : static_cast<const uint16_t*>(ids)[at];
  }
  return row_ids;
}

// Two RGB images of the same size in one.
std::vector<uint8_t> SideBySide(const std::vector<uint8_t>& left, const std::vector<uint8_t>& right,
                                int64_t height) {
  std::vector<uint8_t> both;
  both.reserve(left.size() + right.size());
  const auto row = static_cast<long>(left.size() / static_cast<size_t>(height));
  for (int64_t y = 0; y < height; ++y) {
    both.insert(both.end(), left.begin() + y * row, left.begin() + (y + 1) * row);
    both.insert(both.end(), right.begin() + y * row, right.begin() + (y + 1) * row);
  }
  return both;
}

Result<PictureEvent::Picture> Draw(const BatchRows& rows, int64_t row, uint64_t record,
                                   const std::vector<uint16_t>& predicted,
                                   const std::vector<uint32_t>& colors) {
  const Shape& shape = rows.images.shape;
  const std::vector<uint8_t> rgb = ToRgb(rows.images, row);
  const std::vector<uint16_t> labels =
      Row(rows.labels.data, rows.labels.type, row, shape.h * shape.w);
  const std::vector<uint8_t> pixels =
      SideBySide(Tinted(rgb, labels, colors), Tinted(rgb, predicted, colors), shape.h);
  PictureEvent::Picture picture;
  picture.name = "record " + std::to_string(record);
  picture.height = shape.h;
  picture.width = 2 * shape.w;
  PngPicture png;
  png.height = picture.height;
  png.width = picture.width;
  png.color = PngColor::kRgb;
  png.pixels = pixels.data();
  ASSIGN_OR_RETURN(picture.png, EncodePng(png));
  return picture;
}

// Of rows of one size; `records` are their numbers.
Status DrawRows(Graph* graph, const BatchRows& rows, const uint64_t* records,
                const std::vector<uint32_t>& colors, std::vector<PictureEvent::Picture>* pictures) {
  RETURN_IF_ERROR(graph->Forward(rows.images, Phase::kEvaluation));
  const int64_t pixels = rows.labels.h * rows.labels.w;
  std::vector<uint16_t> predicted(static_cast<size_t>(rows.labels.n * pixels));
  RETURN_IF_ERROR(graph->Predict(rows.labels.type, predicted.data()));
  for (int64_t row = 0; row < rows.labels.n; ++row) {
    ASSIGN_OR_RETURN(PictureEvent::Picture picture,
                     Draw(rows, row, records[row],
                          Row(predicted.data(), rows.labels.type, row, pixels), colors));
    pictures->push_back(std::move(picture));
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<PictureEvent::Picture>> DrawPredictions(Graph* graph,
                                                           std::shared_ptr<const Dataset> dataset,
                                                           const DataTask& task,
                                                           const std::string& split,
                                                           uint64_t count) {
  std::vector<PictureEvent::Picture> pictures;
  if (task.kind != TaskKind::kSegmentation || count == 0) return pictures;
  const std::vector<uint32_t> colors = ClassColors(dataset->schema().classes);
  ASSIGN_OR_RETURN(const std::unique_ptr<DataFeed> feed,
                   DataFeed::OpenEvaluation(std::move(dataset), task, split, count));
  ASSIGN_OR_RETURN(const std::optional<FeedBatch> batch, feed->Next());
  if (!batch) return pictures;
  const BatchRows rows = batch->rows();
  const uint64_t* const records = batch->lease.records().data();
  const int64_t together = rows.row_sizes == nullptr ? rows.labels.n : 1;
  for (int64_t row = 0; row < rows.labels.n; row += together) {
    RETURN_IF_ERROR(
        DrawRows(graph, SelectRows(rows, row, row + together), records + row, colors, &pictures));
  }
  return pictures;
}

}  // namespace shardmill
