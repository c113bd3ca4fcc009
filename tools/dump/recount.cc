#include "tools/dump/recount.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "reader/base/ordered_pipeline.h"
#include "reader/statistics.h"
#include "tools/dump/record_view.h"
#include "tools/pack/augment/affine_map.h"
#include "tools/pack/records/float_sums.h"

namespace shardmill {
namespace {

constexpr uint64_t kRecordsPerTask = 16;

// The pixels of each row of a record that show its source; the others are padding.
using Rows = std::vector<PixelSpan>;

uint64_t PixelsOf(const Rows& rows) {
  uint64_t pixels = 0;
  for (const PixelSpan& row : rows) pixels += row.end - row.begin;
  return pixels;
}

ImageSize SizeOfSource(const proto::RecordMeta& meta) {
  if (meta.resized_height() != 0) return {meta.resized_height(), meta.resized_width()};
  return {meta.source_height(), meta.source_width()};
}

Rows RowsOfWindow(const proto::RecordMeta& meta, uint32_t height, uint32_t width) {
  if (meta.crop_height() == 0 || meta.crop_width() == 0) return Rows(height, {0, width});
  const ImageSize source = SizeOfSource(meta);
  auto limit = [](int64_t value, int64_t low, int64_t high) {
    return static_cast<uint32_t>(std::clamp<int64_t>(value, low, high));
  };
  const uint32_t top = limit(-int64_t{meta.crop_y()}, 0, height);
  const uint32_t left = limit(-int64_t{meta.crop_x()}, 0, width);
  const uint32_t bottom = limit(int64_t{source.height} - meta.crop_y(), top, height);
  const uint32_t right = limit(int64_t{source.width} - meta.crop_x(), left, width);
  Rows rows(height);
  for (uint32_t y = top; y < bottom; ++y) rows[y] = {left, right};
  return rows;
}

Result<Rows> SourceRows(const proto::RecordMeta& meta, int64_t height, int64_t width) {
  const ImageSize size = {static_cast<uint32_t>(height), static_cast<uint32_t>(width)};
  if (width == 0) return Rows();
  if (!meta.has_augmentation()) return RowsOfWindow(meta, size.height, size.width);
  const auto& numbers = meta.augmentation().to_source();
  const ImageSize source = SizeOfSource(meta);
  AffineMap map;
  const bool complete = numbers.size() == 6;
  if (complete) map = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
  const uint32_t longest = std::max({size.height, size.width, source.height, source.width});
  if (!complete || !map.IsSound() || longest > kMaxImageSide) {
    return DataLossError("record " + meta.key() + " has an augmentation that cannot be");
  }
  return InsideSpans(map, size, source);
}

template <typename T>
void CountChannels(const Tensor& tensor, const Rows& rows, proto::Statistics* statistics) {
  const int64_t width = tensor.shape[1];
  const int64_t channels = tensor.shape.size() == 3 ? tensor.shape[2] : 1;
  std::vector<uint64_t> sum(channels);
  std::vector<uint64_t> sum_sq(channels);
  for (size_t y = 0; y < rows.size(); ++y) {
    const uint8_t* row = tensor.bytes.data() + (y * width + rows[y].begin) * channels * sizeof(T);
    for (uint32_t x = rows[y].begin; x < rows[y].end; ++x) {
      for (int64_t channel = 0; channel < channels; ++channel, row += sizeof(T)) {
        T value;
        std::memcpy(&value, row, sizeof(T));
        sum[channel] += value;
        sum_sq[channel] += uint64_t{value} * value;
      }
    }
  }
  for (int64_t channel = 0; channel < channels; ++channel) {
    AddUInt128(sum[channel], 0, statistics->add_channel_sum());
    AddUInt128(sum_sq[channel], 0, statistics->add_channel_sum_sq());
  }
  statistics->set_image_pixels(PixelsOf(rows));
}

void CountFloatChannels(const Tensor& tensor, const Rows& rows, proto::Statistics* statistics) {
  const size_t channels = tensor.shape.size() == 3 ? tensor.shape[2] : 1;
  AddFloatSums(tensor.bytes.data(), tensor.shape[1], channels, rows, statistics);
  statistics->set_image_pixels(PixelsOf(rows));
}

void CountLabelMap(const LabelMap& label, const Rows& rows, int classes,
                   proto::Statistics* statistics) {
  std::vector<uint64_t> counts(classes);
  uint64_t labelled = 0;
  uint64_t ignored = 0;
  for (size_t y = 0; y < rows.size(); ++y) {
    for (uint32_t x = rows[y].begin; x < rows[y].end; ++x) {
      const int32_t id = label.at(static_cast<int>(y), static_cast<int>(x));
      if (id == kIgnoredPixel) ++ignored;
      if (id < 0 || id >= classes) continue;
      ++counts[id];
      ++labelled;
    }
  }
  statistics->set_ignore_pixels(ignored);
  for (const uint64_t count : counts) {
    statistics->add_class_pixels(count);
    statistics->add_class_images(count > 0 ? 1 : 0);
    statistics->add_class_image_pixels(count > 0 ? labelled : 0);
  }
}

void CountClassId(int32_t id, int classes, proto::Statistics* statistics) {
  for (int k = 0; k < classes; ++k) {
    const uint64_t count = k == id ? 1 : 0;
    statistics->add_class_pixels(count);
    statistics->add_class_images(count);
    statistics->add_class_image_pixels(count);
  }
  if (id == kIgnoredPixel) statistics->set_ignore_pixels(1);
}

Status CountImage(const FieldSpec& spec, const Tensor& tensor, const proto::RecordMeta& meta,
                  proto::Statistics* statistics) {
  if (tensor.shape.size() != 2 && tensor.shape.size() != 3) return OkStatus();
  ASSIGN_OR_RETURN(const Rows rows, SourceRows(meta, tensor.shape[0], tensor.shape[1]));
  // Sums of other types are not kept.
  if (spec.dtype == DType::kU8) CountChannels<uint8_t>(tensor, rows, statistics);
  if (spec.dtype == DType::kU16) CountChannels<uint16_t>(tensor, rows, statistics);
  if (spec.dtype == DType::kF32) CountFloatChannels(tensor, rows, statistics);
  return OkStatus();
}

Status CountField(const RecordSchema& schema, const FieldSpec& spec, const Tensor& tensor,
                  const proto::RecordMeta& meta, proto::Statistics* statistics) {
  const int classes = static_cast<int>(schema.classes.size());
  if (spec.role == Role::kImage) return CountImage(spec, tensor, meta, statistics);
  if (spec.role == Role::kClassMap) {
    ASSIGN_OR_RETURN(const LabelMap label, DecodeLabelMap(schema, spec, tensor));
    ASSIGN_OR_RETURN(const Rows rows, SourceRows(meta, label.height, label.width));
    CountLabelMap(label, rows, classes, statistics);
  }
  if (spec.role == Role::kClassId) {
    ASSIGN_OR_RETURN(const std::vector<int32_t> ids, DecodeClassIds(schema, spec, tensor));
    if (ids.size() == 1) CountClassId(ids.front(), classes, statistics);
  }
  return OkStatus();
}

bool IsFirstOfItsRole(const RecordSchema& schema, int field) {
  return schema.FindRole(schema.fields[field].role) == field;
}

Status CountRecord(const ShardSet& set, const ShardSet::Split& split, uint64_t record,
                   ReadScratch* scratch, SplitRecount* recount) {
  const RecordSchema& schema = set.schema();
  const auto [shard, local] = split.Locate(record);
  ASSIGN_OR_RETURN(const proto::RecordMeta meta, shard->ReadMeta(local));
  proto::Statistics statistics;
  statistics.set_records(1);
  for (int field = 0; field < static_cast<int>(schema.fields.size()); ++field) {
    ASSIGN_OR_RETURN(const uint64_t stored, shard->StoredBytes(local, field));
    ASSIGN_OR_RETURN(const Tensor tensor, ReadTensor(*shard, local, field, scratch));
    recount->fields[field].stored += stored;
    recount->fields[field].decoded += tensor.bytes.size();
    if (!IsFirstOfItsRole(schema, field)) continue;
    RETURN_IF_ERROR(CountField(schema, schema.fields[field], tensor, meta, &statistics));
  }
  AddStatistics(statistics, recount->statistics.get());
  return OkStatus();
}

SplitRecount EmptyRecount(const RecordSchema& schema) {
  SplitRecount recount;
  recount.fields.resize(schema.fields.size());
  return recount;
}

void AddRecount(const SplitRecount& part, SplitRecount* sum) {
  AddStatistics(*part.statistics, sum->statistics.get());
  for (size_t field = 0; field < part.fields.size(); ++field) {
    sum->fields[field].stored += part.fields[field].stored;
    sum->fields[field].decoded += part.fields[field].decoded;
  }
}

uint64_t StoredBytes(const SplitRecount& recount) {
  uint64_t bytes = 0;
  for (const FieldBytes& field : recount.fields) bytes += field.stored;
  return bytes;
}

}  // namespace

Status CountFields(const RecordSchema& schema, const proto::RecordMeta& meta,
                   const std::function<Result<Tensor>(int field)>& tensor_of,
                   proto::Statistics* statistics) {
  for (int field = 0; field < static_cast<int>(schema.fields.size()); ++field) {
    const FieldSpec& spec = schema.fields[field];
    if (spec.role == Role::kTensor || !IsFirstOfItsRole(schema, field)) continue;
    ASSIGN_OR_RETURN(const Tensor tensor, tensor_of(field));
    RETURN_IF_ERROR(CountField(schema, spec, tensor, meta, statistics));
  }
  return OkStatus();
}

SplitRecount::SplitRecount() : statistics(std::make_unique<proto::Statistics>()) {}
SplitRecount::~SplitRecount() = default;
SplitRecount::SplitRecount(SplitRecount&&) noexcept = default;
SplitRecount& SplitRecount::operator=(SplitRecount&&) noexcept = default;

Result<SplitRecount> RecountSplit(const ShardSet& set, const ShardSet::Split& split,
                                  const RecountOptions& options) {
  PipelineOptions pipeline;
  pipeline.threads = options.threads;
  pipeline.cancelled = options.cancelled;
  std::vector<ReadScratch> scratches(options.threads);
  const uint64_t tasks = (split.records + kRecordsPerTask - 1) / kRecordsPerTask;
  auto work = [&](uint64_t task, int worker) -> Result<SplitRecount> {
    SplitRecount part = EmptyRecount(set.schema());
    const uint64_t end = std::min(split.records, (task + 1) * kRecordsPerTask);
    for (uint64_t record = task * kRecordsPerTask; record < end; ++record) {
      RETURN_IF_ERROR(CountRecord(set, split, record, &scratches[worker], &part));
    }
    if (options.report) options.report(end - task * kRecordsPerTask, StoredBytes(part));
    return part;
  };
  SplitRecount sum = EmptyRecount(set.schema());
  RETURN_IF_ERROR(RunOrdered<SplitRecount>(pipeline, tasks, work, [&](uint64_t, SplitRecount part) {
    AddRecount(part, &sum);
    return OkStatus();
  }));
  return sum;
}

}  // namespace shardmill
