#include "tools/pack/records/sample_encoder.h"
#include "tools/pack/inputs/array_form.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "proto/record_meta.pb.h"
#include "reader/names.h"
#include "reader/serialize.h"
#include "reader/statistics.h"
#include "tools/pack/annotations/annotation_label.h"
#include "tools/pack/augment/augment_image.h"
#include "tools/pack/augment/warp.h"
#include "tools/pack/labels/one_hot.h"
#include "tools/pack/records/measure.h"

namespace shardmill {
namespace {

std::string MakeMeta(const std::string& key, const Placement& placement, bool resized) {
  proto::RecordMeta meta;
  meta.set_key(key);
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
  meta.set_variant(placement.variant);
  meta.set_seed(placement.seed);
  if (placement.augmentation.has_value()) {
    AugmentationToProto(*placement.augmentation, meta.mutable_augmentation());
  }
  return SerializeDeterministic(meta);
}

// How often a window is placed that has too much of the ignore value in it.
constexpr uint32_t kPlacingAttempts = 10;

// The commonest unknown value and how many there are, for a list of skipped files.
std::string DescribeUnknown(const UnknownValues& unknown) {
  std::pair<uint64_t, uint32_t> most = {0, 0};
  for (const auto& [value, count] : unknown.pixels) most = std::max(most, {count, value});
  return "label: " + FormatCount(unknown.TotalPixels()) + " pixels with " +
         FormatCount(unknown.pixels.size()) + " values that are no class, most of them " +
         FormatLabelValue(most.second);
}

// The dimensions of the field that vary: none, or height and width.
std::vector<uint32_t> VariableDims(const FieldSpec& field, ImageSize size) {
  return field.IsFixedShape() ? std::vector<uint32_t>()
                              : std::vector<uint32_t>{size.height, size.width};
}

// Stored as infinite, they would say something else.
Status TooLargeError(const NpyNumbers& numbers) {
  char example[32];
  std::snprintf(example, sizeof example, "%g", numbers.first_too_large);
  std::string place;
  for (const uint32_t index : numbers.first_too_large_at) {
    place += (place.empty() ? "" : ", ") + std::to_string(index);
  }
  return DataLossError(FormatCount(numbers.too_large) +
                       " of its 64-bit numbers are too large for 32 bits, the first: " + example +
                       " at [" + place + "]; scale the array");
}

}  // namespace

LabelDecoder MakeLabelDecoder(const PackPlan& plan) {
  LabelDecoderOptions options;
  options.classes = plan.schema.classes;
  options.rules = plan.labels;
  options.dtype = plan.label_dtype;
  return LabelDecoder(options);
}

SampleEncoder::SampleEncoder(const PackPlan& plan, const PackOptions& options,
                             const LabelDecoder& labels)
    : plan_(plan),
      options_(options),
      labels_({plan.root, plan.labels, options.max_pixels}, labels),
      image_encoder_(options.image_codec.effort),
      label_encoder_(options.label_codec.effort) {}

EncodedSample SampleEncoder::Encode(const Sample& sample, const GeometryOptions& geometry,
                                    SampleWork work) {
  EncodedSample encoded;
  encoded.status = work == SampleWork::kLabelValues ? CheckLabels(sample, &encoded)
                                                    : MakeRecords(sample, geometry, &encoded);
  return encoded;
}

Status SampleEncoder::MakeRecords(const Sample& sample, const GeometryOptions& geometry,
                                  EncodedSample* encoded) {
  if (plan_.holds_arrays) return MakeArrayRecord(sample, encoded);
  const bool segmentation = plan_.task == Task::kSegmentation;
  const bool labelled = !sample.label.path.empty();
  // Labels first: they are small, and a wrong class table shows in them.
  if (segmentation && labelled) RETURN_IF_ERROR(ReadLabels(sample, encoded));
  ASSIGN_OR_RETURN(const std::string_view file, ReadImageFile(sample, encoded));
  ASSIGN_OR_RETURN(const ImageSize size, OpenImage(file));
  if (segmentation && !labelled) IgnoreAll(size, encoded);
  // A label that was scaled holds mixed colours too: its size is the better message.
  RETURN_IF_ERROR(CheckSizes(size, geometry));
  if (segmentation) RETURN_IF_ERROR(TakeUnknown(encoded));
  if (options_.bands.has_value()) RETURN_IF_ERROR(TakeNoData(encoded));
  ASSIGN_OR_RETURN(std::vector<Placement> placements, PlaceRecords(geometry, size, sample.key));
  if (segmentation && placements.front().resized != size) {
    ResizeLabels(label_map_, placements.front().resized, &resized_labels_);
    std::swap(label_map_, resized_labels_);
  }
  // A label is encoded before the image is decoded where it can be: it is still in the cache.
  const bool label_first = placements.size() == 1;
  bool keeps = true;
  if (label_first) {
    ASSIGN_OR_RETURN(keeps, BeginRecord(sample, geometry, &placements.front(), encoded));
  }
  ImagePart image;
  if (KeepJpeg(file, placements)) {
    ++encoded->conversions[kJpegKept];
    if (decoder_.HasBrokenExif()) ++encoded->conversions[kBrokenExifIgnored];
  } else {
    ASSIGN_OR_RETURN(image, ReadImage(placements, geometry, encoded));
  }
  for (Placement& placement : placements) {
    if (!label_first) {
      ASSIGN_OR_RETURN(keeps, BeginRecord(sample, geometry, &placement, encoded));
    }
    if (keeps) RETURN_IF_ERROR(EndRecord(sample, image, placement, encoded));
  }
  return OkStatus();
}

Result<std::string_view> SampleEncoder::ReadImageFile(const Sample& sample,
                                                      EncodedSample* encoded) {
  ASSIGN_OR_RETURN(const std::string_view file, file_.Read(plan_.root, sample.image));
  if (!sample.image_is_embedded) {
    encoded->source_bytes += file.size();
    return file;
  }
  ASSIGN_OR_RETURN(embedded_image_, EmbeddedImage(file));
  return std::string_view(embedded_image_);
}

Status SampleEncoder::MakeArrayRecord(const Sample& sample, EncodedSample* encoded) {
  ASSIGN_OR_RETURN(const std::string_view file, file_.Read(plan_.root, sample.image));
  encoded->source_bytes += file.size();
  ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyHeader(file, file.size()));
  const FieldSpec& spec = plan_.schema.fields[0];
  ASSIGN_OR_RETURN(std::vector<uint32_t> dims, FitArray(header, spec.dtype, spec.shape));
  const NpyNumbers numbers = CopyNpyArray(header, file, &cut_);
  if (numbers.too_large > 0) return TooLargeError(numbers);
  encoded->conversions[kNotFiniteKept] += numbers.not_finite > 0;
  if (header.type == NpyType::kF64) ++encoded->conversions[kDoubleToFloat];
  statistics_.Clear();
  statistics_.set_records(1);
  EncodedRecord record;
  ASSIGN_OR_RETURN(EncodedField field,
                   image_encoder_.Encode(spec, cut_.data(), cut_.size(), std::move(dims)));
  record.fields.push_back(std::move(field));
  ASSIGN_OR_RETURN(field, EncodeClassId(sample.class_id));
  record.fields.push_back(std::move(field));
  proto::RecordMeta meta;
  meta.set_key(sample.key);
  record.meta = SerializeDeterministic(meta);
  AddStatistics(statistics_, &encoded->statistics);
  encoded->records.push_back(std::move(record));
  return OkStatus();
}

