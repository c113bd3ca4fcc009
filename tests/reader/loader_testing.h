// Verbs for the tests of the batch loader.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/batch_loader.h"
#include "reader/dataset.h"
#include "tests/reader/test_dataset.h"

namespace shardmill {

// What a batch said of itself, copied out of its slot.
struct SeenBatch {
  uint64_t epoch = 0;
  uint64_t step = 0;
  int64_t global_rows = 0;
  std::vector<uint64_t> records;
  std::vector<float> weights;
  std::vector<std::string> fields;  // the bytes of each field

  bool operator==(const SeenBatch& other) const {
    return epoch == other.epoch && step == other.step && global_rows == other.global_rows &&
           records == other.records && weights == other.weights && fields == other.fields;
  }
};

std::shared_ptr<const Dataset> OpenTestDataset(const std::string& name,
                                               const TestDatasetOptions& options,
                                               ChecksumPolicy policy = ChecksumPolicy::kFirstTouch);

// Opens a loader or fails the test.
std::unique_ptr<BatchLoader> OpenLoader(const std::shared_ptr<const Dataset>& dataset,
                                        const BatchLoaderOptions& options);

SeenBatch Copy(const Batch& batch);

// All batches to the end of the stream.
std::vector<SeenBatch> ReadAll(BatchLoader* loader);
std::vector<SeenBatch> ReadAll(const std::shared_ptr<const Dataset>& dataset,
                               const BatchLoaderOptions& options);

}  // namespace shardmill
