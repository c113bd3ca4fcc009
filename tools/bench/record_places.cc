#include "tools/bench/record_places.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace shardmill {

Result<std::unique_ptr<RecordPlaces>> RecordPlaces::Open(const Dataset& dataset,
                                                         const std::string& split_name,
                                                         const std::vector<int>& fields) {
  ASSIGN_OR_RETURN(const Dataset::Split* split, dataset.split(split_name));
  std::unique_ptr<RecordPlaces> places(new RecordPlaces);
  for (const int field : fields) {
    const FieldSpec& spec = dataset.schema().fields[static_cast<size_t>(field)];
    places->specs_.push_back(spec);
    places->decoded_bytes_.push_back(spec.TensorBytes());
    places->record_bytes_ += spec.TensorBytes();
  }
  places->places_.reserve(split->records() * fields.size());
  for (int number = 0; number < split->shard_count(); ++number) {
    RETURN_IF_ERROR(places->AddShard(split->shard(number), fields));
  }
  return places;
}

Status RecordPlaces::AddShard(const ShardReader& shard, const std::vector<int>& fields) {
  const auto number = static_cast<uint32_t>(mappings_.size());
  ASSIGN_OR_RETURN(std::unique_ptr<InputFile> mapping, InputFile::Open(shard.path()));
  mappings_.push_back(std::move(mapping));
  const int descriptor = ::open(shard.path().c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return ErrnoError("cannot open " + shard.path(), errno);
  descriptors_.push_back(descriptor);
  for (uint64_t record = 0; record < shard.records(); ++record) {
    for (const int field : fields) {
      ASSIGN_OR_RETURN(const FileRange range, shard.StoredRange(record, field));
      RETURN_IF_ERROR(mappings_.back()->CheckRange(range.offset, range.bytes));
      places_.push_back({number, range});
      largest_stored_bytes_ = std::max(largest_stored_bytes_, range.bytes);
    }
  }
  records_ += shard.records();
  return OkStatus();
}

Status RecordPlaces::MapAnew() {
  for (std::unique_ptr<InputFile>& mapping : mappings_) {
    const uint64_t bytes = mapping->size();
    ASSIGN_OR_RETURN(mapping, InputFile::Open(mapping->path()));
    if (mapping->size() != bytes) return IoError(mapping->path() + " has changed its size");
  }
  return OkStatus();
}

RecordPlaces::~RecordPlaces() {
  for (const int descriptor : descriptors_) ::close(descriptor);
}

}  // namespace shardmill
