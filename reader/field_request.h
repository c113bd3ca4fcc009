// What a loader is asked to deliver of one field. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/delivery.h"

namespace shardmill {

// For fields whose shape varies from record to record: along each varying dimension, all rows of a
// batch are padded to the same length, which is the same on every rank.
struct Padding {
  // In the units of what is stored. Not given: the ignore value for class ids, else 0.
  std::optional<double> value;
  // The lengths that a varying dimension may be padded to, in ascending order; the smallest that
  // holds the whole global batch is taken. Empty: the longest record of the global batch; the
  // loader then looks at the dimensions of all records when it opens.
  std::vector<int64_t> lengths;
  // Records longer than the last of `lengths` lose their end; otherwise they are an error.
  bool cut_longer = false;
};

struct FieldRequest {
  std::string name;
  Delivery delivery = Delivery::kStored;
  std::optional<Padding> padding = std::nullopt;
  // For the normalised deliveries, one for each channel in the units of the stored pixels. Both
  // empty: those of the split "train", as the manifest says them.
  std::vector<double> mean = {};
  std::vector<double> deviation = {};
  // A tensor [H, W, …] that lies on the image, such as soft labels: it is cut, turned and scaled
  // with it, by nearest pixel as class maps are, and is 0 outside of the source.
  bool moves_with_image = false;
};

}  // namespace shardmill
