// Where the stored bytes of the records of a split lie, for loops that read them without the
// loader: in mappings of their own, and in the files.
//
// Immutable after Open(); safe for concurrent use. Holds a place per record and field.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/dataset.h"
#include "reader/schema.h"

namespace shardmill {

class RecordPlaces {
 public:
  struct Place {
    uint32_t shard = 0;
    FileRange range;
  };

  // `fields` are numbers of fields of fixed shape.
  static Result<std::unique_ptr<RecordPlaces>> Open(const Dataset& dataset,
                                                    const std::string& split,
                                                    const std::vector<int>& fields);
  ~RecordPlaces();
  RecordPlaces(const RecordPlaces&) = delete;
  RecordPlaces& operator=(const RecordPlaces&) = delete;

  // Maps the files once more, so that no page of them is mapped yet.
  Status MapAnew();

  uint64_t records() const { return records_; }
  size_t field_count() const { return specs_.size(); }
  const FieldSpec& spec(size_t field) const { return specs_[field]; }
  uint64_t decoded_bytes(size_t field) const { return decoded_bytes_[field]; }
  uint64_t record_bytes() const { return record_bytes_; }  // decoded, all fields
  uint64_t largest_stored_bytes() const { return largest_stored_bytes_; }

  const Place& place(uint64_t record, size_t field) const {
    return places_[record * specs_.size() + field];
  }
  const uint8_t* mapped(const Place& place) const {
    return mappings_[place.shard]->data() + place.range.offset;
  }
  int shard_count() const { return static_cast<int>(mappings_.size()); }
  const std::string& path(uint32_t shard) const { return mappings_[shard]->path(); }
  uint64_t file_bytes(uint32_t shard) const { return mappings_[shard]->size(); }
  int descriptor(uint32_t shard) const { return descriptors_[shard]; }

 private:
  RecordPlaces() = default;
  Status AddShard(const ShardReader& shard, const std::vector<int>& fields);

  uint64_t records_ = 0;
  std::vector<FieldSpec> specs_;
  std::vector<uint64_t> decoded_bytes_;
  uint64_t record_bytes_ = 0;
  uint64_t largest_stored_bytes_ = 0;
  std::vector<Place> places_;
  std::vector<std::unique_ptr<InputFile>> mappings_;
  std::vector<int> descriptors_;
};

}  // namespace shardmill
