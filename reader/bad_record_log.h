// The records that a loader could not read, with what became of their rows.
//
// All methods may be called from several threads at once. What List() says after the last batch
// depends on the data and the order alone, not on threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/dataset.h"

namespace shardmill {

// What to do with a record that cannot be read: its stored bytes are damaged, do not decode, hold
// a label that is no class, or the disk refuses them. Whatever is chosen, every rank has the same
// number of steps, and other rows do not move.
enum class BadRecordPolicy {
  kFail,        // Next() returns the error
  kSkip,        // the row stays, all bytes 0, with weight 0
  kSubstitute,  // the row gets the record at the next position of the epoch's order that is sound
};

struct BadRecord {
  uint64_t record = 0;  // of the split
  std::string shard;    // path of its file
  uint64_t record_in_shard = 0;
  std::string key;     // empty when its metadata cannot be read either
  std::string reason;  // the error, which names the field
  uint64_t rows = 0;   // that were skipped or substituted; 0 when it was only met as a substitute
  // The first of these rows, or the batch that met it.
  uint64_t epoch = 0;
  uint64_t step = 0;
  std::optional<uint64_t> substitute;  // the record that stands in this first row instead
  std::string substitute_key;
};

// Whether an error belongs to a record and not to the loader.
bool IsBadRecordError(const Status& status);

class BadRecordLog {
 public:
  // `split` must outlive the log. More than `limit` different records are an error.
  BadRecordLog(const Dataset::Split* split, uint64_t limit) : split_(split), limit_(limit) {}

  // A row of a batch, or none: a record that was tried as a substitute.
  struct Place {
    uint64_t epoch = 0;
    uint64_t step = 0;
    bool is_row = true;
    std::optional<uint64_t> substitute;
  };
  // DataLoss when the limit is exceeded. `reason` is ignored for a record that is known.
  Status Note(uint64_t record, const Status& reason, const Place& place);

  bool HasAny() const { return count_.load(std::memory_order_acquire) > 0; }
  bool IsKnown(uint64_t record) const;
  std::vector<BadRecord> List() const;  // by record

 private:
  BadRecord Describe(uint64_t record, const Status& reason) const;
  std::string KeyOf(uint64_t record) const;

  const Dataset::Split* split_;
  const uint64_t limit_;
  std::atomic<uint64_t> count_{0};
  mutable std::mutex mutex_;  // guards what follows
  std::map<uint64_t, BadRecord> records_;
};

}  // namespace shardmill
