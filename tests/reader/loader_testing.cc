#include "tests/reader/loader_testing.h"

#include <gtest/gtest.h>

#include <utility>

namespace shardmill {

std::shared_ptr<const Dataset> OpenTestDataset(const std::string& name,
                                               const TestDatasetOptions& options,
                                               ChecksumPolicy policy) {
  auto dataset = Dataset::Open(WriteTestDataset(name, options), "train", policy);
  EXPECT_TRUE(dataset.ok()) << dataset.status().ToString();
  return *dataset;
}

std::unique_ptr<BatchLoader> OpenLoader(const std::shared_ptr<const Dataset>& dataset,
                                        const BatchLoaderOptions& options) {
  auto loader = BatchLoader::Open(dataset, options);
  EXPECT_TRUE(loader.ok()) << loader.status().ToString();
  return std::move(loader).value();
}

SeenBatch Copy(const Batch& batch) {
  SeenBatch seen;
  seen.epoch = batch.epoch();
  seen.step = batch.step();
  seen.global_rows = batch.global_rows();
  seen.records = batch.records();
  seen.weights = batch.weights();
  EXPECT_EQ(static_cast<int64_t>(seen.records.size()), batch.rows());
  EXPECT_EQ(static_cast<int64_t>(seen.weights.size()), batch.rows());
  for (int index = 0; index < batch.field_count(); ++index) {
    const FieldView& view = batch.field(index);
    EXPECT_EQ(view.shape.at(0), batch.rows());
    uint64_t bytes = DTypeBytes(view.dtype);
    for (int64_t dimension : view.shape) bytes *= static_cast<uint64_t>(dimension);
    seen.fields.emplace_back(reinterpret_cast<const char*>(view.data), bytes);
  }
  return seen;
}

std::vector<SeenBatch> ReadAll(BatchLoader* loader) {
  std::vector<SeenBatch> batches;
  while (true) {
    auto batch = loader->Next();
    EXPECT_TRUE(batch.ok()) << batch.status().ToString();
    if (!batch.ok() || !batch->has_value()) return batches;
    batches.push_back(Copy(**batch));
  }
}

std::vector<SeenBatch> ReadAll(const std::shared_ptr<const Dataset>& dataset,
                               const BatchLoaderOptions& options) {
  return ReadAll(OpenLoader(dataset, options).get());
}

}  // namespace shardmill
