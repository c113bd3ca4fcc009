#include "tests/tools/pack/padded_batch.h"

#include <gtest/gtest.h>

#include "proto/record_meta.pb.h"
#include "reader/batch_loader.h"

namespace shardmill {

PaddedBatch LoadPaddedBatch(const std::shared_ptr<const Dataset>& dataset,
                            const std::string& field) {
  PaddedBatch padded;
  const Dataset::Split* split = *dataset->split("train");
  BatchLoaderOptions options;
  options.split = "train";
  options.order = Order::kStored;
  options.global_batch = split->records();
  options.fields = {{field, Delivery::kStored, Padding()}};
  const auto loader = BatchLoader::Open(dataset, options);
  EXPECT_TRUE(loader.ok()) << loader.status().ToString();
  if (!loader.ok()) return padded;
  const auto batch = (*loader)->Next();
  EXPECT_TRUE(batch.ok()) << batch.status().ToString();
  if (!batch.ok() || !batch->has_value()) return padded;
  const FieldView& view = (**batch).field(0);
  padded.shape = view.shape;
  uint64_t bytes = DTypeBytes(view.dtype);
  for (const int64_t dim : view.shape) bytes *= static_cast<uint64_t>(dim);
  padded.data.assign(view.data, view.data + bytes);
  for (uint64_t i = 0; i < split->records(); ++i) {
    const auto [shard, record] = split->Locate(i);
    padded.keys[shard->ReadMeta(record)->key()] = i;
  }
  return padded;
}

}  // namespace shardmill
