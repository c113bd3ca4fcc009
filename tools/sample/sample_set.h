// Writes a folder of synthetic street scenes in the layout of the Semantic Segmentation Suite.
//
//   train/scene_0000.png   train_labels/scene_0000_L.png   val/…   val_labels/…   class_dict.csv
#pragma once

#include <cstdint>
#include <string>

#include "reader/base/status.h"
#include "reader/console/units.h"

namespace shardmill {

struct SampleSetOptions {
  std::string folder;
  uint32_t count = 240;  // pairs; the last sixth of them, at least one, is the val split
  ImageSize size = {192, 256};
  uint64_t seed = 1;
};

struct SampleSetResult {
  uint32_t train = 0;
  uint32_t val = 0;
  uint64_t bytes = 0;
};

// The folder must be missing or empty. The same options give the same bytes. Cancelled when the
// process was interrupted.
Result<SampleSetResult> WriteSampleSet(const SampleSetOptions& options);

}  // namespace shardmill
