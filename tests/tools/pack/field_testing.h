// Packs a folder with the real packer and reads every field back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reader/dataset.h"
#include "tests/tools/pack/pack_testing.h"
#include "tests/tools/pack/padded_batch.h"

namespace shardmill {

using Bytes = std::vector<uint8_t>;

struct ReadField {
  std::vector<uint32_t> dims;
  Bytes tensor;
  uint64_t stored_bytes = 0;
};

class PackFieldsTest : public PackTest {
 protected:
  // Label ids 0 and 1 in runs, all their own way.
  void AddScene(const std::string& stem, ImageSize size, uint64_t seed);
  void WriteClasses();

  // Every record of train by key; fills dataset_.
  std::map<std::string, std::vector<ReadField>> ReadAll();
  // After ReadAll().
  PaddedBatch LoadPadded(const std::string& field);
  std::string Recipe(const std::string& name);
  const FieldSpec& Field(size_t index) { return dataset_->schema().fields[index]; }
  const proto::Statistics& TrainStatistics() { return dataset_->manifest().splits(0).statistics(); }
  std::map<std::string, std::string> OutputFiles();

  std::shared_ptr<const Dataset> dataset_;
};

}  // namespace shardmill
