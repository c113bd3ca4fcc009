#include "trainer/export/batch_dump.h"

#include <vector>

#include "trainer/export/safetensors.h"

namespace shardmill {

std::string BatchDumpName(uint64_t step, const Communicator& communicator) {
  const std::string rank =
      communicator.size() == 1 ? "" : "-rank-" + std::to_string(communicator.rank());
  return "bad-batch-step-" + std::to_string(step) + rank + ".safetensors";
}

Status DumpBatch(const std::string& path, const FeedBatch& batch) {
  const Shape& shape = batch.images.shape;
  const char* image_types[] = {"U8", "U16", "F32"};
  const char* label_types[] = {"U8", "U16", "F32"};
  const LabelBatch& labels = batch.labels;
  std::vector<int64_t> label_shape = {labels.n, labels.h, labels.w};
  if (labels.type == LabelType::kOneHotF32) label_shape.push_back(labels.classes);
  const std::vector<uint64_t>& records = batch.lease.records();
  return WriteSafetensors(
      path,
      {{"images",
        image_types[static_cast<int>(batch.images.type)],
        {shape.n, shape.h, shape.w, shape.c},
        batch.images.data,
        static_cast<uint64_t>(shape.Elements() * ImageTypeBytes(batch.images.type))},
       {"labels", label_types[static_cast<int>(labels.type)], label_shape, labels.data,
        static_cast<uint64_t>(labels.n * LabelRowBytes(labels))},
       {"records",
        "I64",
        {static_cast<int64_t>(records.size())},
        records.data(),
        records.size() * sizeof(uint64_t)}},
      {});
}

}  // namespace shardmill
