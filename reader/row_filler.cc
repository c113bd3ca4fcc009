#include "reader/row_filler.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

namespace shardmill {
namespace {

// A record whose shape varies may claim any size; more than this is no record that fits a batch.
constexpr uint64_t kMaxShapedBytes = uint64_t{1} << 34;
// Positions in larger images would not fit into 64 bits with their fraction.
constexpr int64_t kMaxScaledSide = int64_t{1} << 20;

// At least one byte, so that the pointer is never null.
uint8_t* Grow(std::vector<uint8_t>* memory, uint64_t bytes) {
  if (memory->size() < bytes || memory->empty()) memory->resize(std::max<uint64_t>(1, bytes));
  return memory->data();
}

uint8_t* RowAt(const BatchPlan& plan, size_t index, uint64_t row, BatchSlot* slot) {
  return slot->buffer + plan.fields[index].slot_offset + row * slot->shapes[index].row_bytes;
}

uint64_t Product(const std::vector<int64_t>& shape, size_t first_axis) {
  uint64_t product = 1;
  for (size_t axis = first_axis; axis < shape.size(); ++axis) {
    product *= static_cast<uint64_t>(shape[axis]);
  }
  return product;
}

// Fills in the dimensions that vary.
void ShapeOf(const FieldSpec& spec, const std::vector<uint32_t>& dims,
             std::vector<int64_t>* shape) {
  shape->assign(spec.shape.begin(), spec.shape.end());
  size_t next = 0;
  for (int64_t& dimension : *shape) {
    if (dimension == kVariableDim) dimension = dims[next++];
  }
}

// Whether a tensor of this shape goes into the padded shape without losing more than padding may
// cut off.
bool FitsShape(const FieldPlan& field, const std::vector<int64_t>& shape,
               const std::vector<int64_t>& padded) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const bool may_cut = field.padding->cut_longer && padded[axis] == field.padding->lengths.back();
    if (shape[axis] > padded[axis] && !may_cut) return false;
  }
  return true;
}

// Whether the tensor is the beginning of the padded one, byte by byte.
bool IsPrefix(const std::vector<int64_t>& shape, const std::vector<int64_t>& padded) {
  return shape[0] <= padded[0] && std::equal(shape.begin() + 1, shape.end(), padded.begin() + 1);
}

// Of fields whose size varies the memory grows with the first of them.
void ReserveScaled(const FieldPlan& field, const Augment& augment, ScaledWindowCopier* scaled) {
  if (!field.has_window || !field.stored.IsFixedShape()) return;
  const int64_t width = field.stored.shape[1];
  const auto samples = static_cast<int64_t>(field.pixel_elements);
  scaled->Reserve(augment.HasCrop() ? augment.crop_width : width, width, samples);
}

// Changes the colours of the part that shows the image; the rest stays what padding is.
template <typename Sample>
void ChangeColors(const ColorChange& change, const ShownPart& shown, int64_t width,
                  uint64_t channels, Sample* pixels) {
  const uint64_t row_samples = static_cast<uint64_t>(shown.width) * channels;
  const auto row_at = [&](int64_t y) {
    return pixels + static_cast<uint64_t>((shown.y + y) * width + shown.x) * channels;
  };
  uint64_t sum = 0;
  if (change.contrast_permille != 1000) {
    for (int64_t y = 0; y < shown.height; ++y) {
      const Sample* row = row_at(y);
      sum = std::accumulate(row, row + row_samples, sum);
    }
  }
  const int64_t mean = MeanLevel(sum, static_cast<uint64_t>(shown.height) * row_samples);
  const ColorMap map = MakeColorMap(change, mean, std::numeric_limits<Sample>::max());
  for (int64_t y = 0; y < shown.height; ++y) {
    if (channels == 3) {
      MapColors(map, static_cast<uint64_t>(shown.width), row_at(y));
    } else {
      MapGrays(map, static_cast<uint64_t>(shown.width), row_at(y));
    }
  }
}