Result<ImageSize> SampleEncoder::OpenImage(std::string_view file) {
  if (!options_.bands.has_value()) return decoder_.Open(file, options_.max_pixels);
  RETURN_IF_ERROR(ReadRaster(file, *options_.bands, options_.max_pixels, &raster_));
  if (raster_.form == plan_.raster) return raster_.size;
  return DataLossError("it has " + DescribeRasterForm(raster_.form) + ", the set " +
                       DescribeRasterForm(plan_.raster));
}

Status SampleEncoder::TakeNoData(EncodedSample* encoded) {
  encoded->conversions[kBrokenExifIgnored] += raster_.had_broken_orientation;
  if (raster_.no_data.empty()) return OkStatus();
  ++encoded->conversions[kNoDataFilled];
  if (plan_.task != Task::kSegmentation) return OkStatus();
  return IgnoreNoData(raster_, plan_.schema.ignore, &label_map_);
}

bool SampleEncoder::KeepJpeg(std::string_view file, const std::vector<Placement>& placements) {
  kept_jpeg_.reset();
  const FieldSpec& spec = plan_.schema.fields[0];
  const Placement& placement = placements.front();
  const bool unchanged = placements.size() == 1 && placement.resized == placement.source &&
                         placement.ShowsAll() && !placement.augmentation.has_value();
  if (spec.codec != Codec::kJpeg || !unchanged || !decoder_.IsUprightJpeg()) return false;
  // The reader's own decoder is the judge: a file that it refuses is decoded and encoded again.
  EncodedField field = MakeEncodedField(std::string(file), VariableDims(spec, placement.window));
  stored_pixels_.resize(placement.window.pixels() * 3);
  const Status status =
      field_decoder_.Decode(spec, field.bytes.data(), field.bytes.size(), stored_pixels_.data(),
                            stored_pixels_.size(), field.variable_dims);
  if (status.ok()) kept_jpeg_ = std::move(field);
  return status.ok();
}

