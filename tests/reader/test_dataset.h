// A small data set with known contents, written through the public writer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reader/codec.h"
#include "reader/schema.h"
#include "reader/shard_writer.h"

namespace shardmill {

namespace proto {
class Recipe;
class Statistics;
}  // namespace proto

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
  bool has_statistics = false;   // of the image, in the manifest
  // A class id per record, here [i] for record i; empty: there is no such field.
  std::vector<uint8_t> class_ids;
  // Of record i: [i]; empty: "image<i>.png".
  std::vector<std::string> keys;
  // Stored at the first pixel of this record's label, whatever the classes are.
  std::optional<uint64_t> bad_label_record;
  uint8_t bad_label_value = 200;
};

// How any records are spread over the split "train".
struct TestSplitOptions {
  uint64_t records = 0;
  uint32_t shards = 1;
  uint32_t records_per_block = 8;
  const proto::Recipe* recipe = nullptr;  // an empty one
};

// Writes the split to a new folder NAME under testing::TempDir() and returns its path; `encode`
// makes record after record. Fails the test when that does not work.
using EncodeTestRecord = std::function<EncodedRecord(uint64_t record, FieldEncoder* encoder)>;
std::string WriteTestSplit(const std::string& name, const RecordSchema& schema,
                           const TestSplitOptions& options, const EncodeTestRecord& encode,
                           const proto::Statistics* statistics = nullptr);
// Appends a field to `record`; fails the test when it cannot be encoded.
void AddTestField(const FieldSpec& spec, const void* data, uint64_t bytes,
                  std::vector<uint32_t> dims, FieldEncoder* encoder, EncodedRecord* record);
void SetTestKey(const std::string& key, EncodedRecord* record);

// Writes the records of TestDatasetOptions.
std::string WriteTestDataset(const std::string& name, const TestDatasetOptions& options);

// Finds `stored` in a file and changes its byte number `at`, which may lie before it or behind it.
void DamageTestBytes(const std::string& path, const std::string& stored, int64_t at);
// Changes one stored byte of the image of a record, which lies in the shard at `path`.
void DamageTestImage(const std::string& path, uint64_t record, const TestDatasetOptions& options);

// What the records hold.
std::vector<uint8_t> TestImage(uint64_t record, const TestDatasetOptions& options);
// Class ids per pixel; -1 where a pixel belongs to no class.
std::vector<int> TestClasses(uint64_t record, const TestDatasetOptions& options);
// The label as it is stored.
std::vector<uint8_t> TestLabel(uint64_t record, const TestDatasetOptions& options);

}  // namespace shardmill
