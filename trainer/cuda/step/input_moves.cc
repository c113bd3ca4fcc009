#include "trainer/cuda/step/input_moves.h"

#include <utility>

#include "reader/color_change.h"
#include "reader/keyed_permutation.h"

namespace shardmill {

bool InputMoves::CanDo(const Augment& augment, const DataTask& task, std::string* why) {
  if (!augment.IsOn()) return false;
  if (task.sequences || task.image.h == 0 || task.image.w == 0) {
    *why = "takes images of one size only";
  } else if (augment.Scales()) {
    *why = "does not scale";
  } else if (augment.ChangesColors() && task.image.c != 3) {
    // Gray images change their brightness and contrast by a map of one channel, which it has not.
    *why = "changes the colours of three channels only";
  } else {
    return true;
  }
  return false;
}

InputRow InputMoves::RowAt(const OrderKey& key, uint64_t position) const {
  const PixelWindow window = WindowOf(augment_, key, position, task_.image.h, task_.image.w);
  InputRow row;
  row.top = static_cast<int32_t>(window.y);
  row.left = static_cast<int32_t>(window.x);
  row.flip_vertical = window.flip_vertical;
  row.flip_horizontal = window.flip_horizontal;
  const ColorChange change = ColorsOf(augment_, key, position);
  if (!change.IsOn()) return row;
  row.changes_colors = true;
  // What the contrast adds depends on the pixels: the kernel works it out.
  const ColorMap map = MakeColorMap(change, 0, task_.image_type == ImageType::kU8 ? 255 : 65535);
  for (int i = 0; i < 9; ++i) row.colors.factor[i / 3][i % 3] = map.factor[i / 3][i % 3];
  row.colors.offset = map.offset;
  row.colors.contrast_permille = change.contrast_permille;
  return row;
}

Result<std::vector<InputRow>> InputMoves::Of(const Batch& batch, int64_t first_row) const {
  const OrderKey key = MakeOrderKey(seed_, batch.epoch(), split_, "augment");
  const uint64_t first =
      batch.step() * static_cast<uint64_t>(batch.global_rows()) + static_cast<uint64_t>(first_row);
  std::vector<InputRow> rows;
  for (int64_t row = 0; row < batch.rows(); ++row) {
    rows.push_back(RowAt(key, first + static_cast<uint64_t>(row)));
  }
  return rows;
}

}  // namespace shardmill
