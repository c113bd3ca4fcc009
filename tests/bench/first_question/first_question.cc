// The first question, reproduced: the same training step fed from raw PNG, as the questioner did
// it, and from packed shards. Prints the time of both, split into feed and compute.
//
//   first_question SOURCE SHARDS [--steps 40] [--batch 3] [--model unet] [--width 0]
//
// SOURCE is the folder that SHARDS were packed from: a camvid folder, or one with train and
// train_labels. Colour labels that the source lacks are made beforehand, untimed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "reader/base/version.h"
#include "reader/batch_loader.h"
#include "reader/console/command_line.h"
#include "reader/console/option_types.h"
#include "reader/console/text_table.h"
#include "reader/dataset.h"
#include "tests/bench/first_question/color_labels.h"
#include "tests/bench/first_question/png_feed.h"
#include "tests/bench/first_question/training_step.h"
#include "tools/dump/palette.h"

namespace shardmill {
namespace {

constexpr char kSplit[] = "train";

struct Options {
  std::string source;
  std::string shards;
  uint64_t steps = 40;
  uint64_t warmup = 4;
  uint64_t batch = 3;
  std::string model = "unet";
  uint64_t width = 0;
  uint64_t threads = 0;
};

// Makes the next batch; the views are valid until the next call.
using Feed = std::function<Status(ImageBatch* images, LabelBatch* labels)>;

struct Times {
  std::string feed;
  double feed_ms = 0;  // medians
  double compute_ms = 0;
  double step_ms = 0;
  double total_s = 0;  // of all measured steps
};

double NowMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

Result<Times> Measure(const std::string& name, const Options& options, const Feed& feed,
                      TrainingStep* step) {
  std::vector<double> feed_ms;
  std::vector<double> compute_ms;
  std::vector<double> step_ms;
  for (uint64_t i = 0; i < options.warmup + options.steps; ++i) {
    ImageBatch images;
    LabelBatch labels;
    const double start = NowMs();
    RETURN_IF_ERROR(feed(&images, &labels));
    const double fed = NowMs();
    RETURN_IF_ERROR(step->Run(images, labels));
    const double end = NowMs();
    if (i < options.warmup) continue;
    feed_ms.push_back(fed - start);
    compute_ms.push_back(end - fed);
    step_ms.push_back(end - start);
  }
  const double total_s = std::accumulate(step_ms.begin(), step_ms.end(), 0.0) / 1000;
  return Times{name, Median(feed_ms), Median(compute_ms), Median(step_ms), total_s};
}

Result<std::vector<std::string>> SourceImages(const Dataset& dataset) {
  ASSIGN_OR_RETURN(const Dataset::Split* split, dataset.split(kSplit));
  std::vector<std::string> images;
  for (uint64_t record = 0; record < split->records(); ++record) {
    const auto [shard, local] = split->Locate(record);
    ASSIGN_OR_RETURN(const proto::RecordMeta meta, shard->ReadMeta(local));
    images.push_back(meta.key().substr(0, meta.key().find('#')));
  }
  return images;
}

Result<Times> MeasurePng(const Options& options, const Dataset& dataset, TrainingStep* step) {
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::Create());
  ASSIGN_OR_RETURN(const std::vector<std::string> images, SourceImages(dataset));
  PngFeed::Options png;
  png.batch = static_cast<int64_t>(options.batch);
  png.height = step->task().image.h;
  png.width = step->task().image.w;
  png.class_colors = CompleteColors(dataset.schema().classes);
  ASSIGN_OR_RETURN(std::vector<PngPair> pairs,
                   MakeColorLabels(options.source, images, png.class_colors, scratch.path()));
  PngFeed feed(std::move(pairs), png);
  auto next = [&](ImageBatch* batch, LabelBatch* labels) -> Status {
    RETURN_IF_ERROR(feed.Next());
    *batch = feed.images();
    *labels = feed.labels();
    return OkStatus();
  };
  const std::string classes = std::to_string(png.class_colors.size());
  return Measure("PNG: decode, crop, compare with " + classes + " colours", options, next, step);
}

// Shuffled batches from the shards, the label as `delivery`.
class ShardFeed {
 public:
  static Result<ShardFeed> Open(const Options& options, std::shared_ptr<const Dataset> dataset,
                                const DataTask& task, Delivery delivery) {
    ASSIGN_OR_RETURN(const Dataset::Split* split, dataset->split(kSplit));
    const uint64_t steps_per_epoch = std::max<uint64_t>(split->records() / options.batch, 1);
    BatchLoaderOptions loader;
    loader.split = kSplit;
    loader.fields = {{task.image_field, Delivery::kStored}, {task.label_field, delivery}};
    loader.global_batch = options.batch;
    loader.epochs = (options.warmup + options.steps) / steps_per_epoch + 1;
    ShardFeed feed;
    feed.task_ = task;
    feed.one_hot_ = delivery == Delivery::kOneHotF32;
    ASSIGN_OR_RETURN(feed.loader_, BatchLoader::Open(std::move(dataset), loader));
    return feed;
  }

