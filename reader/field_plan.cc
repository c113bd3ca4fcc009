#include "reader/field_plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "proto/manifest.pb.h"
#include "reader/shard_reader.h"
#include "reader/statistics.h"

namespace shardmill {
namespace {

// Far more than any record has delivered, far less than overflows in sums.
constexpr uint64_t kMaxBytes = uint64_t{1} << 58;

std::string Quoted(const FieldSpec& spec) { return "field '" + spec.name + "'"; }

Status NoSuchValue(const FieldSpec& spec, double value) {
  return InvalidArgumentError(Quoted(spec) + " holds " + std::string(DTypeName(spec.dtype)) +
                              ", which cannot be padded with " + std::to_string(value));
}

template <typename Value>
std::vector<uint8_t> BytesOf(double value) {
  const auto converted = static_cast<Value>(value);
  std::vector<uint8_t> bytes(sizeof(Value));
  std::memcpy(bytes.data(), &converted, sizeof(Value));
  return bytes;
}

template <typename Value>
Result<std::vector<uint8_t>> IntegerBytes(const FieldSpec& spec, double value) {
  // Exact also for 64 bits: the upper limit is a power of two.
  const double limit = std::ldexp(1.0, std::numeric_limits<Value>::digits);
  const double lowest = std::is_signed_v<Value> ? -limit : 0.0;
  if (!(value >= lowest && value < limit) || value != std::floor(value)) {
    return NoSuchValue(spec, value);
  }
  return BytesOf<Value>(value);
}

// One element of the field with this value.
Result<std::vector<uint8_t>> PadElement(const FieldSpec& spec, double value) {
  switch (spec.dtype) {
    case DType::kU8:
      return IntegerBytes<uint8_t>(spec, value);
    case DType::kU16:
      return IntegerBytes<uint16_t>(spec, value);
    case DType::kI32:
      return IntegerBytes<int32_t>(spec, value);
    case DType::kI64:
      return IntegerBytes<int64_t>(spec, value);
    case DType::kF32:
      return BytesOf<float>(value);
    case DType::kF16:
      break;
  }
  if (value != 0) return NoSuchValue(spec, value);
  return std::vector<uint8_t>(DTypeBytes(spec.dtype), 0);
}

// Images and class maps: what flips and crops apply to.
bool IsSpatial(const FieldSpec& spec) {
  return spec.role == Role::kImage || spec.role == Role::kClassMap;
}

bool IsIndexLabel(const FieldSpec& spec) { return spec.encoding == LabelEncoding::kIndex; }

// Whether a pixel that belongs to no class can only be delivered as an ignore value.
bool NeedsIgnoreValue(const FieldSpec& spec, Delivery delivery) {
  return IsIndexLabel(spec) ||
         (spec.encoding != LabelEncoding::kNone && delivery == Delivery::kIndex);
}

// Elements per pixel: channels, or the class axis of a one-hot label.
uint64_t PixelElements(const FieldSpec& spec) {
  const bool has_axis =
      spec.role == Role::kImage || (spec.encoding != LabelEncoding::kNone && !IsIndexLabel(spec));
  return has_axis ? static_cast<uint64_t>(spec.shape.back()) : 1;
}

// Bytes of a record with `longest` for the dimensions that vary.
Result<uint64_t> BytesWith(const FieldSpec& spec, const std::vector<int64_t>& longest) {
  uint64_t bytes = DTypeBytes(spec.dtype);
  size_t next = 0;
  for (int64_t dimension : spec.shape) {
    const int64_t length = dimension == kVariableDim ? longest[next++] : dimension;
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(length), &bytes) || bytes > kMaxBytes) {
      return InvalidArgumentError("a padded record of " + Quoted(spec) +
                                  " takes more than 2^58 bytes; give smaller padding.lengths");
    }
  }
  return bytes;
}

Status CheckPadding(const FieldSpec& spec, const Padding& padding) {
  for (size_t i = 0; i < padding.lengths.size(); ++i) {
    const int64_t before = i == 0 ? 0 : padding.lengths[i - 1];
    if (padding.lengths[i] <= before || padding.lengths[i] > std::numeric_limits<uint32_t>::max()) {
      return InvalidArgumentError("padding.lengths of " + Quoted(spec) +
                                  " must ascend and lie between 1 and 2^32 - 1");
    }
  }
  if (padding.cut_longer && padding.lengths.empty()) {
    return InvalidArgumentError("padding.cut_longer of " + Quoted(spec) +
                                " needs padding.lengths: it cuts at the last of them");
  }
  return OkStatus();
}

