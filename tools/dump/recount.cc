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

namespace shardmill {
namespace {

constexpr uint64_t kRecordsPerTask = 16;

// The rows and columns of a record that show its source; the others are padding.
struct Window {
  int64_t top = 0;
  int64_t bottom = 0;
  int64_t left = 0;
  int64_t right = 0;

  uint64_t pixels() const { return static_cast<uint64_t>(bottom - top) * (right - left); }
};

Window SourceWindow(const proto::RecordMeta& meta, int64_t height, int64_t width) {
  Window window{0, height, 0, width};
  if (meta.crop_height() == 0 || meta.crop_width() == 0) return window;
  const bool resized = meta.resized_height() != 0;
  const int64_t source_height = resized ? meta.resized_height() : meta.source_height();
  const int64_t source_width = resized ? meta.resized_width() : meta.source_width();
  window.top = std::clamp<int64_t>(-int64_t{meta.crop_y()}, 0, height);
  window.left = std::clamp<int64_t>(-int64_t{meta.crop_x()}, 0, width);
  window.bottom = std::clamp<int64_t>(source_height - meta.crop_y(), window.top, height);
  window.right = std::clamp<int64_t>(source_width - meta.crop_x(), window.left, width);
  return window;
}

template <typename T>
void CountChannels(const Tensor& tensor, const Window& window, proto::Statistics* statistics) {
  const int64_t width = tensor.shape[1];
  const int64_t channels = tensor.shape.size() == 3 ? tensor.shape[2] : 1;
  std::vector<uint64_t> sum(channels);
  std::vector<uint64_t> sum_sq(channels);
  for (int64_t y = window.top; y < window.bottom; ++y) {
    const uint8_t* row = tensor.bytes.data() + (y * width + window.left) * channels * sizeof(T);
    for (int64_t x = window.left; x < window.right; ++x) {
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
  statistics->set_image_pixels(window.pixels());
}

void CountLabelMap(const LabelMap& label, const Window& window, int classes,
                   proto::Statistics* statistics) {
  std::vector<uint64_t> counts(classes);
  uint64_t labelled = 0;
  uint64_t ignored = 0;
  for (int64_t y = window.top; y < window.bottom; ++y) {
    for (int64_t x = window.left; x < window.right; ++x) {
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
  const Window window = SourceWindow(meta, tensor.shape[0], tensor.shape[1]);
  // Sums of other types are not kept: the manifest holds integers only.
  if (spec.dtype == DType::kU8) CountChannels<uint8_t>(tensor, window, statistics);
  if (spec.dtype == DType::kU16) CountChannels<uint16_t>(tensor, window, statistics);
  return OkStatus();
}

Status CountField(const RecordSchema& schema, const FieldSpec& spec, const Tensor& tensor,
                  const proto::RecordMeta& meta, proto::Statistics* statistics) {
  const int classes = static_cast<int>(schema.classes.size());
  if (spec.role == Role::kImage) return CountImage(spec, tensor, meta, statistics);
  if (spec.role == Role::kClassMap) {
    ASSIGN_OR_RETURN(const LabelMap label, DecodeLabelMap(schema, spec, tensor));
    CountLabelMap(label, SourceWindow(meta, label.height, label.width), classes, statistics);
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