bool SampleEncoder::IsPlainWindow(const std::vector<Placement>& placements) const {
  return placements.size() == 1 && !placements.front().IsPadded() && decoder_.IsPlainRgb() &&
         plan_.schema.fields[0].codec == Codec::kRaw && options_.image_type == DType::kU8;
}

Result<SampleEncoder::ImagePart> SampleEncoder::ReadImage(const std::vector<Placement>& placements,
                                                          const GeometryOptions& geometry,
                                                          EncodedSample* encoded) {
  const ImageSize size = placements.front().source, resized = placements.front().resized;
  window_.reset();
  if (options_.bands.has_value()) return ImagePart{{}, {0, 0, size}};
  const bool whole = resized != size || geometry.augment.copies > 0 || geometry.MayRedraw();
  Region needed = whole ? Region{0, 0, size} : VisibleInAny(placements);
  if (!whole && IsPlainWindow(placements)) {
    window_.emplace();
    ASSIGN_OR_RETURN(const bool stray_bytes, decoder_.ReadPlainRgb(needed, &*window_));
    encoded->conversions[kStrayBytesIgnored] += stray_bytes;
    return ImagePart{};
  }
  if (resized != size && options_.fast_resize) {
    ASSIGN_OR_RETURN(needed.size, decoder_.Shrink(resized));
  }
  ImagePart image;
  ASSIGN_OR_RETURN(image.part, decoder_.Read(needed, &image_));
  const int sample_bytes = options_.image_type == DType::kU16 ? 2 : 1;
  image.rgb = converter_.Convert(image_, &encoded->conversions, sample_bytes);
  if (resized == size) return image;
  ResizeImage(image.rgb, resized, &resized_);
  image.rgb = {resized, resized_.data(), sample_bytes};
  return image;
}

Result<bool> SampleEncoder::BeginRecord(const Sample& sample, const GeometryOptions& geometry,
                                        Placement* placement, EncodedSample* encoded) {
  statistics_.Clear();
  statistics_.set_records(1);
  if (plan_.task != Task::kSegmentation) {
    ASSIGN_OR_RETURN(label_field_, EncodeClassId(sample.class_id));
    return true;
  }
  if (!PlaceLabels(sample, geometry, placement)) {
    encoded->statistics.set_dropped_records(encoded->statistics.dropped_records() + 1);
    return false;
  }
  ASSIGN_OR_RETURN(label_field_, EncodeLabel(placed_labels_->bytes.data(), placed_labels_->size));
  return true;
}

Status SampleEncoder::EndRecord(const Sample& sample, const ImagePart& image,
                                const Placement& placement, EncodedSample* encoded) {
  EncodedRecord record;
  record.fields.reserve(2);
  ASSIGN_OR_RETURN(EncodedField image_field, EncodeImage(image, placement));
  record.fields.push_back(std::move(image_field));
  record.fields.push_back(std::move(label_field_));
  const std::string key = VariantKey(sample.key, placement.variant);
  if (!IsRecordKey(key)) return DataLossError("its path is too long for a key with #v…");
  record.meta = MakeMeta(key, placement, options_.resize.has_value());
  AddStatistics(statistics_, &encoded->statistics);
  encoded->records.push_back(std::move(record));
  return OkStatus();
}

bool SampleEncoder::PlaceLabels(const Sample& sample, const GeometryOptions& geometry,
                                Placement* placement) {
  for (uint32_t attempt = 1;; ++attempt) {
    CutPlacedLabels(*placement);
    const uint64_t pixels = placement->window.pixels();
    uint64_t labelled = 0;
    for (uint64_t count : statistics_.class_pixels()) labelled += count;
    if ((pixels - labelled) * 1000 <= geometry.max_ignore_permille * pixels) return true;
    if (placement->seed == 0 || attempt == kPlacingAttempts) return false;
    *placement = PlaceAgain(geometry, *placement, sample.key, attempt);
  }
}