// Means and deviations of the training split.
Status TrainMoments(const Dataset& dataset, std::vector<double>* mean,
                    std::vector<double>* deviation) {
  for (const proto::Split& split : dataset.manifest().splits()) {
    if (split.name() != "train") continue;
    if (split.statistics().image_pixels() == 0) break;
    for (const ChannelMoments& moments : MomentsOfChannels(split.statistics())) {
      mean->push_back(moments.mean);
      deviation->push_back(moments.standard_deviation);
    }
    return OkStatus();
  }
  return InvalidArgumentError(dataset.folder() +
                              " has no statistics of images in a split 'train'; give mean and "
                              "deviation with the field to normalise it");
}

}  // namespace

Status FieldPlan::Deliver(const uint8_t* tensor, uint64_t elements, uint8_t* out) const {
  const uint64_t pixels = elements / pixel_elements;
  if (normalizer.has_value()) {
    normalizer->Normalize(tensor, pixels, reinterpret_cast<float*>(out));
    return OkStatus();
  }
  return expander->Expand(tensor, pixels, out);
}

Result<FieldPlan> FieldPlanner::Plan(const FieldRequest& request) const {
  const RecordSchema& schema = dataset.schema();
  const std::optional<int> index = schema.FindField(request.name);
  if (!index.has_value()) {
    std::string names;
    for (const FieldSpec& field : schema.fields) names += " '" + field.name + "'";
    return InvalidArgumentError("there is no field '" + request.name + "'; the fields are" + names);
  }
  FieldPlan plan;
  plan.stored_index = *index;
  plan.stored = schema.fields[static_cast<size_t>(*index)];
  plan.pixel_elements = PixelElements(plan.stored);
  if (plan.stored.IsFixedShape()) plan.stored_bytes = plan.stored.TensorBytes();
  FieldSpec shaped = plan.stored;
  if (request.moves_with_image && plan.stored.shape.size() < 2) {
    return InvalidArgumentError(Quoted(plan.stored) +
                                " has no height and width to move with the image");
  }
  plan.is_spatial = IsSpatial(plan.stored) || request.moves_with_image;
  RETURN_IF_ERROR(PlanWindow(request, &plan, &shaped));
  RETURN_IF_ERROR(PlanPadding(request, shaped, &plan));
  RETURN_IF_ERROR(PlanDelivery(request, shaped, &plan));
  ASSIGN_OR_RETURN(plan.shaped_bytes, BytesWith(shaped, plan.longest));
  ASSIGN_OR_RETURN(plan.delivered_bytes, BytesWith(plan.delivered, plan.longest));
  return plan;
}

// What augmentation makes of the shape.
Status FieldPlanner::PlanWindow(const FieldRequest& request, FieldPlan* plan,
                                FieldSpec* shaped) const {
  const FieldSpec& stored = plan->stored;
  plan->has_colors = augment.ChangesColors() && stored.role == Role::kImage;
  if (!plan->has_colors && !(augment.MovesPixels() && plan->is_spatial)) return OkStatus();
  if (stored.shape.size() > 2 && stored.shape[2] == kVariableDim) {
    return InvalidArgumentError(Quoted(stored) +
                                " has a varying number of channels; it cannot be "
                                "flipped or cropped");
  }
  if (stored.role == Role::kImage) RETURN_IF_ERROR(CheckAugmentedImage(stored, augment));
  plan->has_window = true;
  double outside = stored.role == Role::kImage ? augment.pad_value : 0;
  const std::optional<uint32_t> ignore = dataset.schema().ignore;
  plan->lacks_pad_element = NeedsIgnoreValue(stored, request.delivery) && !ignore.has_value();
  if (IsIndexLabel(stored)) outside = ignore.value_or(0);
  ASSIGN_OR_RETURN(plan->pad_element, PadElement(stored, outside));
  if (!augment.HasCrop() && !augment.Scales()) return OkStatus();
  if (plan->lacks_pad_element && stored.IsFixedShape() &&
      MayReachOutside(augment, stored.shape[0], stored.shape[1])) {
    return InvalidArgumentError("the crop may reach over the edge of " + Quoted(stored) +
                                ", but the data set has no ignore value to stand there");
  }
  if (!augment.HasCrop()) return OkStatus();
  shaped->shape[0] = augment.crop_height;
  shaped->shape[1] = augment.crop_width;
  return OkStatus();
}

