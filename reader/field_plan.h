// How one field comes from a record into the slot: read, cut and turned, padded, delivered.
//
// Internal to the batch loader. Immutable once planned; safe for concurrent use.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reader/augment.h"
#include "reader/base/status.h"
#include "reader/dataset.h"
#include "reader/field_request.h"
#include "reader/image_normalize.h"
#include "reader/label_expand.h"
#include "reader/schema.h"

namespace shardmill {

struct FieldPlan {
  int stored_index = 0;  // in the schema
  FieldSpec stored;
  FieldSpec delivered;           // -1 where the batch decides the length
  uint64_t stored_bytes = 0;     // of one decoded record; at most, where that is known
  uint64_t shaped_bytes = 0;     // the same after cutting and padding
  uint64_t delivered_bytes = 0;  // of one record in the slot, at most
  uint64_t slot_offset = 0;      // of row 0, from the start of the slot's buffer
  std::optional<LabelExpander> expander;
  std::optional<ImageNormalizer> normalizer;
  uint64_t pixel_elements = 1;  // of the stored tensor, per pixel

  bool is_spatial = false;           // lies on the image, or is it
  bool has_window = false;           // pixels are moved, or at least copied to change colours
  bool has_colors = false;           // colours are changed
  std::vector<uint8_t> pad_element;  // stands outside of the source
  bool lacks_pad_element = false;    // there is no label for that
  std::optional<Padding> padding;
  std::vector<int64_t> longest;  // padded length per varying dimension, at most

  bool IsCoded() const { return stored.codec != Codec::kRaw; }
  // Nothing but the delivery lies between the record and the slot.
  bool IsPlain() const { return !has_window && !padding.has_value(); }
  bool Delivers() const { return expander.has_value() || normalizer.has_value(); }
  bool Converts() const {
    return normalizer.has_value() || (expander.has_value() && !expander->IsInPlace());
  }
  // From a tensor of `elements` elements to the slot; both may be the same unless Converts().
  Status Deliver(const uint8_t* tensor, uint64_t elements, uint8_t* out) const;
};

struct FieldPlanner {
  const Dataset& dataset;
  const Dataset::Split& split;
  const Augment& augment;

  // InvalidArgument names the field, or lists those that exist.
  Result<FieldPlan> Plan(const FieldRequest& request) const;

 private:
  Status PlanWindow(const FieldRequest& request, FieldPlan* plan, FieldSpec* shaped) const;
  Status PlanPadding(const FieldRequest& request, const FieldSpec& shaped, FieldPlan* plan) const;
  Status PlanDelivery(const FieldRequest& request, const FieldSpec& shaped, FieldPlan* plan) const;
  std::vector<int64_t> LongestOf(int field) const;
};

// InvalidArgument when images and class maps of a fixed shape differ in size, or there is neither.
Status CheckSpatialFields(const std::vector<FieldPlan>& fields);

}  // namespace shardmill
