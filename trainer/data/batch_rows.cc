#include "trainer/data/batch_rows.h"

#include "reader/base/status.h"

namespace shardmill {
namespace {

// Of the only row.
void TakeOwnSize(BatchRows* row) {
  Shape& shape = row->images.shape;
  const bool is_map = row->labels.h == shape.h && row->labels.w == shape.w;
  shape.h = row->row_sizes[0];
  shape.w = row->row_sizes[1];
  row->row_sizes = nullptr;
  if (!is_map) return;
  row->labels.h = shape.h;
  row->labels.w = shape.w;
}

}  // namespace

BatchRows SelectRows(const BatchRows& rows, int64_t begin, int64_t end) {
  SHARDMILL_CHECK(begin >= 0 && begin <= end && end <= rows.images.shape.n);
  SHARDMILL_CHECK(rows.labels.type != LabelType::kOneHotF32 || rows.labels.classes > 0);
  BatchRows selected = rows;
  Shape row = rows.images.shape;
  row.n = 1;
  selected.images.shape.n = end - begin;
  selected.images.data = static_cast<const char*>(rows.images.data) +
                         begin * row.Elements() * ImageTypeBytes(rows.images.type);
  selected.images.first_row += begin;
  if (rows.images.lengths != nullptr) selected.images.lengths += begin;
  if (rows.row_sizes != nullptr) selected.row_sizes += 2 * begin;
  selected.labels.n = end - begin;
  selected.labels.data =
      static_cast<const char*>(rows.labels.data) + begin * LabelRowBytes(rows.labels);
  if (rows.labels.row_weights != nullptr) selected.labels.row_weights += begin;
  if (rows.row_sizes != nullptr && end - begin == 1) TakeOwnSize(&selected);
  return selected;
}

}  // namespace shardmill
