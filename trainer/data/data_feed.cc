#include "trainer/data/data_feed.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "reader/epoch_order.h"
#include "trainer/data/input_augmentation.h"

namespace shardmill {
namespace {

// Into how many lengths sequences are sorted: each is a shape that the graph has to plan for.
constexpr int64_t kLengths = 8;

using RowSize = std::array<uint32_t, 2>;  // height and width

bool IsRagged(const DataTask& task) { return task.sequences && task.image.w == 0; }

// Eighths of the longest sequence, rounded up.
std::vector<int64_t> PaddedLengths(int64_t longest) {
  std::vector<int64_t> lengths;
  for (int64_t i = 1; i <= kLengths; ++i) {
    const int64_t length = (longest * i + kLengths - 1) / kLengths;
    if (lengths.empty() || length > lengths.back()) lengths.push_back(length);
  }
  return lengths;
}

bool IsStoredOneHot(const Dataset& dataset, const std::string& field) {
  const std::optional<int> index = dataset.schema().FindField(field);
  if (!index) return false;
  const LabelEncoding encoding = dataset.schema().fields[*index].encoding;
  return encoding == LabelEncoding::kOneHotBits || encoding == LabelEncoding::kOneHotBytes;
}

// What a feed does with labels.
enum class Learns { kClassIds, kShares };

FieldRequest LabelRequest(const DataTask& task, Learns learns) {
  FieldRequest label;
  if (learns == Learns::kShares) {
    label.name = task.soft_field;
    label.moves_with_image = task.kind == TaskKind::kSegmentation;
    return label;
  }
  label.name = task.label_field;
  label.delivery = Delivery::kIndex;
  return label;
}

Result<BatchLoaderOptions> LoaderOptions(const Dataset& dataset, const DataTask& task,
                                         const std::string& split, uint64_t batch, Learns learns) {
  BatchLoaderOptions options;
  options.split = split;
  FieldRequest image;
  image.name = task.image_field;
  if (IsRagged(task)) {
    ASSIGN_OR_RETURN(const int64_t longest, LongestSequence(dataset, task, split));
    image.padding.emplace();
    image.padding->lengths = PaddedLengths(longest);
  }
  FieldRequest label = LabelRequest(task, learns);
  if (task.SizesVary()) {
    image.padding.emplace().value = 0;
    if (task.kind == TaskKind::kSegmentation) label.padding.emplace().value = 0;
    // Padding between pixels that are stored as one-hot is of no class, which no class id stands
    // for; so they come as they are, and those of the image are looked at behind the padding.
    if (IsStoredOneHot(dataset, label.name)) label.delivery = Delivery::kOneHotU8;
  }
  options.fields = {image, label};
  options.global_batch = batch;
  options.threads = 1;
  return options;
}

// Non-negative numbers are shares of a class; DataLoss says which record has others.
Status CheckShares(const float* shares, int64_t row_values, const Batch& batch,
                   const std::string& field) {
  for (int64_t row = 0; row < batch.rows(); ++row, shares += row_values) {
    bool good = true;
    for (int64_t i = 0; i < row_values; ++i) {
      good &= shares[i] >= 0 && shares[i] <= std::numeric_limits<float>::max();
    }
    if (good) continue;
    return DataLossError("record " + std::to_string(batch.records()[row]) +
                         " of the split: field '" + field +
                         "' holds a share that is negative or not finite; repair the data set");
  }
  return OkStatus();
}

// The class of the largest share, the first of equals; `ignore` where all are 0.
template <typename ClassId>
void LargestShares(const float* shares, int64_t pixels, int64_t classes, uint32_t ignore,
                   ClassId* ids) {
  for (int64_t i = 0; i < pixels; ++i, shares += classes) {
    const float* largest = std::max_element(shares, shares + classes);
    ids[i] = static_cast<ClassId>(*largest > 0 ? largest - shares : ignore);
  }
}

// Calls `see` with the shape of the image, or sequence, of each record.
Status ForEachShape(const Dataset& dataset, const DataTask& task, const std::string& split,
                    const std::function<void(const std::vector<int64_t>&)>& see) {
  ASSIGN_OR_RETURN(const Dataset::Split* records, dataset.split(split));
  const auto field = static_cast<size_t>(*dataset.schema().FindField(task.image_field));
  const std::vector<int64_t>& stored = dataset.schema().fields[field].shape;
  std::vector<int64_t> shape;
  for (int i = 0; i < records->shard_count(); ++i) {
    const ShardReader& shard = records->shard(i);
    for (uint64_t record = 0; record < shard.records(); ++record) {
      ASSIGN_OR_RETURN(const std::vector<uint32_t> dims,
                       shard.VariableDims(record, static_cast<int>(field)));
      shape = stored;
      size_t next = 0;
      for (int64_t& dimension : shape) {
        if (dimension == kVariableDim) dimension = dims.at(next++);
      }
      see(shape);
    }
  }
  return OkStatus();
}

// Height and width of a row of a padded field.
RowSize SizeOfRow(const FieldView& view, const FieldSpec& spec, int64_t row) {
  const uint32_t* length = view.lengths.data() + row * spec.VariableDimCount();
  const auto next = [&](int64_t dimension) {
    return dimension == kVariableDim ? *length++ : static_cast<uint32_t>(dimension);
  };
  const uint32_t height = next(spec.shape[0]);
  return {height, next(spec.shape[1])};
}

// Takes the padding off one row: from lines of `padded` bytes to as many, shorter ones.
void PackLines(const uint8_t* from, int64_t padded, int64_t lines, int64_t bytes, uint8_t* to) {
  for (int64_t line = 0; line < lines; ++line) {
    std::memcpy(to + line * bytes, from + line * padded, static_cast<size_t>(bytes));
  }
}

// The class ids of one-hot pixels, `ignore` where there is none; false when that is not given.
template <typename ClassId>
bool ClassesOf(const uint8_t* one_hot, int64_t pixels, int64_t classes,
               std::optional<uint32_t> ignore, ClassId* ids) {
  for (int64_t i = 0; i < pixels; ++i, one_hot += classes) {
    const uint8_t* const set =
        std::find_if(one_hot, one_hot + classes, [](uint8_t value) { return value != 0; });
    if (set == one_hot + classes && !ignore) return false;
    ids[i] = static_cast<ClassId>(set == one_hot + classes ? *ignore : set - one_hot);
  }
  return true;
}

}  // namespace

Result<int64_t> LongestSequence(const Dataset& dataset, const DataTask& task,
                                const std::string& split) {
  if (!IsRagged(task)) return task.image.w;
  int64_t longest = 1;
  RETURN_IF_ERROR(ForEachShape(dataset, task, split, [&](const std::vector<int64_t>& shape) {
    longest = std::max(longest, shape[0]);
  }));
  return longest;
}

Result<DataTask> WithSmallestImages(const Dataset& dataset, const DataTask& task,
                                    const std::string& split) {
  if (!task.SizesVary()) return task;
  DataTask smallest = task;
  RETURN_IF_ERROR(ForEachShape(dataset, task, split, [&](const std::vector<int64_t>& shape) {
    Shape& image = smallest.image;
    image.h = image.h == 0 ? shape[0] : std::min(image.h, shape[0]);
    image.w = image.w == 0 ? shape[1] : std::min(image.w, shape[1]);
  }));
  return smallest;
}

Result<std::unique_ptr<DataFeed>> DataFeed::OpenTraining(std::shared_ptr<const Dataset> dataset,
                                                         const DataTask& task,
                                                         const TrainingFeedOptions& options) {
  const Learns learns = task.soft_field.empty() ? Learns::kClassIds : Learns::kShares;
  const DataTask training = TrainingTask(task, options.augment);
  if (training.SizesVary()) {
    return InvalidArgumentError("images of several sizes cannot be one batch without a crop");
  }
  ASSIGN_OR_RETURN(BatchLoaderOptions loader_options,
                   LoaderOptions(*dataset, training, options.split, options.batch, learns));
  loader_options.augment = options.augment;
  loader_options.threads = options.threads;
  loader_options.trace_spans = options.trace_spans;
  loader_options.slots = options.slots;
  loader_options.allocate = options.allocate;
  loader_options.release = options.release;
  loader_options.order = Order::kShuffled;
  if (IsRagged(task)) loader_options.buckets.field = task.image_field;
  loader_options.tail = TailPolicy::kDrop;
  loader_options.seed = options.seed;
  loader_options.first_epoch = options.first_epoch;
  loader_options.first_step = options.first_step;
  loader_options.epochs = options.epochs - options.first_epoch;
  loader_options.rank = options.rank;
  loader_options.ranks = options.ranks;
  loader_options.io = options.io;
  ASSIGN_OR_RETURN(std::unique_ptr<BatchLoader> loader,
                   BatchLoader::Open(std::move(dataset), loader_options));
  return std::unique_ptr<DataFeed>(new DataFeed(training, learns == Learns::kShares,
                                                std::move(loader), options.rank, options.ranks));
}

Result<std::unique_ptr<DataFeed>> DataFeed::OpenEvaluation(std::shared_ptr<const Dataset> dataset,
                                                           const DataTask& task,
                                                           const std::string& split, uint64_t batch,
                                                           uint32_t rank, uint32_t ranks, Io io) {
  ASSIGN_OR_RETURN(const Dataset::Split* records, dataset->split(split));
  const uint64_t largest = std::max<uint64_t>(records->records(), 1);
  const Learns labels = task.label_field.empty() ? Learns::kShares : Learns::kClassIds;
  ASSIGN_OR_RETURN(BatchLoaderOptions loader_options,
                   LoaderOptions(*dataset, task, split,
                                 std::max<uint64_t>(std::min(batch, largest), ranks), labels));
  loader_options.rank = rank;
  loader_options.ranks = ranks;
  loader_options.order = Order::kStored;
  loader_options.tail = TailPolicy::kPartial;
  loader_options.io = io;
  ASSIGN_OR_RETURN(std::unique_ptr<BatchLoader> loader, BatchLoader::Open(dataset, loader_options));
  std::unique_ptr<DataFeed> feed(
      new DataFeed(task, /*learns_shares=*/false, std::move(loader), rank, ranks));
  const RecordSchema& schema = dataset->schema();
  feed->image_spec_ = schema.fields[*schema.FindField(task.image_field)];
  if (!task.label_field.empty()) {
    feed->label_spec_ = schema.fields[*schema.FindField(task.label_field)];
  }
  return feed;
}

Result<std::optional<FeedBatch>> DataFeed::Next() {
  ASSIGN_OR_RETURN(std::optional<Batch> lease, loader_->Next());
  if (!lease) return std::optional<FeedBatch>();
  FeedBatch batch;
  batch.lease = std::move(*lease);
  const FieldView& image = batch.lease.field(task_.image_field);
  batch.images.data = image.data;
  batch.images.type = task_.image_type;
  batch.images.shape = task_.image;
  batch.images.shape.n = batch.lease.rows();
  if (IsRagged(task_)) {
    batch.images.shape.w = image.shape[1];
    // Lengths are below 2^31: the tensor would not fit otherwise.
    batch.images.lengths = reinterpret_cast<const int32_t*>(image.lengths.data());
  }
  batch.images.first_row =
      static_cast<int64_t>(SliceForRank(batch.lease.global_rows(), rank_, ranks_).begin);
  batch.labels.type = task_.label_type;
  batch.labels.n = batch.lease.rows();
  batch.labels.h = task_.label_h;
  batch.labels.w = task_.label_w;
  if (learns_shares_ || task_.label_field.empty()) {
    RETURN_IF_ERROR(SetShares(&batch));
  } else {
    batch.labels.data = batch.lease.field(task_.label_field).data;
  }
  if (task_.SizesVary()) RETURN_IF_ERROR(TakeOffPadding(&batch));
  return std::optional<FeedBatch>(std::move(batch));
}

// Makes rows of several sizes dense, each at the place where its padded row was.
Status DataFeed::TakeOffPadding(FeedBatch* batch) const {
  const FieldView& image = batch->lease.field(task_.image_field);
  Shape& padded = batch->images.shape;
  padded.h = image.shape[1];
  padded.w = image.shape[2];
  const int64_t bytes = padded.c * ImageTypeBytes(task_.image_type);
  batch->own_pixels.resize(static_cast<size_t>(padded.Pixels() * bytes));
  for (int64_t row = 0; row < padded.n; ++row) {
    const auto [height, width] = SizeOfRow(image, image_spec_, row);
    batch->row_sizes.insert(batch->row_sizes.end(), {height, width});
    const int64_t first = row * padded.h * padded.w * bytes;
    PackLines(image.data + first, padded.w * bytes, height, width * bytes,
              batch->own_pixels.data() + first);
  }
  batch->images.data = batch->own_pixels.data();
  return task_.kind == TaskKind::kSegmentation ? TakeOffPaddingOfLabels(batch) : OkStatus();
}

Status DataFeed::TakeOffPaddingOfLabels(FeedBatch* batch) const {
  const FieldView& label = batch->lease.field(task_.label_field);
  LabelBatch& labels = batch->labels;
  labels.h = label.shape[1];
  labels.w = label.shape[2];
  const int64_t bytes = task_.label_type == LabelType::kIndexU8 ? 1 : 2;
  batch->own_labels.resize(static_cast<size_t>((labels.n * LabelRowBytes(labels) + 1) / 2));
  auto* const ids = reinterpret_cast<uint8_t*>(batch->own_labels.data());
  for (int64_t row = 0; row < labels.n; ++row) {
    const auto [height, width] = SizeOfRow(label, label_spec_, row);
    if (height != batch->row_sizes[2 * row] || width != batch->row_sizes[2 * row + 1]) {
      return DataLossError("record " + std::to_string(batch->lease.records()[row]) +
                           " of the split: image and label differ in size; pack the data set "
                           "again");
    }
    const int64_t first = row * LabelRowBytes(labels);
    if (label_spec_.encoding == LabelEncoding::kIndex) {
      PackLines(label.data + first, labels.w * bytes, height, width * bytes, ids + first);
    } else {
      RETURN_IF_ERROR(TakeClasses(*batch, row, height, width, ids + first));
    }
  }
  labels.data = ids;
  return OkStatus();
}

// Of a row of one-hot labels with its padding.
Status DataFeed::TakeClasses(const FeedBatch& batch, int64_t row, int64_t height, int64_t width,
                             uint8_t* ids) const {
  const auto classes = static_cast<int64_t>(task_.classes.size());
  const LabelBatch& labels = batch.labels;
  const uint8_t* line =
      batch.lease.field(task_.label_field).data + row * labels.h * labels.w * classes;
  for (int64_t y = 0; y < height; ++y, line += labels.w * classes) {
    const bool known = labels.type == LabelType::kIndexU8
                           ? ClassesOf(line, width, classes, task_.ignore, ids + y * width)
                           : ClassesOf(line, width, classes, task_.ignore,
                                       reinterpret_cast<uint16_t*>(ids) + y * width);
    if (known) continue;
    return DataLossError("record " + std::to_string(batch.lease.records()[row]) +
                         " of the split: a pixel of the label in line " + std::to_string(y) +
                         " belongs to no class, and the data set has no ignore value to stand for "
                         "it");
  }
  return OkStatus();
}

// The shares themselves, or the classes they speak for.
Status DataFeed::SetShares(FeedBatch* batch) const {
  const auto* shares = batch->lease.field(task_.soft_field).as<float>();
  LabelBatch& labels = batch->labels;
  const auto classes = static_cast<int64_t>(task_.classes.size());
  RETURN_IF_ERROR(
      CheckShares(shares, labels.h * labels.w * classes, batch->lease, task_.soft_field));
  if (learns_shares_) {
    labels.data = shares;
    labels.type = LabelType::kOneHotF32;
    labels.classes = classes;
    return OkStatus();
  }
  const int64_t pixels = labels.n * labels.h * labels.w;
  batch->own_labels.resize(pixels);
  labels.data = batch->own_labels.data();
  if (labels.type == LabelType::kIndexU16) {
    LargestShares(shares, pixels, classes, *task_.ignore, batch->own_labels.data());
  } else {
    LargestShares(shares, pixels, classes, *task_.ignore,
                  reinterpret_cast<uint8_t*>(batch->own_labels.data()));
  }
  return OkStatus();
}

}  // namespace shardmill