std::string SizeName(int64_t height, int64_t width) {
  return std::to_string(height) + " high x " + std::to_string(width) + " wide";
}

}  // namespace

Status LocateInSplit(const Status& status, const BatchPlan& plan, const FieldPlan& field,
                     uint64_t record) {
  if (status.ok()) return status;
  const auto [shard, in_shard] = plan.split->Locate(record);
  return status.WithContext(shard->path() + ": record " + std::to_string(in_shard) + ", field '" +
                            field.stored.name + "'");
}

RowFiller::RowFiller(const BatchPlan* plan, ReadScratch* scratch, StageClock* clock)
    : plan_(*plan), scratch_(scratch), clock_(clock) {
  dims_.reserve(kMaxRank);
  shape_.reserve(kMaxRank);
  for (const FieldPlan& field : plan_.fields) {
    if (field.IsPlain()) continue;
    Grow(&decoded_, field.stored_bytes);
    if (field.has_window) Grow(&windowed_, field.shaped_bytes);
    if (plan_.augment.Scales()) ReserveScaled(field, plan_.augment, &scaled_);
    if (field.padding.has_value()) Grow(&padded_, field.shaped_bytes);
  }
}

Status RowFiller::FillField(size_t index, uint64_t row, uint64_t record, BatchSlot* slot) {
  const FieldPlan& field = plan_.fields[index];
  if (!field.IsPlain()) return FillShaped(index, row, record, slot);
  return FillPlain(field, record, RowAt(plan_, index, row, slot));
}

Status RowFiller::FillRow(uint64_t row, uint64_t record, BatchSlot* slot) {
  for (size_t index = 0; index < plan_.fields.size(); ++index) {
    RETURN_IF_ERROR(FillField(index, row, record, slot));
  }
  return OkStatus();
}

void RowFiller::ClearRow(uint64_t row, BatchSlot* slot) const {
  for (size_t index = 0; index < plan_.fields.size(); ++index) {
    const uint64_t bytes = slot->shapes[index].row_bytes;
    if (bytes > 0) std::memset(RowAt(plan_, index, row, slot), 0, bytes);
    const uint64_t lengths = plan_.fields[index].longest.size();
    std::fill_n(slot->fields[index].lengths.begin() + static_cast<long>(row * lengths), lengths, 0);
  }
}

bool RowFiller::Fits(uint64_t record, const BatchSlot& slot) {
  for (size_t index = 0; index < plan_.fields.size(); ++index) {
    const FieldPlan& field = plan_.fields[index];
    if (!field.padding.has_value()) continue;
    if (!ReadShape(field, record).ok()) return true;
    if (!FitsShape(field, shape_, slot.shapes[index].padded_shape)) return false;
  }
  return true;
}

// Leaves the shape in shape_.
Status RowFiller::ReadShape(const FieldPlan& field, uint64_t record) {
  const auto [shard, in_shard] = plan_.split->Locate(record);
  RETURN_IF_ERROR(shard->VariableDims(in_shard, field.stored_index, &dims_));
  const Result<uint64_t> bytes =
      dims_.empty() ? Result<uint64_t>(field.stored_bytes) : field.stored.TensorBytes(dims_);
  if (!bytes.ok() || (!dims_.empty() && *bytes > kMaxShapedBytes)) {
    return LocateInSplit(DataLossError("its dimensions are impossibly large"), plan_, field,
                         record);
  }
  ShapeOf(field.stored, dims_, &shape_);
  return OkStatus();
}

uint64_t RowFiller::ShapeBytes(const FieldPlan& field) const {
  return Product(shape_, 0) * DTypeBytes(field.stored.dtype);
}

Status RowFiller::ReadTensor(const FieldPlan& field, uint64_t record, uint8_t* out,
                             uint64_t bytes) {
  const auto [shard, in_shard] = plan_.split->Locate(record);
  return shard->Read(in_shard, field.stored_index, out, bytes, scratch_);
}

