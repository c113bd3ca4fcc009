#include "reader/class_weights.h"

#include <cstring>
#include <optional>
#include <string>

#include "reader/label_expand.h"
#include "reader/schema.h"
#include "reader/shard_reader.h"

namespace shardmill {
namespace {

// The class that a delivered one-hot vector names; all zeros name none.
uint32_t ClassOf(const std::vector<uint8_t>& one_hot) {
  const void* set = std::memchr(one_hot.data(), 1, one_hot.size());
  if (set == nullptr) return kNoClassId;
  return static_cast<uint32_t>(static_cast<const uint8_t*>(set) - one_hot.data());
}

// The classes of the records of one shard, appended to `ids`.
Status ReadShard(const ShardReader& shard, int field, const LabelExpander& expander,
                 std::vector<uint32_t>* ids) {
  std::vector<uint8_t> stored(shard.schema().fields[static_cast<size_t>(field)].TensorBytes());
  std::vector<uint8_t> one_hot(expander.delivered().TensorBytes());
  ReadScratch scratch;
  for (uint64_t record = 0; record < shard.records(); ++record) {
    RETURN_IF_ERROR(shard.Read(record, field, stored.data(), stored.size(), &scratch));
    const Status status = expander.Expand(stored.data(), one_hot.data());
    if (!status.ok()) {
      return status.WithContext(shard.path() + ": record " + std::to_string(record));
    }
    ids->push_back(ClassOf(one_hot));
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<uint32_t>> ReadClassIds(const Dataset& dataset, const Dataset::Split& split) {
  const RecordSchema& schema = dataset.schema();
  const std::optional<int> field = schema.FindRole(Role::kClassId);
  if (!field.has_value()) {
    return InvalidArgumentError(
        dataset.folder() +
        " has no field with a class id per record, so its records cannot be drawn by class; give "
        "a weight to each record instead: weights.of_record");
  }
  // One-hot tells a record of no class apart from all others.
  ASSIGN_OR_RETURN(const LabelExpander expander,
                   LabelExpander::Create(schema.fields[static_cast<size_t>(*field)], schema,
                                         Delivery::kOneHotU8));
  std::vector<uint32_t> ids;
  ids.reserve(split.records());
  for (int shard = 0; shard < split.shard_count(); ++shard) {
    RETURN_IF_ERROR(ReadShard(split.shard(shard), *field, expander, &ids));
  }
  return ids;
}

Result<std::vector<double>> RecordWeightsOfClasses(const Dataset& dataset,
                                                   const Dataset::Split& split,
                                                   const std::vector<double>& class_weights) {
  const std::vector<ClassInfo>& classes = dataset.schema().classes;
  if (class_weights.size() != classes.size()) {
    return InvalidArgumentError("weights.of_class has " + std::to_string(class_weights.size()) +
                                " weights, but the data set has " + std::to_string(classes.size()) +
                                " classes; give one for each");
  }
  ASSIGN_OR_RETURN(const std::vector<uint32_t> ids, ReadClassIds(dataset, split));
  std::vector<uint64_t> records(classes.size());
  for (uint32_t id : ids) {
    if (id != kNoClassId) ++records[id];
  }
  for (size_t id = 0; id < classes.size(); ++id) {
    if (records[id] == 0 && class_weights[id] > 0) {
      return InvalidArgumentError("class " + std::to_string(id) + " ('" + classes[id].name +
                                  "') has a weight, but no record in split '" + split.name() +
                                  "'; give it the weight 0");
    }
  }
  std::vector<double> weights(ids.size(), 0.0);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == kNoClassId) continue;
    weights[i] = class_weights[ids[i]] / static_cast<double>(records[ids[i]]);
  }
  return weights;
}

}  // namespace shardmill
