// Makes the records of one sample: read, decode, convert, place, measure, encode.
//
// An encoder belongs to one worker thread; the plan and the label decoder are shared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/status.h"
#include "reader/codec.h"
#include "reader/shard_writer.h"
#include "tools/pack/geometry.h"
#include "tools/pack/image_decode.h"
#include "tools/pack/label_decode.h"
#include "tools/pack/label_read.h"
#include "tools/pack/pack_plan.h"
#include "tools/pack/rgb_convert.h"

namespace shardmill {

struct EncodedSample {
  Status status;  // why there is no record; the message does not name the sample
  std::vector<EncodedRecord> records;
  proto::Statistics statistics;  // of all records
  ConversionCounts conversions = {};
  std::optional<DecodedLabel> label;
  UnknownValues unknown;  // not empty: `status` says so too
  uint64_t source_bytes = 0;
};

enum class SampleWork {
  kRecord,
  // Only decodes the label, to count unknown values once the pack can no longer succeed.
  kLabelValues,
};

// For the label files of the plan.
LabelDecoder MakeLabelDecoder(const PackPlan& plan);

class SampleEncoder {
 public:
  SampleEncoder(const PackPlan& plan, const PackOptions& options, const LabelDecoder& labels);

  EncodedSample Encode(const Sample& sample, const GeometryOptions& geometry, SampleWork work);

 private:
  Status MakeRecords(const Sample& sample, const GeometryOptions& geometry, EncodedSample* encoded);
  // Decodes what the windows show, resizes it, and makes them refer to it.
  Result<RgbImage> ReadImage(std::vector<Placement>* placements, EncodedSample* encoded);
  // Keeps a JPEG file that holds just what its record would, and its pixels in stored_pixels_.
  bool KeepJpeg(std::string file, const std::vector<Placement>& placements);
  Status AddRecord(const Sample& sample, const RgbImage& image, const Placement& placement,
                   const Placement& in_image, EncodedSample* encoded);
  // Fills label_map_ and unknown_.
  Status ReadLabels(const Sample& sample, EncodedSample* encoded);
  // An error that describes unknown_, unless there is nothing in it.
  Status TakeUnknown(EncodedSample* encoded);
  Status CheckLabels(const Sample& sample, EncodedSample* encoded);
  Status CheckSizes(ImageSize image, const GeometryOptions& geometry) const;
  Status EncodeImage(const RgbImage& image, const Placement& placement, EncodedRecord* record);
  // Of the pixels that a reader will get, which JPEG changes; fills stored_pixels_.
  Status MeasureStored(const EncodedField& field, const Placement& placement);
  Status EncodeLabels(const Placement& placement, EncodedRecord* record);
  Status EncodeClassId(uint32_t class_id, EncodedRecord* record);
  Status AddLabelField(const void* ids, ImageSize size, EncodedRecord* record);

  const PackPlan& plan_;
  const PackOptions& options_;
  LabelReader labels_;
  ImageDecoder decoder_;
  FieldEncoder image_encoder_, label_encoder_;
  FieldDecoder field_decoder_;
  RgbConverter converter_;
  // Buffers that keep their size from sample to sample.
  SourceImage image_;
  ClassIdMap label_map_, resized_labels_, cut_labels_;
  proto::Statistics statistics_;  // of the record in work
  UnknownValues unknown_;
  std::optional<EncodedField> kept_jpeg_;  // the image of the record in work
  std::vector<uint8_t> resized_, cut_, one_hot_, stored_pixels_;
};

}  // namespace shardmill