void SampleEncoder::CutPlacedLabels(const Placement& placement) {
  const uint32_t ignore = plan_.schema.ignore.value_or(0);
  placed_labels_ = &cut_labels_;
  if (placement.augmentation.has_value()) {
    WarpLabels(label_map_, placement.augmentation->map, placement.window, ignore, &cut_labels_);
  } else if (placement.ShowsAll()) {
    placed_labels_ = &label_map_;
  } else {
    CutLabels(label_map_, placement, ignore, &cut_labels_);
  }
  statistics_.clear_class_pixels();
  statistics_.clear_class_images();
  statistics_.clear_class_image_pixels();
  MeasureLabels(*placed_labels_, placement.ShownRows(),
                static_cast<uint32_t>(plan_.schema.classes.size()), &statistics_);
}

Status SampleEncoder::ReadLabels(const Sample& sample, EncodedSample* encoded) {
  ASSIGN_OR_RETURN(encoded->label,
                   labels_.Read(sample, &label_map_, &unknown_, &encoded->source_bytes));
  return OkStatus();
}

void SampleEncoder::IgnoreAll(ImageSize size, EncodedSample* encoded) {
  const uint32_t ignore = plan_.schema.ignore.value_or(0);
  const uint64_t id_bytes = DTypeBytes(plan_.label_dtype);
  label_map_.size = size;
  label_map_.dtype = plan_.label_dtype;
  label_map_.bytes.resize(size.pixels() * id_bytes);
  for (size_t i = 0; i < label_map_.bytes.size(); ++i) {
    label_map_.bytes[i] = static_cast<uint8_t>(ignore >> (8 * (i % id_bytes)));
  }
  unknown_ = UnknownValues();
  encoded->label.emplace().kind = kNoLabel;
}

Status SampleEncoder::TakeUnknown(EncodedSample* encoded) {
  if (unknown_.empty()) return OkStatus();
  encoded->unknown = std::move(unknown_);
  return DataLossError(DescribeUnknown(encoded->unknown));
}

Status SampleEncoder::CheckLabels(const Sample& sample, EncodedSample* encoded) {
  if (plan_.task != Task::kSegmentation || sample.label.path.empty()) return OkStatus();
  RETURN_IF_ERROR(ReadLabels(sample, encoded));
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
  const ImageSize resized = geometry.resize ? geometry.resize->Apply(image) : image;
  const uint32_t longest = std::max(resized.height, resized.width);
  if (resized != image && (longest > kMaxImageSide || resized.pixels() > options_.max_pixels)) {
    return DataLossError("resized it would be " + DescribeImageSize(resized) +
                         ", which is more than --max-pixels or " + FormatCount(kMaxImageSide) +
                         " along a side");
  }
  if (resized != image && std::max(image.height, image.width) > kMaxImageSide) {
    return DataLossError(DescribeImageSize(image) + " cannot be resized: a side has more than " +
                         FormatCount(kMaxImageSide) + " pixels");
  }
  const bool too_small = geometry.crop.has_value() && (resized.height < geometry.crop->height ||
                                                       resized.width < geometry.crop->width);
  if (too_small && options_.small_images == SmallImages::kRefuse) {
    return DataLossError("the image is " + DescribeImageSize(resized) +
                         (geometry.resize ? " after --resize" : "") + ", smaller than --crop " +
                         FormatImageSize(*geometry.crop));
  }
  const bool one_size = plan_.window.pixels() > 0;
  if (one_size && !geometry.crop.has_value() && resized != plan_.window) {
    return DataLossError("the image is " + DescribeImageSize(resized) +
                         (geometry.resize ? " after --resize" : "") + ", the set " +
                         DescribeImageSize(plan_.window) + "; give " +
                         (geometry.resize ? "" : "--resize or ") + "--crop");
  }
  return OkStatus();
}

