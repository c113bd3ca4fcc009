#include "trainer/cuda/step/step_passes.h"

#include "reader/epoch_order.h"

namespace shardmill {
namespace {

int64_t FirstRow(int64_t rows, int pass, int passes) { return rows * pass / passes; }

// Rows of the pass, on all ranks together.
int64_t RowsOfAll(int64_t global_rows, int pass, int passes, int ranks) {
  int64_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const RankSlice slice = SliceForRank(static_cast<uint64_t>(global_rows), rank, ranks);
    const auto own = static_cast<int64_t>(slice.end - slice.begin);
    sum += FirstRow(own, pass + 1, passes) - FirstRow(own, pass, passes);
  }
  return sum;
}

StepPass PassOf(const StepBatch& batch, int64_t begin, int64_t end) {
  StepPass pass;
  pass.batch = batch;
  BatchRows& rows = pass.batch.rows;
  rows = SelectRows(batch.rows, begin, end);
  if (batch.moves != nullptr) pass.batch.moves = batch.moves + begin;
  // Labels of one pixel per image stay as they are.
  pass.moves_labels = batch.moves != nullptr && rows.labels.h == rows.images.shape.h &&
                      rows.labels.w == rows.images.shape.w;
  pass.labels = rows.labels;
  if (pass.moves_labels) {
    pass.labels.data = nullptr;
    pass.labels.h = batch.height;
    pass.labels.w = batch.width;
  }
  pass.images = rows.images;
  pass.images.data = nullptr;
  pass.images.shape.h = batch.height;
  pass.images.shape.w = batch.width;
  return pass;
}

}  // namespace

std::vector<StepPass> CutPasses(const StepBatch& batch, int passes, int ranks) {
  const int64_t rows = batch.rows.images.shape.n;
  SHARDMILL_CHECK(rows >= passes);
  std::vector<StepPass> cut;
  for (int pass = 0; pass < passes; ++pass) {
    cut.push_back(PassOf(batch, FirstRow(rows, pass, passes), FirstRow(rows, pass + 1, passes)));
    cut.back().batch.rows.global_rows = RowsOfAll(batch.rows.global_rows, pass, passes, ranks);
  }
  return cut;
}

}  // namespace shardmill
