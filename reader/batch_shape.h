// The shapes of a batch: how long its padded fields are.
//
// All ranks pad to the longest record of the global batch, so their shapes agree. Internal to the
// batch loader; one object belongs to the thread that produces batches.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "reader/batch_loader.h"
#include "reader/batch_plan.h"
#include "reader/batch_slot.h"
#include "reader/record_order.h"

namespace shardmill {

class BatchShape {
 public:
  // Both must outlive the object.
  BatchShape(const BatchPlan* plan, const BatchLoaderOptions* options);

  // Makes room in a new slot, so that Decide() allocates nothing.
  void Prepare(BatchSlot* slot) const;
  // Sets the shapes of the slot's batch, which has its step and rows; `order` is in its epoch.
  // InvalidArgument for a record that is longer than padding allows.
  Status Decide(RecordOrder* order, BatchSlot* slot);

 private:
  Status FindLongest(const FieldPlan& field, std::vector<int64_t>* longest);
  Status NoteLengths(const FieldPlan& field, uint64_t record, std::vector<int64_t>* longest);
  void SetShape(const FieldPlan& field, const std::vector<int64_t>& lengths, SlotField* shape,
                FieldView* view) const;

  const BatchPlan& plan_;
  const BatchLoaderOptions& options_;
  const bool has_padding_;
  std::vector<uint64_t> records_;  // of the global batch
  std::vector<float> weights_;
  std::vector<uint32_t> dims_;
  std::vector<int64_t> longest_;
};

}  // namespace shardmill
