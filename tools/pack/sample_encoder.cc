#include "tools/pack/sample_encoder.h"

#include <utility>

#include "proto/record_meta.pb.h"
#include "reader/base/file.h"
#include "reader/serialize.h"
#include "tools/pack/file_format.h"
#include "tools/pack/measure.h"
#include "tools/pack/one_hot.h"

namespace shardmill {
namespace {

std::string MakeMeta(const Sample& sample, const Placement& placement, bool resized) {
  proto::RecordMeta meta;
  meta.set_key(sample.key);
  meta.set_source_height(placement.source.height);
  meta.set_source_width(placement.source.width);
  meta.set_crop_y(placement.y);
  meta.set_crop_x(placement.x);
  meta.set_crop_height(placement.window.height);
  meta.set_crop_width(placement.window.width);
  if (resized) {
    meta.set_resized_height(placement.resized.height);
    meta.set_resized_width(placement.resized.width);
  }
  meta.set_seed(placement.seed);
  return SerializeDeterministic(meta);
}

// The commonest unknown value and how many there are, for a list of skipped files.
std::string DescribeUnknown(const UnknownValues& unknown) {
  std::pair<uint64_t, uint32_t> most = {0, 0};
  for (const auto& [value, count] : unknown.pixels) most = std::max(most, {count, value});
  return "label: " + FormatCount(unknown.TotalPixels()) + " pixels with " +
         FormatCount(unknown.pixels.size()) + " values that are no class, most of them " +
         FormatLabelValue(most.second);
}

}  // namespace

SampleEncoder::SampleEncoder(const PackPlan& plan, const PackOptions& options,
                             const LabelDecoder& labels)
    : plan_(plan), options_(options), labels_(labels) {}

EncodedSample SampleEncoder::Encode(const Sample& sample, const GeometryOptions& geometry,
                                    SampleWork work) {
  EncodedSample encoded;
  encoded.status = work == SampleWork::kLabelValues ? CheckLabels(sample, &encoded)
                                                    : MakeRecord(sample, geometry, &encoded);
  return encoded;
}

Status SampleEncoder::MakeRecord(const Sample& sample, const GeometryOptions& geometry,
                                 EncodedSample* encoded) {
  const bool segmentation = plan_.task == Task::kSegmentation;
  // Labels first: they are small, and a wrong class table shows in them.
  if (segmentation) RETURN_IF_ERROR(DecodeLabels(sample, encoded));
  ASSIGN_OR_RETURN(std::string file, ReadSource(sample.image, encoded));
  ASSIGN_OR_RETURN(const ImageSize size, decoder_.Open(file, options_.max_pixels));
  // A label that was scaled holds mixed colours too: its size is the better message.
  RETURN_IF_ERROR(CheckSizes(size, geometry));
  if (segmentation) RETURN_IF_ERROR(TakeUnknown(encoded));
  Placement placement = Place(geometry, size, sample.key);
  const Region needed = placement.resized == size ? placement.Visible() : Region{0, 0, size};
  ASSIGN_OR_RETURN(const Region part, decoder_.Read(needed, &image_));
  RgbImage image = converter_.Convert(image_, &encoded->conversions);
  encoded->statistics.set_records(1);
  RETURN_IF_ERROR(EncodeImage(image, placement.Within(part), encoded));
  RETURN_IF_ERROR(segmentation ? EncodeLabels(placement, encoded)
                               : EncodeClassId(sample.class_id, encoded));
  encoded->record.meta = MakeMeta(sample, placement, geometry.resize.has_value());
  return OkStatus();
}

Result<std::string> SampleEncoder::ReadSource(const SourceFile& file,
                                              EncodedSample* encoded) const {
  Result<std::string> content = ReadFile(JoinPath(plan_.root, file.path), file.bytes);
  const bool changed = content.ok() ? content->size() != file.bytes
                                    : content.status().code() == StatusCode::kInvalidArgument;
  if (changed) {
    return DataLossError(file.path + " had " + std::to_string(file.bytes) +
                         " bytes when the folder was listed, and was changed since");
  }
  if (content.ok()) encoded->source_bytes += content->size();
  return content;
}

Status SampleEncoder::DecodeLabels(const Sample& sample, EncodedSample* encoded) {
  const std::string context = "label " + sample.label.path;
  ASSIGN_OR_RETURN(std::string file, ReadSource(sample.label, encoded));
  if (SniffFormat(file) == FileFormat::kJpeg) {
    return DataLossError(context +
                         " is a JPEG file, which changes colours and ids; save labels as PNG");
  }
  RETURN_IF_ERROR(decoder_.Decode(file, options_.max_pixels, &label_image_).WithContext(context));
  const Status stored = decoder_.CheckStoredValues();
  if (!stored.ok()) return DataLossError(context + " " + stored.message());
  if (label_image_.orientation != 1) {
    return DataLossError(context + " carries an EXIF orientation; save it upright");
  }
  unknown_ = UnknownValues();
  Result<LabelKind> kind = labels_.Decode(label_image_, &label_map_, &unknown_);
  if (!kind.ok()) return kind.status().WithContext(context);
  encoded->label_kind = *kind;
  return OkStatus();
}

Status SampleEncoder::TakeUnknown(EncodedSample* encoded) {
  if (unknown_.empty()) return OkStatus();
  encoded->unknown = std::move(unknown_);
  return DataLossError(DescribeUnknown(encoded->unknown));
}

Status SampleEncoder::CheckLabels(const Sample& sample, EncodedSample* encoded) {
  if (plan_.task != Task::kSegmentation) return OkStatus();
  RETURN_IF_ERROR(DecodeLabels(sample, encoded));
  return TakeUnknown(encoded);
}

Status SampleEncoder::CheckSizes(ImageSize image, const GeometryOptions& geometry) const {
  if (plan_.task == Task::kSegmentation && image != label_map_.size) {
    const ImageSize label = label_map_.size;
    std::string message =
        "the image is " + DescribeImageSize(image) + ", its label " + DescribeImageSize(label);
    if (image.height == label.width && image.width == label.height) {
      message += "; the sides are exchanged: probably one of them lost its EXIF orientation";
    }
    return DataLossError(message);
  }
  const bool any_size = geometry.resize.has_value() || geometry.crop.has_value();
  if (!any_size && image != plan_.window) {
    return DataLossError("the image is " + DescribeImageSize(image) + ", the set " +
                         DescribeImageSize(plan_.window) + "; give --resize or --crop");
  }
  return OkStatus();
}

Status SampleEncoder::AddField(size_t index, const void* tensor, uint64_t bytes,
                               EncodedSample* encoded) {
  ASSIGN_OR_RETURN(EncodedField field, fields_.Encode(plan_.schema.fields[index], tensor, bytes));
  encoded->record.fields.push_back(std::move(field));
  return OkStatus();
}

Status SampleEncoder::EncodeImage(RgbImage image, const Placement& placement,
                                  EncodedSample* encoded) {
  if (placement.resized != placement.source) {
    ResizeImage(image, placement.resized, &resized_);
    image = {placement.resized, resized_.data()};
  }
  MeasureImage(image, placement.Visible(), &encoded->statistics);
  const bool whole = placement.window == placement.resized;
  if (!whole) CutImage(image, placement, options_.pad_value, &cut_);
  return AddField(0, whole ? image.pixels : cut_.data(), placement.window.pixels() * 3, encoded);
}

Status SampleEncoder::EncodeLabels(const Placement& placement, EncodedSample* encoded) {
  const ClassIdMap* labels = &label_map_;
  if (placement.resized != placement.source) {
    ResizeLabels(*labels, placement.resized, &resized_labels_);
    labels = &resized_labels_;
  }
  MeasureLabels(*labels, placement.Visible(), static_cast<uint32_t>(plan_.schema.classes.size()),
                &encoded->statistics);
  if (placement.window != placement.resized) {
    CutLabels(*labels, placement, plan_.schema.ignore.value_or(0), &cut_labels_);
    labels = &cut_labels_;
  }
  return AddLabelField(labels->bytes.data(), labels->size.pixels(), encoded);
}

Status SampleEncoder::EncodeClassId(uint32_t class_id, EncodedSample* encoded) {
  MeasureClassId(class_id, static_cast<uint32_t>(plan_.schema.classes.size()),
                 &encoded->statistics);
  const auto wide = static_cast<uint16_t>(class_id);
  const auto narrow = static_cast<uint8_t>(class_id);
  return plan_.label_dtype == DType::kU8 ? AddLabelField(&narrow, 1, encoded)
                                         : AddLabelField(&wide, 1, encoded);
}

Status SampleEncoder::AddLabelField(const void* ids, uint64_t count, EncodedSample* encoded) {
  const FieldSpec& field = plan_.schema.fields[1];
  if (field.encoding == LabelEncoding::kIndex) {
    return AddField(1, ids, count * DTypeBytes(plan_.label_dtype), encoded);
  }
  EncodeOneHot(field.encoding, plan_.label_dtype, ids, count,
               static_cast<uint32_t>(plan_.schema.classes.size()), &one_hot_);
  return AddField(1, one_hot_.data(), one_hot_.size(), encoded);
}

}  // namespace shardmill
