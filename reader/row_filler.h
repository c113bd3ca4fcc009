// Fills single rows of a slot: reads the fields of one record and delivers them.
//
// Internal to the batch loader. One object belongs to one worker; its memory is kept from row to
// row.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "reader/batch_plan.h"
#include "reader/batch_slot.h"
#include "reader/shard_reader.h"
#include "reader/stage_clock.h"

namespace shardmill {

class RowFiller {
 public:
  // All of them must outlive the filler.
  RowFiller(const BatchPlan* plan, ReadScratch* scratch, StageClock* clock);

  // One field of the row. An error names shard, record and field.
  Status FillField(const FieldPlan& field, uint64_t row, uint64_t record, BatchSlot* slot);
  // All fields. After an error the row holds bytes of no meaning.
  Status FillRow(uint64_t row, uint64_t record, BatchSlot* slot);
  // All bytes of the row become zero.
  void ClearRow(uint64_t row, BatchSlot* slot) const;

 private:
  const BatchPlan& plan_;
  ReadScratch* scratch_;
  StageClock* clock_;
  std::vector<uint8_t> decoded_;
};

// "SHARD: record R, field 'F': …"
Status LocateInSplit(const Status& status, const BatchPlan& plan, const FieldPlan& field,
                     uint64_t record);

}  // namespace shardmill
