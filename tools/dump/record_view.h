// One record as `dump` shows it: image, class ids, key.
//
// Free functions; a ReadScratch belongs to one thread at a time, the rest is safe for concurrent
// use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reader/base/status.h"
#include "reader/schema.h"
#include "reader/shard_reader.h"
#include "tools/dump/label_map.h"
#include "tools/dump/picture.h"

namespace shardmill {

// Which fields are shown; nullopt: there is none of that kind.
struct ViewFields {
  std::optional<int> image;
  std::optional<int> label_map;
  std::optional<int> class_id;
};

// The image field and the labels of the schema. `field`, when not empty, names the field that is
// shown as the image. InvalidArgument when no field can be shown as a picture.
Result<ViewFields> ChooseViewFields(const RecordSchema& schema, const std::string& field);

struct RecordView {
  std::string key;
  std::optional<Picture> image;
  std::optional<LabelMap> label;
  std::optional<int32_t> class_id;
};

// Reads a record by its number in the shard. Sizes that no picture needs (over 1 GiB) are
// refused before memory is asked for.
Result<RecordView> ViewRecord(const ShardReader& reader, uint64_t record, const ViewFields& fields,
                              ReadScratch* scratch);

// One field of one record, decoded.
Result<Tensor> ReadTensor(const ShardReader& reader, uint64_t record, int field,
                          ReadScratch* scratch);

}  // namespace shardmill
