// Fills single rows of a slot: reads the fields of one record, cuts, turns and pads them, and
// delivers them.
//
// Internal to the batch loader. One object belongs to one worker; its memory is kept from row to
// row.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "reader/batch_plan.h"
#include "reader/batch_slot.h"
#include "reader/scaled_window.h"
#include "reader/shard_reader.h"
#include "reader/stage_clock.h"

namespace shardmill {

class RowFiller {
 public:
  // All of them must outlive the filler.
  RowFiller(const BatchPlan* plan, ReadScratch* scratch, StageClock* clock);

  // Field number `index` of the plan. An error names shard, record and field.
  Status FillField(size_t index, uint64_t row, uint64_t record, BatchSlot* slot);
  // All fields. After an error the row holds bytes of no meaning.
  Status FillRow(uint64_t row, uint64_t record, BatchSlot* slot);
  // All bytes of the row become zero.
  void ClearRow(uint64_t row, BatchSlot* slot) const;
  // Whether the record is no longer than the rows of the batch, so that it can stand for another.
  // What cannot be read fits: reading it will say why not.
  bool Fits(uint64_t record, const BatchSlot& slot);

 private:
  Status ReadShape(const FieldPlan& field, uint64_t record);
  Status ReadTensor(const FieldPlan& field, uint64_t record, uint8_t* out, uint64_t bytes);
  Status FillPlain(const FieldPlan& field, uint64_t record, uint8_t* out);
  Status FillShaped(size_t index, uint64_t row, uint64_t record, BatchSlot* slot);
  void NoteLengths(const std::vector<int64_t>& padded_shape, const FieldPlan& field, uint64_t row,
                   FieldView* view) const;
  Result<uint8_t*> ApplyWindow(const FieldPlan& field, uint64_t record, const OrderKey& key,
                               uint64_t position, const uint8_t* tensor, uint8_t* out);
  uint8_t* ApplyPadding(const FieldPlan& field, const std::vector<int64_t>& padded_shape,
                        uint8_t* tensor, uint8_t* out);
  void CopyScaled(const FieldPlan& field, const PixelImage& image, const PixelWindow& window,
                  uint8_t* out);
  Status CheckSize(const FieldPlan& field, uint64_t record);
  uint64_t ShapeBytes(const FieldPlan& field) const;

  const BatchPlan& plan_;
  ReadScratch* scratch_;
  StageClock* clock_;
  std::vector<uint32_t> dims_;
  std::vector<int64_t> shape_;  // of the tensor in work
  std::vector<uint8_t> decoded_;
  std::vector<uint8_t> windowed_;
  ScaledWindowCopier scaled_;
  std::vector<uint8_t> padded_;
};

// "SHARD: record R, field 'F': …"
Status LocateInSplit(const Status& status, const BatchPlan& plan, const FieldPlan& field,
                     uint64_t record);

}  // namespace shardmill
