// Reads one field of a run of rows as it is stored or decoded: each step (find, copy, check,
// decode) for many rows before the next step.
//
// In random order each record begins with misses of the cache and of the address translation. So
// the places of the next rows are worked out, and the processor is asked for their bytes, while the
// rows before them are copied; and a look at the clock is taken per step and not per record.
// Internal to the batch loader, for one worker.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "reader/bad_record_log.h"
#include "reader/base/status.h"
#include "reader/batch_plan.h"
#include "reader/batch_slot.h"
#include "reader/field_plan.h"
#include "reader/shard_reader.h"
#include "reader/stage_clock.h"

namespace shardmill {

class RunReader {
 public:
  // Told of each row that cannot be read, with OK for a record that is known to be bad. An error
  // that it returns ends the run.
  using OnBadRow = std::function<Status(uint64_t row, Status status)>;

  // All of them must outlive the reader. Scratch memory is the worker's own.
  RunReader(const BatchPlan* plan, const BadRecordLog* bad_records, ReadScratch* scratch,
            StageClock* clock);

  // Fields that are plain (FieldPlan::IsPlain). Rows [begin, end) of the slot go to `out`, one
  // behind the other, `field.stored_bytes` each. `record` is the one in work, also when an
  // exception leaves the call.
  Status Read(const FieldPlan& field, const BatchSlot& slot, uint64_t begin, uint64_t end,
              uint8_t* out, uint64_t* record, const OnBadRow& on_bad);

  // What Read() wants of the scratch memory for coded fields of up to so many stored bytes.
  static uint64_t ScratchBytes(uint64_t stored_bytes, uint64_t rows_per_part);

 private:
  // As many rows as one step takes at once: their places stay in the first cache level, and their
  // bytes, of more than one row, in the second.
  static constexpr uint64_t kMostRows = 128;
  static constexpr uint64_t kStepBytes = 256 * 1024;
  // How many rows ahead of the copy a row is looked up in the table of its block, and how many rows
  // ahead its bytes are asked for.
  static constexpr uint64_t kFindAhead = 6;
  static constexpr uint64_t kCopyAhead = 2;

  struct Row {
    const ShardReader* shard = nullptr;
    uint64_t record = 0;  // in the shard
    StoredPlace place;
    const uint8_t* stored = nullptr;  // the private copy
    bool is_found = false;
    bool is_sound = false;
  };
  // The rows that are taken together, and what is done of them.
  struct Group {
    const FieldPlan& field;
    const BatchSlot& slot;
    const OnBadRow& on_bad;
    uint64_t begin = 0;
    uint64_t end = 0;
    uint8_t* out = nullptr;  // of row `begin`
    uint64_t* record = nullptr;

    uint8_t* OutOf(uint64_t row) const { return out + (row - begin) * field.stored_bytes; }
  };

  Row& RowAt(const Group& group, uint64_t row) { return rows_[row - group.begin]; }
  void LookAhead(const Group& group, uint64_t row);
  void Announce(const Group& group, uint64_t row);
  void Find(const Group& group, uint64_t row);
  Status CopyRows(Group* group);
  bool MakeRoom(const Group& group, uint64_t row);
  Status CopyRow(const Group& group, uint64_t row);
  Status CheckRows(const Group& group);
  Status DecodeRows(const Group& group);

  const BatchPlan& plan_;
  const BadRecordLog& bad_records_;
  ReadScratch& scratch_;
  StageClock& clock_;
  std::array<Row, kMostRows + kFindAhead> rows_;  // of the group, and of those behind it
  uint64_t announced_ = 0;                        // rows before this one are announced
  uint64_t found_ = 0;
  uint64_t stored_used_ = 0;  // of the scratch memory
};

}  // namespace shardmill
