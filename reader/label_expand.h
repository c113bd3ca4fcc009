// Label delivery: any stored label encoding to class ids or to one-hot vectors.
//
// The class axis is the last one: a class map [H, W] is delivered as [H, W] (index) or [H, W, K]
// (one-hot), a class id as [1] or [K]. A pixel that belongs to no class (the ignore value, or an
// all-zero stored vector) is the ignore value in index form and all-zero in one-hot form.
// Stored values that are no label (a class id >= K, two classes at once, bits behind the last
// class) are DataLoss; they never turn into a class.
//
// Immutable after Create; safe for concurrent use.
#pragma once

#include <cstdint>
#include <optional>

#include "reader/base/status.h"
#include "reader/delivery.h"
#include "reader/schema.h"

namespace shardmill {

class LabelExpander {
 public:
  // `stored` is a label field of `schema` and `delivery` one for labels, else InvalidArgument.
  // Height and width may vary from record to record.
  static Result<LabelExpander> Create(const FieldSpec& stored, const RecordSchema& schema,
                                      Delivery delivery);

  // One record after delivery: dtype, shape, encoding; the codec is raw.
  const FieldSpec& delivered() const { return delivered_; }

  // The stored tensor is the delivered one: Expand() only checks it, and both pointers may be
  // the same.
  bool IsInPlace() const { return in_place_; }

  // Expands one record of `pixels` pixels from its decoded tensor; unless IsInPlace(), the two
  // ranges must not overlap. `delivered` is aligned for its dtype.
  Status Expand(const uint8_t* stored, uint64_t pixels, uint8_t* delivered) const;
  // The error that Expand() would return, for who delivers a part of the record only.
  Status Check(const uint8_t* stored, uint64_t pixels) const;
  // Expand() for a record of a fixed shape.
  Status Expand(const uint8_t* stored, uint8_t* delivered) const {
    return Expand(stored, pixels_, delivered);
  }

 private:
  LabelExpander() = default;
  bool IsInRange(const uint8_t* stored, uint64_t pixels) const;
  bool Streams(uint64_t pixels, const uint8_t* delivered) const;
  Status ExpandChunks(const uint8_t* stored, uint64_t pixels, uint8_t* delivered,
                      float* values) const;
  bool Classify(const uint8_t* stored, uint64_t first, uint64_t count, uint32_t* ids) const;
  Status CheckClasses(const uint32_t* ids, uint64_t first, uint64_t count) const;
  Status WriteChunk(const uint32_t* ids, uint64_t first, uint64_t count, uint8_t* delivered) const;
  Status DescribeBadPixel(const uint8_t* stored, uint64_t first, const uint32_t* ids,
                          uint64_t count) const;

  FieldSpec stored_;
  FieldSpec delivered_;
  Delivery delivery_ = Delivery::kIndex;
  uint64_t pixels_ = 0;  // of a fixed shape
  uint32_t classes_ = 0;
  std::optional<uint32_t> ignore_;
  uint64_t stored_pixel_bytes_ = 0;
  uint64_t chunk_pixels_ = 0;
  bool in_place_ = false;
};

}  // namespace shardmill
