#include "reader/batch.h"

#include <utility>

#include "reader/base/status.h"
#include "reader/batch_slot.h"

namespace shardmill {

Batch::Batch(std::shared_ptr<LoaderState> loader, BatchSlot* slot)
    : loader_(std::move(loader)), slot_(slot) {}

Batch::~Batch() { Release(); }

Batch::Batch(Batch&& other) noexcept
    : loader_(std::move(other.loader_)), slot_(std::exchange(other.slot_, nullptr)) {}

Batch& Batch::operator=(Batch&& other) noexcept {
  if (this == &other) return *this;
  Release();
  loader_ = std::move(other.loader_);
  slot_ = std::exchange(other.slot_, nullptr);
  return *this;
}

void Batch::Release() {
  if (slot_ != nullptr) ReleaseSlot(loader_.get(), slot_);
  slot_ = nullptr;
  loader_ = nullptr;
}

uint64_t Batch::epoch() const { return slot_->epoch; }
uint64_t Batch::step() const { return slot_->step; }
int64_t Batch::rows() const { return static_cast<int64_t>(slot_->rows); }
int64_t Batch::global_rows() const { return static_cast<int64_t>(slot_->global_rows); }
const std::vector<uint64_t>& Batch::records() const { return slot_->delivered; }
const std::vector<float>& Batch::weights() const { return slot_->weights; }
int Batch::field_count() const { return static_cast<int>(slot_->fields.size()); }
const FieldView& Batch::field(int index) const { return slot_->fields.at(index); }

const FieldView& Batch::field(std::string_view name) const {
  for (const FieldView& view : slot_->fields) {
    if (view.name == name) return view;
  }
  SHARDMILL_CHECK(!"the batch has the field that was asked for");
  return slot_->fields.front();
}

}  // namespace shardmill
