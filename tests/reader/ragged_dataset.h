// A small data set whose records differ in shape, with known contents.
//
// Fields, in this order: "features" f32 [T, 3], "image" u8 [H, W, 3], "label" u8 [H, W] (class
// ids, ignore 255), "number" i64 [1].
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/dataset.h"
#include "reader/schema.h"

namespace shardmill {

struct RaggedOptions {
  uint64_t records = 60;
  Codec image_codec = Codec::kRaw;
  Codec features_codec = Codec::kRaw;
  std::optional<uint32_t> ignore = 255;
  bool label_is_bits = false;   // one-hot bits instead of an index
  bool image_is_fixed = false;  // 9 x 7 pixels, and the label too
  // The label of this record is one pixel wider than its image.
  std::optional<uint64_t> mismatched_record;
};

// Writes the split "train" to a new folder and returns its path.
std::string WriteRaggedDataset(const std::string& name, const RaggedOptions& options);
// The same, opened.
std::shared_ptr<const Dataset> OpenRagged(const std::string& name, const RaggedOptions& options);

int64_t RaggedLength(uint64_t record);                                // T: 0 to 19
int64_t RaggedHeight(uint64_t record, const RaggedOptions& options);  // 3 to 12
int64_t RaggedWidth(uint64_t record, const RaggedOptions& options);   // 5 to 11
std::vector<float> RaggedFeatures(uint64_t record);
std::vector<uint8_t> RaggedImage(uint64_t record, const RaggedOptions& options);
std::vector<uint8_t> RaggedLabel(uint64_t record, const RaggedOptions& options);

}  // namespace shardmill