Result<EncodedField> SampleEncoder::EncodeImage(const ImagePart& image,
                                                const Placement& placement) {
  const ImageSize size = placement.window;
  RgbImage placed = {size, stored_pixels_.data()};
  EncodedField field;
  if (kept_jpeg_.has_value()) {
    field = *std::exchange(kept_jpeg_, std::nullopt);
  } else if (window_.has_value()) {
    const FieldSpec& spec = plan_.schema.fields[0];
    ASSIGN_OR_RETURN(field, image_encoder_.EncodeOwned(spec, *std::exchange(window_, std::nullopt),
                                                       VariableDims(spec, size)));
    placed.pixels = reinterpret_cast<const uint8_t*>(field.bytes.data());
  } else {
    ASSIGN_OR_RETURN(field, EncodePlaced(image, placement, &placed));
    if (plan_.schema.fields[0].codec == Codec::kRaw) {
      placed.pixels = reinterpret_cast<const uint8_t*>(field.bytes.data());
    } else if (plan_.schema.fields[0].codec == Codec::kJpeg) {
      RETURN_IF_ERROR(DecodeStored(field, size));
      placed.pixels = stored_pixels_.data();
    }
  }
  if (options_.bands.has_value()) {
    MeasureRaster(placed.pixels, size, plan_.raster, placement.ShownRows(), &statistics_);
  } else {
    MeasureImage(placed, placement.ShownRows(), &statistics_);
  }
  return field;
}

Result<EncodedField> SampleEncoder::EncodePlaced(const ImagePart& image, const Placement& placement,
                                                 RgbImage* placed) {
  const FieldSpec& spec = plan_.schema.fields[0];
  const ImageSize size = placement.window;
  placed->sample_bytes = image.rgb.sample_bytes;
  const Placement in_part = placement.Within(image.part);
  const bool is_window =
      !placement.augmentation.has_value() && !options_.bands.has_value() && !in_part.IsPadded();
  if (spec.codec == Codec::kRaw && is_window) {
    return image_encoder_.EncodeOwned(spec, CutWindow(image.rgb, in_part),
                                      VariableDims(spec, size));
  }
  placed->pixels = PlaceImage(image, placement);
  const uint64_t pixel_bytes =
      options_.bands ? plan_.raster.PixelBytes() : uint64_t{placed->pixel_bytes()};
  return image_encoder_.Encode(spec, placed->pixels, size.pixels() * pixel_bytes,
                               VariableDims(spec, size));
}

const uint8_t* SampleEncoder::PlaceImage(const ImagePart& image, const Placement& placement) {
  if (placement.augmentation.has_value()) {
    AugmentImage(image.rgb, *placement.augmentation, placement.window, placement.seed,
                 options_.pad_value, &cut_);
    return cut_.data();
  }
  if (options_.bands.has_value()) {
    if (placement.ShowsAll()) return raster_.samples.data();
    CutRaster(raster_, placement, &cut_);
    return cut_.data();
  }
  const Placement in_part = placement.Within(image.part);
  if (in_part.ShowsAll()) return image.rgb.pixels;
  CutImage(image.rgb, in_part, options_.pad_value, &cut_);
  return cut_.data();
}

Status SampleEncoder::DecodeStored(const EncodedField& field, ImageSize size) {
  stored_pixels_.resize(size.pixels() * 3);
  return field_decoder_.Decode(plan_.schema.fields[0], field.bytes.data(), field.bytes.size(),
                               stored_pixels_.data(), stored_pixels_.size(), field.variable_dims);
}

Result<EncodedField> SampleEncoder::EncodeClassId(uint32_t class_id) {
  MeasureClassId(class_id, static_cast<uint32_t>(plan_.schema.classes.size()), &statistics_);
  const auto wide = static_cast<uint16_t>(class_id);
  const auto narrow = static_cast<uint8_t>(class_id);
  return plan_.label_dtype == DType::kU8 ? EncodeLabel(&narrow, {1, 1})
                                         : EncodeLabel(&wide, {1, 1});
}

Result<EncodedField> SampleEncoder::EncodeLabel(const void* ids, ImageSize size) {
  const FieldSpec& spec = plan_.schema.fields[1];
  const void* tensor = ids;
  uint64_t bytes = size.pixels() * DTypeBytes(plan_.label_dtype);
  if (spec.encoding != LabelEncoding::kIndex) {
    EncodeOneHot(spec.encoding, plan_.label_dtype, ids, size.pixels(),
                 static_cast<uint32_t>(plan_.schema.classes.size()), &one_hot_);
    tensor = one_hot_.data();
    bytes = one_hot_.size();
  }
  return label_encoder_.Encode(spec, tensor, bytes, VariableDims(spec, size));
}

}  // namespace shardmill
