#include <cstdio>
#include <memory>
#include <set>
#include <string>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "proto/manifest.pb.h"
#include "reader/base/interrupt.h"
#include "reader/console/json_writer.h"
#include "reader/console/terminal.h"
#include "reader/console/units.h"
#include "trainer/comm/job_end.h"
#include "trainer/comm/run_job.h"
#include "trainer/commands/train_command.h"
#include "trainer/evaluation/evaluation.h"
#include "trainer/evaluation/scorer.h"
#include "trainer/evaluation/scorer_flags.h"
#include "trainer/export/output_file.h"
#include "trainer/logs/console.h"
#include "trainer/prediction/pictures.h"
#include "trainer/prediction/sliding_window.h"
#include "trainer/training/network.h"
#include "trainer/training/rank_facts.h"

namespace shardmill {
namespace {

struct EvaluateOptions {
  const CLI::App* app = nullptr;
  ScorerOptions scorer;
  ScorerFlags flags;
  std::string confusion;  // file for the picture; empty: none
  int batch = 8;
  bool json = false;
};

void WriteScore(const char* key, const std::optional<double>& score, JsonWriter* json) {
  json->Key(key);
  if (score) {
    json->Number(*score);
  } else {
    json->Null();
  }
}

void PrintJson(const EvaluationResult& result, const Scores& scores, const DataTask& task) {
  JsonWriter json;
  json.BeginObject();
  json.Key("records").Number(result.records);
  json.Key("seconds").Number(result.seconds);
  json.Key("loss").Number(result.loss.Mean());
  json.Key("ignored_pixels").Number(result.matrix.ignored());
  WriteScore("pixel_accuracy", scores.pixel_accuracy, &json);
  WriteScore("top5_accuracy", scores.top_five_accuracy, &json);
  WriteScore("mean_accuracy", scores.mean_accuracy, &json);
  WriteScore("miou", scores.mean_iou, &json);
  json.Key("classes").BeginArray();
  for (size_t k = 0; k < task.classes.size(); ++k) {
    json.BeginObject();
    json.Key("class").String(task.classes[k]);
    WriteScore("iou", scores.class_iou[k], &json);
    WriteScore("accuracy", scores.class_accuracy[k], &json);
    json.Key("pixels").Number(scores.class_pixels[k]);
    json.EndObject();
  }
  json.EndArray();
  // Row by row: how often each class was predicted for a label.
  json.Key("confusion").BeginArray();
  for (int label = 0; label < result.matrix.classes(); ++label) {
    json.BeginArray();
    for (int k = 0; k < result.matrix.classes(); ++k) json.Number(result.matrix.count(label, k));
    json.EndArray();
  }
  json.EndArray();
  json.EndObject();
  std::printf("%s", json.Take().c_str());
}

void PrintText(const EvaluationResult& result, const Scores& scores, const DataTask& task) {
  const bool of_pixels = task.kind == TaskKind::kSegmentation;
  const LabelledUnit unit = of_pixels ? LabelledUnit::kPixel : LabelledUnit::kImage;
  std::printf("%s", ClassTable(scores, task.classes, unit, WantsColor(stdout)).c_str());
  std::printf("%s records in %s, loss %.4f, %saccuracy %s", FormatCount(result.records).c_str(),
              FormatSeconds(result.seconds).c_str(), result.loss.Mean(), of_pixels ? "pixel " : "",
              ScoreText(scores.pixel_accuracy).c_str());
  if (scores.top_five_accuracy && task.classes.size() > 5) {
    std::printf(", top-5 accuracy %s", ScoreText(scores.top_five_accuracy).c_str());
  }
  if (of_pixels) std::printf(", mIoU %s", ScoreText(scores.mean_iou).c_str());
  std::printf("\n");
}

// Whole images, or windows.
Result<std::unique_ptr<BatchEngine>> MakeEngine(const EvaluateOptions& options, Scorer* scorer,
                                                Communicator* ranks) {
  ASSIGN_OR_RETURN(const WindowOptions windows, options.flags.Windows(scorer->task));
  if (windows.height == 0) return CreateRankEngine(scorer->graph.get(), ranks);
  return CreateSlidingEngine(scorer->graph.get(), ranks, windows);
}

// Files may have other names on other hosts, and what rank 0 alone prints or writes is its own.
const std::set<std::string> kOwnOptions = {
    "--help", "--checkpoint", "--plan-cache", "--threads", "--confusion", "--json", "--quiet"};

// What the files of all ranks must agree on.
std::vector<RankFact> FileFacts(const Scorer& scorer) {
  const proto::Manifest& manifest = scorer.dataset->manifest();
  return {{"the data set", manifest.dataset_id() + " (manifest " + manifest.digest() + ")"},
          {"the hash of the weights", WeightsHash(scorer.graph.get())}};
}

Result<int> EvaluateOnRanks(const EvaluateOptions& options, Communicator* ranks) {
  if (const Status alike = CompareFacts(ranks, OptionFacts(*options.app, kOwnOptions));
      !alike.ok()) {
    return EndJob(ranks, alike, Known::kOnAllRanks);
  }
  // At the end of a long evaluation it would be too late.
  Status own = options.confusion.empty() || ranks->rank() > 0
                   ? OkStatus()
                   : CheckOutputFile("--confusion", options.confusion, OutputKind::kPicture);
  Result<Scorer> scorer = own.ok() ? PrepareScorer(options.scorer, ranks) : own;
  own = scorer.status();
  std::unique_ptr<BatchEngine> engine;
  if (own.ok()) {
    Result<std::unique_ptr<BatchEngine>> made = MakeEngine(options, &*scorer, ranks);
    own = made.status();
    if (made.ok()) engine = std::move(made).value();
  }
  Status ready = AgreeOnStatus(ranks, own, "preparation");
  if (ready.ok()) ready = CompareFacts(ranks, FileFacts(*scorer));
  if (!ready.ok()) return EndJob(ranks, ready, Known::kOnAllRanks);
  EvaluationOptions evaluation;
  evaluation.split = options.scorer.split;
  evaluation.batch = options.batch;
  ASSIGN_OR_RETURN(const Dataset::Split* split, scorer->dataset->split(options.scorer.split));
  RecordProgress progress("evaluating", split->records(),
                          options.scorer.quiet || ranks->rank() > 0);
  evaluation.progress = [&progress](uint64_t done) {
    progress.Show(done);
    return CheckInterrupt();
  };
  const auto result = Evaluate(engine.get(), ranks, scorer->dataset, scorer->task, evaluation);
  if (!result.ok()) {
    const bool interrupted = result.status().code() == StatusCode::kCancelled;
    return EndJob(ranks, result.status(), interrupted ? Known::kOnAllRanks : Known::kHere);
  }
  if (ranks->rank() == 0) {
    const Scores scores = ComputeScores(result->matrix);
    options.json ? PrintJson(*result, scores, scorer->task)
                 : PrintText(*result, scores, scorer->task);
    if (!options.confusion.empty()) {
      const Status written = WriteConfusion(options.confusion, result->matrix);
      if (!written.ok()) return EndJob(ranks, written, Known::kHere);
    }
  }
  return EndJob(ranks, OkStatus(), Known::kOnAllRanks);
}

Result<int> RunEvaluate(const EvaluateOptions& options) {
  return RunJob({}, InstallInterruptHandlers(),
                [&](Communicator* ranks) { return EvaluateOnRanks(options, ranks); });
}

}  // namespace

void AddEvaluateCommand(CommandLine* commands) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* app = commands->Add("evaluate", "Scores a checkpoint on a split of a data set.",
                                [options] { return RunEvaluate(*options); });
  app->footer(
      "Examples:\n"
      "  shardmill-train evaluate SHARDS --checkpoint run/best.ckpt\n"
      "  shardmill-train evaluate SHARDS --checkpoint run/best.ckpt --split test --confusion "
      "c.png\n"
      "  shardmill-train evaluate SHARDS --checkpoint run/best.ckpt --window 352x480\n"
      "  mpirun -np 2 shardmill-train evaluate SHARDS --checkpoint run/best.ckpt");
  options->app = app;
  options->flags.AddTo(app, &options->scorer);
  app->add_option("--batch", options->batch, "Records per batch")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536).description(""))
      ->type_name("N");
  app->add_option("--confusion", options->confusion,
                  "Writes a picture of the confusion matrix: labels from the top, predictions from "
                  "the left, darker for a larger share of the label")
      ->type_name("FILE.png");
  app->add_flag("--json", options->json, "Results as one JSON object");
}

}  // namespace shardmill