Status RowFiller::FillPlain(const FieldPlan& field, uint64_t record, uint8_t* out) {
  uint8_t* decoded = field.Converts() ? Grow(&decoded_, field.stored_bytes) : out;
  clock_->Enter(Stage::kCopy);
  RETURN_IF_ERROR(ReadTensor(field, record, decoded, field.stored_bytes));
  if (!field.Delivers()) return OkStatus();
  clock_->Enter(Stage::kExpand);
  const uint64_t elements = field.stored_bytes / DTypeBytes(field.stored.dtype);
  return LocateInSplit(field.Deliver(decoded, elements, out), plan_, field, record);
}

// Read, then window, padding and delivery, each where the field has one; the last of them writes
// to the slot.
Status RowFiller::FillShaped(size_t index, uint64_t row, uint64_t record, BatchSlot* slot) {
  const FieldPlan& field = plan_.fields[index];
  const std::vector<int64_t>& padded_shape = slot->shapes[index].padded_shape;
  uint8_t* out = RowAt(plan_, index, row, slot);
  clock_->Enter(Stage::kCopy);
  RETURN_IF_ERROR(ReadShape(field, record));
  if (field.padding.has_value()) {
    if (!FitsShape(field, shape_, padded_shape)) {
      return LocateInSplit(DataLossError("it is longer than it was when the batch was planned"),
                           plan_, field, record);
    }
    NoteLengths(padded_shape, field, row, &slot->fields[index]);
  }
  const bool reads_in_place =
      !field.has_window && !field.Converts() && IsPrefix(shape_, padded_shape);
  const uint64_t bytes = ShapeBytes(field);
  uint8_t* tensor = reads_in_place ? out : Grow(&decoded_, bytes);
  RETURN_IF_ERROR(ReadTensor(field, record, tensor, bytes));
  clock_->Enter(Stage::kExpand);
  if (field.has_window && field.expander.has_value()) {
    // The whole label, so that whether a record is bad does not depend on where the crop falls.
    const uint64_t pixels = Product(shape_, 0) / field.pixel_elements;
    RETURN_IF_ERROR(LocateInSplit(field.expander->Check(tensor, pixels), plan_, field, record));
  }
  if (field.has_window) {
    const bool is_last = !field.padding.has_value() && !field.Converts();
    ASSIGN_OR_RETURN(
        tensor, ApplyWindow(field, record, slot->augment_key, slot->first_position + row, tensor,
                            is_last ? out : nullptr));
  }
  if (field.padding.has_value()) tensor = ApplyPadding(field, padded_shape, tensor, out);
  if (!field.Delivers()) return OkStatus();
  const uint64_t elements = Product(field.padding.has_value() ? padded_shape : shape_, 0);
  return LocateInSplit(field.Deliver(tensor, elements, out), plan_, field, record);
}

// Returns where the padded tensor lies: in memory of its own when it is still to be converted, else
// in `out`, where its beginning may stand already.
uint8_t* RowFiller::ApplyPadding(const FieldPlan& field, const std::vector<int64_t>& padded_shape,
                                 uint8_t* tensor, uint8_t* out) {
  const uint64_t elements = Product(padded_shape, 0);
  const uint64_t element_bytes = field.pad_element.size();
  if (tensor == out) {
    const uint64_t bytes = ShapeBytes(field);
    FillElements(field.pad_element, elements - bytes / element_bytes, out + bytes);
    return out;
  }
  uint8_t* to = field.Converts() ? Grow(&padded_, elements * element_bytes) : out;
  CopyPadded(tensor, shape_, padded_shape, field.pad_element, to);
  return to;
}