Status FieldPlanner::PlanPadding(const FieldRequest& request, const FieldSpec& shaped,
                                 FieldPlan* plan) const {
  if (shaped.IsFixedShape()) {
    if (!request.padding.has_value()) return OkStatus();
    return InvalidArgumentError(Quoted(shaped) + " has a fixed shape; it needs no padding");
  }
  if (!request.padding.has_value()) {
    return InvalidArgumentError(
        Quoted(shaped) + " has a shape that varies between records: it needs a crop or padding " +
        "before it can be batched (FieldRequest::padding, or Augment::crop_height and crop_width)");
  }
  plan->padding = request.padding;
  RETURN_IF_ERROR(CheckPadding(shaped, *plan->padding));
  const bool is_index = IsIndexLabel(shaped);
  const bool has_value = is_index && plan->padding->value.has_value();
  if (NeedsIgnoreValue(shaped, request.delivery) && !has_value &&
      !dataset.schema().ignore.has_value()) {
    return InvalidArgumentError(Quoted(shaped) + " is a label, but the data set has no ignore " +
                                "value to pad it with; " +
                                (is_index ? "give padding.value" : "have it delivered as one-hot"));
  }
  double value = plan->padding->value.value_or(0);
  if (is_index && !has_value) value = *dataset.schema().ignore;
  ASSIGN_OR_RETURN(plan->pad_element, PadElement(shaped, value));
  plan->lacks_pad_element = false;
  if (plan->padding->lengths.empty()) {
    plan->longest = LongestOf(plan->stored_index);
    ASSIGN_OR_RETURN(plan->stored_bytes, BytesWith(shaped, plan->longest));
  } else {
    plan->longest.assign(static_cast<size_t>(shaped.VariableDimCount()),
                         plan->padding->lengths.back());
  }
  return OkStatus();
}

Status FieldPlanner::PlanDelivery(const FieldRequest& request, const FieldSpec& shaped,
                                  FieldPlan* plan) const {
  plan->delivered = shaped;
  plan->delivered.codec = Codec::kRaw;
  plan->delivered.dictionary = nullptr;
  if (request.delivery == Delivery::kStored) return OkStatus();
  if (request.delivery == Delivery::kNormalizedNhwc ||
      request.delivery == Delivery::kNormalizedNchw) {
    std::vector<double> mean = request.mean;
    std::vector<double> deviation = request.deviation;
    if (mean.empty() && deviation.empty() && shaped.role == Role::kImage) {
      RETURN_IF_ERROR(TrainMoments(dataset, &mean, &deviation));
    }
    ASSIGN_OR_RETURN(plan->normalizer,
                     ImageNormalizer::Create(shaped, mean, deviation, request.delivery));
    plan->delivered = plan->normalizer->delivered();
    return OkStatus();
  }
  ASSIGN_OR_RETURN(plan->expander,
                   LabelExpander::Create(shaped, dataset.schema(), request.delivery));
  plan->delivered = plan->expander->delivered();
  return OkStatus();
}

// The largest of each varying dimension over all records; those whose dimensions cannot be read
// are left to the read.
std::vector<int64_t> FieldPlanner::LongestOf(int field) const {
  std::vector<int64_t> longest;
  std::vector<uint32_t> dims;
  const FieldSpec& spec = dataset.schema().fields[static_cast<size_t>(field)];
  longest.assign(static_cast<size_t>(spec.VariableDimCount()), 0);
  for (int number = 0; number < split.shard_count(); ++number) {
    const ShardReader& shard = split.shard(number);
    for (uint64_t record = 0; record < shard.records(); ++record) {
      if (!shard.VariableDims(record, field, &dims).ok()) continue;
      for (size_t i = 0; i < dims.size(); ++i) {
        longest[i] = std::max<int64_t>(longest[i], dims[i]);
      }
    }
  }
  return longest;
}

Status CheckSpatialFields(const std::vector<FieldPlan>& fields) {
  const FieldPlan* first = nullptr;
  for (const FieldPlan& field : fields) {
    if (!field.has_window) continue;
    if (first == nullptr) first = &field;
    for (size_t axis = 0; axis < 2; ++axis) {
      const int64_t a = first->stored.shape[axis];
      const int64_t b = field.stored.shape[axis];
      if (a == b || a == kVariableDim || b == kVariableDim) continue;
      return InvalidArgumentError(Quoted(first->stored) + " and " + Quoted(field.stored) +
                                  " differ in height or width; no crop or flip fits both");
    }
  }
  if (first != nullptr) return OkStatus();
  return InvalidArgumentError(
      "augment is given, but none of the fields asked for is an image or a class map that it could "
      "change");
}

}  // namespace shardmill
