// Makes the records of one sample: read, decode, convert, place, measure, encode.
//
// An encoder belongs to one worker thread; the plan and the label decoder are shared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/status.h"
#include "reader/codec.h"
#include "reader/shard_writer.h"
#include "tools/pack/decode/image_decode.h"
#include "tools/pack/decode/rgb_convert.h"
#include "tools/pack/geometry/geometry.h"
#include "tools/pack/inputs/source_file.h"
#include "tools/pack/labels/label_decode.h"
#include "tools/pack/labels/label_read.h"
#include "tools/pack/pack_plan.h"
#include "tools/pack/records/raster.h"

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
  // Pixels of the source, and which part of it they are; the whole when it was resized.
  struct ImagePart {
    RgbImage rgb;
    Region part;
  };
  // The image file of the sample, until the next one is read.
  Result<std::string_view> ReadImageFile(const Sample& sample, EncodedSample* encoded);
  // Of a set of arrays.
  Status MakeArrayRecord(const Sample& sample, EncodedSample* encoded);
  // The size of the upright image; with PackOptions::bands it is read into raster_.
  Result<ImageSize> OpenImage(std::string_view file);
  // Pixels of raster_ that hold no data have no class.
  Status TakeNoData(EncodedSample* encoded);
  // Keeps a JPEG file that holds just what its record would, and its pixels in stored_pixels_.
  bool KeepJpeg(std::string_view file, const std::vector<Placement>& placements);
  // Whether the record's pixels are a part of the file's, as they are.
  bool IsPlainWindow(const std::vector<Placement>& placements) const;
  // Decodes at least what the windows show, and resizes it. Of a plain window: sets window_ alone.
  Result<ImagePart> ReadImage(const std::vector<Placement>& placements,
                              const GeometryOptions& geometry, EncodedSample* encoded);
  // Begins the record in work with its label; moves the placement while too much of it is ignored.
  // False: no place was found, the record is dropped.
  Result<bool> BeginRecord(const Sample& sample, const GeometryOptions& geometry,
                           Placement* placement, EncodedSample* encoded);
  // Adds the image and takes the record.
  Status EndRecord(const Sample& sample, const ImagePart& image, const Placement& placement,
                   EncodedSample* encoded);
  // Sets placed_labels_ and their statistics; moves the window while too much of it is ignored.
  // False: no place was found, the record is to be dropped.
  bool PlaceLabels(const Sample& sample, const GeometryOptions& geometry, Placement* placement);
  void CutPlacedLabels(const Placement& placement);
  // Fills label_map_ and unknown_.
  Status ReadLabels(const Sample& sample, EncodedSample* encoded);
  // The same for an image without a label.
  void IgnoreAll(ImageSize size, EncodedSample* encoded);
  // An error that describes unknown_, unless there is nothing in it.
  Status TakeUnknown(EncodedSample* encoded);
  Status CheckLabels(const Sample& sample, EncodedSample* encoded);
  Status CheckSizes(ImageSize image, const GeometryOptions& geometry) const;
  Result<EncodedField> EncodeImage(const ImagePart& image, const Placement& placement);
  // The field of the record's pixels. Sets how many bytes a sample has, and where the pixels are
  // unless they are stored raw.
  Result<EncodedField> EncodePlaced(const ImagePart& image, const Placement& placement,
                                    RgbImage* placed);
  // The pixels of the record, in `image` or cut_.
  const uint8_t* PlaceImage(const ImagePart& image, const Placement& placement);
  // The pixels that a reader will get, which JPEG changes: fills stored_pixels_.
  Status DecodeStored(const EncodedField& field, ImageSize size);
  Result<EncodedField> EncodeClassId(uint32_t class_id);
  Result<EncodedField> EncodeLabel(const void* ids, ImageSize size);

  const PackPlan& plan_;
  const PackOptions& options_;
  LabelReader labels_;
  ImageDecoder decoder_;
  FieldEncoder image_encoder_, label_encoder_;
  FieldDecoder field_decoder_;
  RgbConverter converter_;
  // Buffers that keep their size from sample to sample.
  SourceFileReader file_;
  std::string embedded_image_;
  SourceImage image_;
  Raster raster_;
  ClassIdMap label_map_, resized_labels_, cut_labels_;
  const ClassIdMap* placed_labels_ = nullptr;  // of the record in work
  // Of the record in work.
  EncodedField label_field_;
  proto::Statistics statistics_;
  UnknownValues unknown_;
  // The image of the record in work, where it is known without cutting.
  std::optional<EncodedField> kept_jpeg_;
  std::optional<std::string> window_;
  std::vector<uint8_t> resized_, cut_, one_hot_, stored_pixels_;
};

}  // namespace shardmill