  Status Next(ImageBatch* images, LabelBatch* labels) {
    lease_.reset();
    ASSIGN_OR_RETURN(lease_, loader_->Next());
    if (!lease_) return InternalError("the loader ended too early");
    images->data = lease_->field(task_.image_field).data;
    images->type = task_.image_type;
    images->shape = task_.image;
    images->shape.n = lease_->rows();
    labels->data = lease_->field(task_.label_field).data;
    labels->type = one_hot_ ? LabelType::kOneHotF32 : task_.label_type;
    labels->n = lease_->rows();
    labels->h = task_.label_h;
    labels->w = task_.label_w;
    return OkStatus();
  }

 private:
  ShardFeed() = default;
  DataTask task_;
  bool one_hot_ = false;
  std::unique_ptr<BatchLoader> loader_;
  std::optional<Batch> lease_;  // after loader_: it must be gone first
};

Result<Times> MeasureShards(const Options& options, std::shared_ptr<const Dataset> dataset,
                            Delivery delivery, TrainingStep* step) {
  ASSIGN_OR_RETURN(ShardFeed feed, ShardFeed::Open(options, dataset, step->task(), delivery));
  auto next = [&](ImageBatch* images, LabelBatch* labels) { return feed.Next(images, labels); };
  const bool one_hot = delivery == Delivery::kOneHotF32;
  return Measure(one_hot ? "shards: label as one-hot f32" : "shards: label as class index", options,
                 next, step);
}

std::string Digits(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

void Print(const Options& options, const TrainingStep& step, const std::vector<Times>& rows) {
  std::printf(
      "%s, batch %llu, %lld high × %lld wide, %d compute threads; "
      "medians of %llu steps, and the time of all\n\n",
      options.model.c_str(), static_cast<unsigned long long>(options.batch),
      static_cast<long long>(step.task().image.h), static_cast<long long>(step.task().image.w),
      step.threads(), static_cast<unsigned long long>(options.steps));
  constexpr auto kRight = TextTable::Align::kRight;
  TextTable table({{"fed from", TextTable::Align::kLeft},
                   {"feed", kRight},
                   {"compute", kRight},
                   {"step", kRight},
                   {"feed's share", kRight},
                   {"images/s", kRight},
                   {"all steps", kRight}});
  for (const Times& row : rows) {
    table.AddRow({row.feed, Digits(row.feed_ms, 2) + " ms", Digits(row.compute_ms, 1) + " ms",
                  Digits(row.step_ms, 1) + " ms", Digits(100 * row.feed_ms / row.step_ms, 1) + " %",
                  Digits(1000.0 * static_cast<double>(options.batch) / row.step_ms, 1),
                  Digits(row.total_s, 1) + " s"});
  }
  std::printf("%s\n", table.ToString(0, false).c_str());
  std::printf("a step from PNG takes %s times as long as one from shards\n",
              Digits(rows.front().step_ms / rows.back().step_ms, 2).c_str());
}

Result<int> Run(const Options& options) {
  if (options.batch == 0 || options.steps == 0) {
    return InvalidArgumentError("--batch and --steps must be at least 1");
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<const Dataset> dataset,
                   Dataset::Open(options.shards, kSplit));
  TrainingStep::Options step_options;
  step_options.batch = static_cast<int64_t>(options.batch);
  step_options.model = options.model;
  step_options.width = static_cast<int64_t>(options.width);
  step_options.threads = static_cast<int>(options.threads);
  ASSIGN_OR_RETURN(TrainingStep step, TrainingStep::Create(*dataset, step_options));
  std::vector<Times> rows;
  ASSIGN_OR_RETURN(Times png, MeasurePng(options, *dataset, &step));
  rows.push_back(std::move(png));
  for (const Delivery delivery : {Delivery::kOneHotF32, Delivery::kIndex}) {
    ASSIGN_OR_RETURN(Times shards, MeasureShards(options, dataset, delivery, &step));
    rows.push_back(std::move(shards));
  }
  Print(options, step, rows);
  return kExitDone;
}

void AddOptions(CLI::App* app, Options* options) {
  app->add_option("SOURCE", options->source, "Folder of PNG pairs that the shards were packed from")
      ->required()
      ->type_name("");
  app->add_option("SHARDS", options->shards, "The packed data set")->required()->type_name("");
  AddUnsigned(app, "--steps", &options->steps, 1'000'000, "Measured steps for each feed");
  AddUnsigned(app, "--warmup", &options->warmup, 1'000'000, "Steps before those");
  AddUnsigned(app, "--batch", &options->batch, 1024, "Samples of a step");
  app->add_option("--model", options->model, "Name of a model of class maps")->type_name("NAME");
  AddUnsigned(app, "--width", &options->width, 1024,
              "Channels of its first stage; 0: as it was published");
  AddUnsigned(app, "--threads", &options->threads, 1024, "Of the computation; 0: all cores");
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) {
  shardmill::CommandLine commands("first_question",
                                  "Times the same training fed from PNG and from shards.",
                                  std::string(shardmill::kVersion));
  auto options = std::make_shared<shardmill::Options>();
  CLI::App* app =
      commands.Add("run", "Runs the comparison", [options] { return shardmill::Run(*options); });
  shardmill::AddOptions(app, options.get());
  commands.SetDefault("run");
  return commands.Run(argc, argv);
}
