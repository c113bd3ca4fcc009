#include <cstdio>
#include <memory>
#include <string>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "proto/checkpoint.pb.h"
#include "reader/base/interrupt.h"
#include "reader/console/json_writer.h"
#include "reader/console/terminal.h"
#include "reader/console/units.h"
#include "trainer/checkpoint.h"
#include "trainer/comm/create_communicator.h"
#include "trainer/comm/job_end.h"
#include "trainer/device.h"
#include "trainer/evaluation.h"
#include "trainer/logs/console.h"
#include "trainer/network.h"
#include "trainer/train_command.h"
#include "trainer/weight_average.h"

namespace shardmill {
namespace {

struct EvaluateOptions {
  std::string dataset;
  std::string checkpoint;
  std::string split = "val";
  std::string device = "auto";
  int batch = 8;
  int threads = 0;
  bool json = false;
  bool quiet = false;
};

// The classes of the checkpoint must be those of the data set, in the same order.
Status CheckClasses(const proto::TrainedOn& trained_on, const DataTask& task) {
  const std::vector<std::string> known(trained_on.classes().begin(), trained_on.classes().end());
  if (known == task.classes) return OkStatus();
  for (size_t k = 0; k < std::min(known.size(), task.classes.size()); ++k) {
    if (known[k] == task.classes[k]) continue;
    return InvalidArgumentError("class " + std::to_string(k) + " is '" + known[k] +
                                "' in the checkpoint and '" + task.classes[k] +
                                "' in the data set");
  }
  return InvalidArgumentError("the checkpoint knows " + std::to_string(known.size()) +
                              " classes, the data set has " + std::to_string(task.classes.size()));
}

Result<std::unique_ptr<Graph>> RestoreGraph(const LoadedCheckpoint& checkpoint,
                                            const DataTask& task, OpTable* ops) {
  const proto::Checkpoint& description = checkpoint.description();
  RETURN_IF_ERROR(CheckClasses(description.trained_on(), task).WithContext(checkpoint.path()));
  if (description.model().input_channels() != task.image.c) {
    return InvalidArgumentError(checkpoint.path() + ": trained on images of " +
                                std::to_string(description.model().input_channels()) +
                                " channels, the data set has " + std::to_string(task.image.c));
  }
  ImageScale scale;
  const proto::TrainedOn& trained_on = description.trained_on();
  scale.mean.assign(trained_on.image_mean().begin(), trained_on.image_mean().end());
  scale.deviation.assign(trained_on.image_deviation().begin(), trained_on.image_deviation().end());
  ASSIGN_OR_RETURN(
      std::unique_ptr<Graph> graph,
      CreateNetwork(description.config(), task, scale, ops,
                    description.model().has_layers() ? &description.model().layers() : nullptr));
  RETURN_IF_ERROR(HasWeightAverage(checkpoint)
                      ? RestoreAverageAsWeights(checkpoint, &graph->parameters())
                      : RestoreNetwork(checkpoint, graph.get()));
  LossOptions loss;
  if (task.ignore) loss.ignore = *task.ignore;
  RETURN_IF_ERROR(graph->SetLoss(loss));
  return graph;
}

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
  if (of_pixels) std::printf(", mIoU %s", ScoreText(scores.mean_iou).c_str());
  std::printf("\n");
}

// A graph with the weights of the checkpoint, ready to score batches.
struct Scorer {
  Device device;
  std::shared_ptr<const Dataset> dataset;
  DataTask task;
  std::unique_ptr<Graph> graph;
  std::unique_ptr<BatchEngine> engine;
};

Result<Scorer> PrepareScorer(const EvaluateOptions& options, Communicator* ranks) {
  Scorer scorer;
  ASSIGN_OR_RETURN(scorer.device,
                   OpenDevice(options.device, options.threads, ranks->layout().local_size));
  if (!scorer.device.notice.empty() && !options.quiet && ranks->rank() == 0) {
    std::fprintf(stderr, "note: %s\n", scorer.device.notice.c_str());
  }
  ASSIGN_OR_RETURN(const LoadedCheckpoint checkpoint, LoadedCheckpoint::Read(options.checkpoint));
  ASSIGN_OR_RETURN(scorer.dataset, Dataset::Open(options.dataset, options.split));
  ASSIGN_OR_RETURN(scorer.task, DescribeTask(scorer.dataset->schema()));
  ASSIGN_OR_RETURN(scorer.graph, RestoreGraph(checkpoint, scorer.task, scorer.device.ops.get()));
  ASSIGN_OR_RETURN(scorer.engine, CreateRankEngine(scorer.graph.get(), ranks));
  return scorer;
}

Result<int> EvaluateOnRanks(const EvaluateOptions& options, Communicator* ranks) {
  Result<Scorer> scorer = PrepareScorer(options, ranks);
  const Status ready = AgreeOnStatus(ranks, scorer.status(), "preparation");
  if (!ready.ok()) return EndJob(ranks, ready, Known::kOnAllRanks);
  EvaluationOptions evaluation;
  evaluation.split = options.split;
  evaluation.batch = options.batch;
  evaluation.progress = [](uint64_t) { return CheckInterrupt(); };
  const auto result =
      Evaluate(scorer->engine.get(), ranks, scorer->dataset, scorer->task, evaluation);
  if (!result.ok()) {
    const bool interrupted = result.status().code() == StatusCode::kCancelled;
    return EndJob(ranks, result.status(), interrupted ? Known::kOnAllRanks : Known::kHere);
  }
  if (ranks->rank() == 0) {
    const Scores scores = ComputeScores(result->matrix);
    options.json ? PrintJson(*result, scores, scorer->task)
                 : PrintText(*result, scores, scorer->task);
  }
  return EndJob(ranks, OkStatus(), Known::kOnAllRanks);
}

Result<int> RunEvaluate(const EvaluateOptions& options) {
  RETURN_IF_ERROR(InstallInterruptHandlers());
  ASSIGN_OR_RETURN(const std::unique_ptr<Communicator> ranks, CreateCommunicator({}));
  return EvaluateOnRanks(options, ranks.get());
}

}  // namespace

void AddEvaluateCommand(CommandLine* commands) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* app = commands->Add("evaluate", "Scores a checkpoint on a split of a data set.",
                                [options] { return RunEvaluate(*options); });
  app->add_option("DATASET", options->dataset, "Folder of packed shards")
      ->required()
      ->type_name("");
  app->add_option("--checkpoint", options->checkpoint, "Checkpoint file, such as run/best.ckpt")
      ->required()
      ->type_name("FILE");
  app->add_option("--split", options->split, "Split to evaluate on")
      ->capture_default_str()
      ->type_name("NAME");
  app->add_option("--batch", options->batch, "Records per batch")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536).description(""))
      ->type_name("N");
  app->add_option("--device", options->device, "auto, cpu or cuda")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}).description(""))
      ->type_name("NAME");
  app->add_option("--threads", options->threads, "Compute threads; 0: one per CPU")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024).description(""))
      ->type_name("N");
  app->add_flag("--json", options->json, "Results as one JSON object");
  app->add_flag("--quiet", options->quiet, "No notes on stderr");
}

}  // namespace shardmill