// The lengths of the tensor in shape_, as far as they fit.
void RowFiller::NoteLengths(const std::vector<int64_t>& padded_shape, const FieldPlan& field,
                            uint64_t row, FieldView* view) const {
  uint32_t* lengths = view->lengths.data() + row * field.longest.size();
  for (size_t axis = 0; axis < shape_.size(); ++axis) {
    if (field.stored.shape[axis] != kVariableDim) continue;
    *lengths++ = static_cast<uint32_t>(std::min(shape_[axis], padded_shape[axis]));
  }
}

// Returns where the window was written: `out`, or memory of its own when that is null. The shape of
// the tensor, shape_, becomes that of the window.
Result<uint8_t*> RowFiller::ApplyWindow(const FieldPlan& field, uint64_t record,
                                        const OrderKey& key, uint64_t position,
                                        const uint8_t* tensor, uint8_t* out) {
  RETURN_IF_ERROR(LocateInSplit(CheckSize(field, record), plan_, field, record));
  if (plan_.augment.Scales() && std::max(shape_[0], shape_[1]) > kMaxScaledSide) {
    return LocateInSplit(InvalidArgumentError("it is " + SizeName(shape_[0], shape_[1]) +
                                              ", more than can be scaled"),
                         plan_, field, record);
  }
  const PixelWindow window = WindowOf(plan_.augment, key, position, shape_[0], shape_[1]);
  if (field.lacks_pad_element && !window.IsInside(shape_[0], shape_[1])) {
    return LocateInSplit(
        InvalidArgumentError("the crop reaches over the edge of this label of " +
                             SizeName(shape_[0], shape_[1]) +
                             ", but the data set has no ignore value to stand there"),
        plan_, field, record);
  }
  const uint64_t channels = Product(shape_, 2);
  const uint64_t pixel_bytes = channels * DTypeBytes(field.stored.dtype);
  const PixelImage image = {tensor, shape_[0], shape_[1], pixel_bytes};
  shape_[0] = window.height;
  shape_[1] = window.width;
  if (out == nullptr) out = Grow(&windowed_, ShapeBytes(field));
  if (window.IsScaled()) {
    CopyScaled(field, image, window, out);
  } else {
    CopyWindow(image, window, field.pad_element, out);
  }
  if (!field.has_colors) return out;
  const ColorChange change = ColorsOf(plan_.augment, key, position);
  const ShownPart shown = window.Shown(image.height, image.width);
  if (field.stored.dtype == DType::kU8) {
    ChangeColors(change, shown, window.width, channels, out);
  } else {
    ChangeColors(change, shown, window.width, channels, reinterpret_cast<uint16_t*>(out));
  }
  return out;
}

// Labels hold class ids, or bits, that cannot be mixed.
void RowFiller::CopyScaled(const FieldPlan& field, const PixelImage& image,
                           const PixelWindow& window, uint8_t* out) {
  if (field.stored.role == Role::kImage) {
    scaled_.CopyLinear(image, field.stored.dtype, window, field.pad_element, out);
  } else {
    scaled_.CopyNearest(image, window, field.pad_element, out);
  }
}

// One transform fits an image and its labels only when they have the same size.
Status RowFiller::CheckSize(const FieldPlan& field, uint64_t record) {
  const auto first = std::find_if(plan_.fields.begin(), plan_.fields.end(),
                                  [](const FieldPlan& candidate) { return candidate.has_window; });
  if (&*first == &field) return OkStatus();
  const auto [shard, in_shard] = plan_.split->Locate(record);
  RETURN_IF_ERROR(shard->VariableDims(in_shard, first->stored_index, &dims_));
  size_t next = 0;
  int64_t size[2];
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t dimension = first->stored.shape[axis];
    size[axis] = dimension == kVariableDim ? dims_[next++] : dimension;
  }
  if (size[0] == shape_[0] && size[1] == shape_[1]) return OkStatus();
  return DataLossError("it is " + SizeName(shape_[0], shape_[1]) + ", but field '" +
                       first->stored.name + "' of the same record is " +
                       SizeName(size[0], size[1]) + "; no crop or flip fits both");
}

}  // namespace shardmill
