#include "tools/pack/pack_report.h"

#include <algorithm>
#include <cstdio>

#include "reader/console/json_writer.h"
#include "reader/console/terminal.h"
#include "reader/console/text_table.h"
#include "reader/console/units.h"
#include "reader/statistics.h"
#include "tools/pack/labels/unused_class.h"
#include "tools/text_by_file.h"

namespace shardmill {
namespace {

constexpr size_t kSkippedShown = 20;

std::string Format(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string ColorText(const ClassInfo& info) {
  if (!info.color.has_value()) return "";
  char text[16];
  std::snprintf(text, sizeof text, "#%06x", *info.color);
  return text;
}

uint64_t At(const google::protobuf::RepeatedField<uint64_t>& values, uint32_t id) {
  return id < static_cast<uint32_t>(values.size()) ? values[static_cast<int>(id)] : 0;
}

// Pixels (or images) of a class among all that have a class.
double Share(const proto::Statistics& statistics, uint32_t id) {
  uint64_t all = 0;
  for (uint64_t count : statistics.class_pixels()) all += count;
  return all == 0
             ? 0
             : static_cast<double>(At(statistics.class_pixels(), id)) / static_cast<double>(all);
}

bool IsSegmentation(const PackReport& report) { return report.plan->task == Task::kSegmentation; }

std::string FieldText(const FieldSpec& field) {
  std::string text = field.name + " " + std::string(DTypeName(field.dtype)) + " [";
  for (size_t i = 0; i < field.shape.size(); ++i) {
    const bool varies = field.shape[i] == kVariableDim;
    text += (i == 0 ? "" : " × ") + (varies ? "?" : std::to_string(field.shape[i]));
  }
  text += "] " + std::string(CodecName(field.codec));
  if (field.encoding != LabelEncoding::kNone) {
    text += ", " + std::string(LabelEncodingName(field.encoding));
  }
  return text;
}

// Where the shards came from, and what is still to do.
std::string ShardsText(const PackReport& report) {
  const WrittenSet& written = *report.written;
  const uint64_t planned = report.plan->AllShards().size();
  std::string text;
  if (written.result.kept_shards > 0) {
    text += "  " + FormatCount(written.result.kept_shards) + " of " +
            CountOf(written.result.shards(), "shard") + " kept from an earlier run\n";
  }
  if (written.complete) return text;
  if (written.held_back) {
    return text + "  the shards are kept aside, and what was there before is not replaced\n";
  }
  if (written.missing.empty()) {
    return text + "  all " + FormatCount(planned) +
           " shards of the set are there: --finish in the place of --shards writes its manifest\n";
  }
  return text + "  " + FormatCount(written.missing.size()) + " of " + FormatCount(planned) +
         " shards of the set are still missing, the first: " + written.missing.front() + "\n";
}

std::string SplitLine(const SplitResult& split, bool arrays) {
  return "  " + split.name + ": " + CountOf(split.records, "record") + " in " +
         CountOf(split.shards, "shard") + ", " + FormatBytes(split.source_bytes) + " → " +
         FormatBytes(split.shard_bytes) + (arrays ? " (arrays " : " (images ") +
         FormatBytes(split.image_bytes) + ", labels " + FormatBytes(split.label_bytes) + ")\n";
}

std::string ClassTableText(const PackReport& report, bool colored) {
  const std::string records = report.plan->holds_arrays ? "arrays" : "images";
  const std::string what = IsSegmentation(report) ? "pixels" : records;
  using Align = TextTable::Align;
  std::vector<TextTable::Column> columns = {
      {"id", Align::kRight}, {"class", Align::kLeft}, {"colour", Align::kLeft}};
  for (const SplitResult& split : report.written->result.splits) {
    columns.push_back({split.name + " " + what, Align::kRight});
  }
  columns.push_back({records, Align::kRight});
  TextTable table(columns);
  for (const ClassInfo& info : report.plan->schema.classes) {
    if (IsUnusedClass(info)) continue;
    std::vector<std::string> cells = {std::to_string(info.id), EscapeControl(info.name),
                                      ColorText(info)};
    uint64_t images = 0;
    for (const SplitResult& split : report.written->result.splits) {
      cells.push_back(Format("%.2f %%", 100 * Share(split.statistics, info.id)));
      images += At(split.statistics.class_images(), info.id);
    }
    cells.push_back(FormatCount(images));
    table.AddRow(cells);
  }
  return table.ToString(2, colored);
}

// Normalisation uses the train split; without one, the first.
const SplitResult& MomentsSplit(const PackResult& result) {
  for (const SplitResult& split : result.splits) {
    if (split.name == "train") return split;
  }
  return result.splits.front();
}

std::string MomentsText(const PackReport& report) {
  const SplitResult& split = MomentsSplit(report.written->result);
  if (report.plan->holds_arrays) return "";
  const bool floats = split.statistics.channel_value_sum_size() > 0;  // of any magnitude
  const char* const form = floats ? " %.4g" : " %.2f";
  std::string mean, deviation;
  for (const ChannelMoments& moments : MomentsOfChannels(split.statistics)) {
    mean += Format(form, moments.mean);
    deviation += Format(form, moments.standard_deviation);
  }
  if (mean.empty()) return "";
  const char* const channels = report.options->bands.has_value() ? "" : " (R G B)";
  return "  mean of " + split.name + channels + ":" + mean + ", standard deviation:" + deviation +
         "\n";
}

std::string IgnoreText(const PackReport& report) {
  if (!report.plan->schema.ignore.has_value()) return "";
  uint64_t ignored = 0, pixels = 0;
  for (const SplitResult& split : report.written->result.splits) {
    ignored += split.statistics.ignore_pixels();
    pixels += split.statistics.image_pixels();
  }
  double share = pixels == 0 ? 0 : static_cast<double>(ignored) / static_cast<double>(pixels);
  return "  ignore value " + std::to_string(*report.plan->schema.ignore) + ": " +
         Format("%.2f %%", 100 * share) + " of the pixels, padding not counted\n";
}

// Of all records, where these have one size.
uint64_t PaddingPixels(const PackReport& report) {
  uint64_t shown = 0;
  for (const SplitResult& split : report.written->result.splits) {
    shown += split.statistics.image_pixels();
  }
  const uint64_t all = report.written->result.records() * report.plan->window.pixels();
  return shown == 0 || all < shown ? 0 : all - shown;
}

std::string PaddingText(const PackReport& report) {
  const uint64_t padding = PaddingPixels(report);
  if (padding == 0) return "";
  const uint64_t all = report.written->result.records() * report.plan->window.pixels();
  return "  padding: " +
         Format("%.2f %%", 100 * static_cast<double>(padding) / static_cast<double>(all)) +
         " of the pixels of all records lie outside of their images\n";
}

uint64_t DroppedRecords(const PackResult& result) {
  uint64_t dropped = 0;
  for (const SplitResult& split : result.splits) dropped += split.statistics.dropped_records();
  return dropped;
}

std::string ConversionsText(const PackResult& result) {
  std::string text;
  for (const auto& [what, count] : ConvertedImages(result)) {
    text += "  converted: " + what + ", " + CountOf(count, "image") + "\n";
  }
  std::string kinds;
  for (int i = 0; i < kLabelKindCount; ++i) {
    const uint64_t count = result.label_kinds[static_cast<size_t>(i)];
    if (count == 0) continue;
    kinds += (kinds.empty() ? "" : ", ") + std::string(LabelKindName(static_cast<LabelKind>(i))) +
             " (" + CountOf(count, "file") + ")";
  }
  if (!kinds.empty()) text += "  labels read by: " + kinds + "\n";
  if (result.approximated_pixels > 0) {
    text += "  labels rounded: " + CountOf(result.approximated_pixels, "pixel") + " of " +
            CountOf(result.approximated_labels, "file") + " taken for the nearest class\n";
  }
  if (result.shapes_without_area > 0) {
    text += "  annotations: " + CountOf(result.shapes_without_area, "shape") +
            " left out, which cover no pixel (points, lines, areas smaller than a pixel or outside "
            "the image)\n";
  }
  return text;
}

std::string SkippedText(const PackResult& result) {
  std::string text;
  const uint64_t dropped = DroppedRecords(result);
  if (dropped > 0) {
    text += "  dropped: " + CountOf(dropped, "window") + ", too much of them is ignored\n";
  }
  size_t shown = 0;
  for (const SplitResult& split : result.splits) {
    for (const Problem& problem : split.skipped) {
      if (shown++ == kSkippedShown) return text + "  … (--json lists them all)\n";
      text +=
          "  skipped: " + EscapeControl(problem.key) + ": " + EscapeControl(problem.reason) + "\n";
    }
  }
  return text;
}

void WriteSplits(const PackResult& result, JsonWriter* json) {
  json->Key("splits").BeginArray();
  for (const SplitResult& split : result.splits) {
    json->BeginObject();
    json->Key("name").String(split.name);
    json->Key("inputs").Number(split.inputs);
    json->Key("packed").Number(split.packed);
    json->Key("records").Number(split.records);
    json->Key("skipped").Number(uint64_t{split.skipped.size()});
    json->Key("shards").Number(split.shards);
    json->Key("source_bytes").Number(split.source_bytes);
    json->Key("shard_bytes").Number(split.shard_bytes);
    json->Key("image_bytes").Number(split.image_bytes);
    json->Key("label_bytes").Number(split.label_bytes);
    json->EndObject();
  }
  json->EndArray();
}

void WriteClasses(const PackReport& report, JsonWriter* json) {
  json->Key("classes").BeginArray();
  for (const ClassInfo& info : report.plan->schema.classes) {
    proto::Statistics all;
    for (const SplitResult& split : report.written->result.splits)
      AddStatistics(split.statistics, &all);
    json->BeginObject();
    json->Key("id").Number(info.id);
    json->Key("name").String(info.name);
    json->Key("color");
    info.color.has_value() ? json->String(ColorText(info)) : json->Null();
    json->Key(IsSegmentation(report) ? "pixels" : "records")
        .Number(At(all.class_pixels(), info.id));
    json->Key("share").Number(Share(all, info.id));
    json->Key("images").Number(At(all.class_images(), info.id));
    json->EndObject();
  }
  json->EndArray();
}

void WriteMoments(const PackResult& result, JsonWriter* json) {
  // A slice whose shards are all left to others has no split.
  const auto moments = result.splits.empty() ? std::vector<ChannelMoments>()
                                             : MomentsOfChannels(MomentsSplit(result).statistics);
  json->Key("mean").BeginArray();
  for (const ChannelMoments& channel : moments) json->Number(channel.mean);
  json->EndArray();
  json->Key("standard_deviation").BeginArray();
  for (const ChannelMoments& channel : moments) json->Number(channel.standard_deviation);
  json->EndArray();
}

void WriteCounts(const PackResult& result, JsonWriter* json) {
  json->Key("conversions").BeginObject();
  for (int i = 0; i < kConversionCount; ++i) {
    json->Key(ConversionKey(static_cast<Conversion>(i)))
        .Number(result.conversions[static_cast<size_t>(i)]);
  }
  json->EndObject();
  json->Key("label_files").BeginObject();
  for (int i = 0; i < kLabelKindCount; ++i) {
    json->Key(LabelKindKey(static_cast<LabelKind>(i)))
        .Number(result.label_kinds[static_cast<size_t>(i)]);
  }
  json->EndObject();
  json->Key("label_pixels_rounded").Number(result.approximated_pixels);
  json->Key("shapes_without_area").Number(result.shapes_without_area);
}

void WriteSkipped(const PackResult& result, JsonWriter* json) {
  json->Key("skipped_inputs").BeginArray();
  for (const SplitResult& split : result.splits) {
    for (const Problem& problem : split.skipped) {
      json->BeginObject();
      json->Key("split").String(split.name);
      json->Key("key").String(problem.key);
      json->Key("reason").String(problem.reason);
      json->Key("by_rule").Bool(problem.by_rule);
      json->EndObject();
    }
  }
  json->EndArray();
}

void WritePlan(const PackReport& report, JsonWriter* json) {
  json->Key("output").String(report.options->output);
  json->Key("dataset_id").String(DigestToHex(report.plan->dataset_id));
  json->Key("layout").String(report.layout);
  json->Key("task").String(IsSegmentation(report) ? "segmentation" : "classification");
  const ImageSize window = report.plan->window;
  const bool one_size = window.pixels() > 0;
  json->Key("height");
  one_size ? json->Number(window.height) : json->Null();
  json->Key("width");
  one_size ? json->Number(window.width) : json->Null();
  json->Key("ignore");
  report.plan->schema.ignore.has_value() ? json->Number(*report.plan->schema.ignore) : json->Null();
  json->Key("record_bytes").Number(report.plan->record_bytes);
  json->Key("notes").BeginArray();
  for (const std::string& note : report.notes) json->String(note);
  json->EndArray();
}

}  // namespace

std::string DescribePlan(const PackReport& report) {
  const PackPlan& plan = *report.plan;
  std::string text =
      "records of " + (plan.window.pixels() > 0 ? DescribeImageSize(plan.window) : plan.sizes);
  for (const FieldSpec& field : plan.schema.fields) text += ", " + FieldText(field);
  return text;
}

std::string SummaryText(const PackReport& report, bool colored) {
  const PackResult& result = report.written->result;
  uint64_t source_bytes = 0, shard_bytes = 0;
  for (const SplitResult& split : result.splits) {
    source_bytes += split.source_bytes;
    shard_bytes += split.shard_bytes;
  }
  std::string text = EscapeControl(report.options->output) + ": " + FormatCount(result.packed()) +
                     " packed + " + FormatCount(result.skipped()) +
                     " skipped = " + CountOf(result.inputs(), "input") + ", " +
                     FormatBytes(source_bytes) + " → " + FormatBytes(shard_bytes) + " in " +
                     FormatSeconds(report.seconds) + "\n";
  for (const SplitResult& split : result.splits)
    text += SplitLine(split, report.plan->holds_arrays);
  text += ShardsText(report);
  text += "  " + DescribePlan(report) + "\n";
  if (!report.written->complete) return text + SkippedText(result);
  text += ClassTableText(report, colored);
  text += IgnoreText(report) + PaddingText(report) + MomentsText(report) + ConversionsText(result) +
          SkippedText(result);
  if (!report.page.empty()) text += "  report: " + EscapeControl(report.page) + "\n";
  return text;
}

std::string SummaryJson(const PackReport& report) {
  JsonWriter json;
  json.BeginObject();
  WritePlan(report, &json);
  json.Key("dry_run").Bool(report.written == nullptr);
  json.Key("inputs").Number(report.plan->inputs());
  if (report.written != nullptr) {
    json.Key("packed").Number(report.written->result.packed());
    json.Key("records").Number(report.written->result.records());
    json.Key("skipped").Number(report.written->result.skipped());
    json.Key("dropped_records").Number(DroppedRecords(report.written->result));
    json.Key("failed").Number(0);  // an input that fails ends the pack, without a report
    WriteSplits(report.written->result, &json);
    WriteClasses(report, &json);
    WriteMoments(report.written->result, &json);
    json.Key("padding_pixels").Number(PaddingPixels(report));
    WriteCounts(report.written->result, &json);
    WriteSkipped(report.written->result, &json);
    json.Key("kept_shards").Number(report.written->result.kept_shards);
    json.Key("missing_shards").BeginArray();
    for (const std::string& name : report.written->missing) json.String(name);
    json.EndArray();
    json.Key("complete").Bool(report.written->complete);
    json.Key("report");
    report.page.empty() ? json.Null() : json.String(report.page);
    json.Key("seconds").Number(report.seconds);
  } else {
    WritePlannedSplits(report, &json);
  }
  json.EndObject();
  return json.Take();
}

std::vector<std::pair<std::string, uint64_t>> ConvertedImages(const PackResult& result) {
  std::vector<std::pair<std::string, uint64_t>> converted;
  for (int i = 0; i < kConversionCount; ++i) {
    const uint64_t count = result.conversions[static_cast<size_t>(i)];
    if (count > 0) {
      converted.emplace_back(std::string(ConversionName(static_cast<Conversion>(i))), count);
    }
  }
  return converted;
}

std::vector<std::string> AbsentClasses(const PackReport& report) {
  std::vector<std::string> names;
  for (const ClassInfo& info : report.plan->schema.classes) {
    bool occurs = std::any_of(
        report.written->result.splits.begin(), report.written->result.splits.end(),
        [&](const SplitResult& split) { return At(split.statistics.class_images(), info.id) > 0; });
    if (!occurs && !IsUnusedClass(info)) names.push_back(info.name);
  }
  return names;
}

}  // namespace shardmill
