// A small data set with known contents, written through the public writer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/schema.h"

namespace shardmill {

// Fields, in this order: "image" u8 [height, width, 3], "label" (a class map), "number" i64 [1],
// the number of the record in its split, and, where asked for, "class" u8 [1].
struct TestDatasetOptions {
  uint64_t records = 100;
  uint32_t shards = 3;
  uint32_t records_per_block = 8;
  int64_t height = 6;
  int64_t width = 5;
  Codec image_codec = Codec::kRaw;
  Codec label_codec = Codec::kZstd;
  LabelEncoding label_encoding = LabelEncoding::kIndex;
  uint32_t classes = 5;
  std::optional<uint32_t> ignore = 255;
  bool variable_height = false;  // of the image
  // A class id per record, here [i] for record i; empty: there is no such field.
  std::vector<uint8_t> class_ids;
  // Of record i: [i]; empty: "image<i>.png".
  std::vector<std::string> keys;
  // Stored at the first pixel of this record's label, whatever the classes are.
  std::optional<uint64_t> bad_label_record;
  uint8_t bad_label_value = 200;
};

// Writes the split "train" to a new folder NAME under testing::TempDir() and returns its path;
// fails the test when that does not work.
std::string WriteTestDataset(const std::string& name, const TestDatasetOptions& options);

// Changes one stored byte of the image of a record, which lies in the shard at `path`.
void DamageTestImage(const std::string& path, uint64_t record, const TestDatasetOptions& options);

// What the records hold.
std::vector<uint8_t> TestImage(uint64_t record, const TestDatasetOptions& options);
// Class ids per pixel; -1 where a pixel belongs to no class.
std::vector<int> TestClasses(uint64_t record, const TestDatasetOptions& options);
// The label as it is stored.
std::vector<uint8_t> TestLabel(uint64_t record, const TestDatasetOptions& options);

}  // namespace shardmill
