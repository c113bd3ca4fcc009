// A tiny packed data set that a network can learn: coloured rectangles on noise, one colour per
// class, written through the public writer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trainer/data/data_task.h"

namespace shardmill {

struct ShapeDatasetOptions {
  uint64_t train_records = 24;
  uint64_t val_records = 7;
  int64_t height = 16;
  int64_t width = 16;
  TaskKind kind = TaskKind::kSegmentation;
  bool several_sizes = false;  // from height × width up to 8 more of each
  uint64_t seed = 1;           // of the pictures and of the data set's id
  bool float_images = false;   // f32 in place of u8
  bool sequences = false;      // of 5 to 18 frames with three features, f32; needs kClassification
  LabelEncoding encoding = LabelEncoding::kIndex;  // of class maps
  bool has_ignore = true;                          // class maps have some pixels of no class
  // A field "shares", f32 [height, width, 3] or [3]: 0.75 for the label, the rest for the next
  // class, 0 where it is ignored; beside the label, or in its place.
  bool shares = false;
  bool only_shares = false;
  std::optional<uint64_t> nan_record;  // of the train split: holds a NaN; needs float_images
};

// Classes "ground", "red" and "green"; segmentation labels have some pixels of the ignore value.
// Writes the splits train and val to a new folder NAME under testing::TempDir() and returns its
// path; fails the test when that does not work.
std::string WriteShapeDataset(const std::string& name, const ShapeDatasetOptions& options);

}  // namespace shardmill
