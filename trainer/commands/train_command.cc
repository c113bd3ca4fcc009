#include "trainer/commands/train_command.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "reader/base/interrupt.h"
#include "reader/base/launch.h"
#include "reader/console/json_writer.h"
#include "reader/console/terminal.h"
#include "reader/console/text_table.h"
#include "reader/console/units.h"
#include "trainer/comm/job_end.h"
#include "trainer/comm/run_job.h"
#include "trainer/commands/local_ranks.h"
#include "trainer/config/config.h"
#include "trainer/cuda/driver.h"
#include "trainer/logs/console.h"
#include "trainer/training/auto_batch.h"
#include "trainer/training/rank_facts.h"
#include "trainer/training/train_loop.h"
#include "trainer/training/train_setup.h"

namespace shardmill {
namespace {

// The data set says what there is to learn; everything else has a default.
constexpr char kDescription[] =
    "Trains a network on a packed data set, as 'shardmill pack' makes it.\n\n"
    "  shardmill-train SHARDS                    a first run: U-Net, 30 epochs; results in run/\n"
    "  shardmill-train SHARDS --epochs 100 --batch 16 --flip 0.5 --output run2\n"
    "  shardmill-train SHARDS --resume           goes on where the run in run/ was stopped\n"
    "  mpirun -np 4 shardmill-train SHARDS       four processes share every batch\n"
    "  shardmill-train predict SHARDS --checkpoint run/best.ckpt --output pictures\n\n"
    "Ctrl-C stops behind the step that is running, with a checkpoint. The defaults suit small "
    "class\n"
    "maps; --batch, --lr and --epochs are what to change first. run/log.jsonl has a line per step\n"
    "with its loss and where its time went; run/best.ckpt is what to evaluate or predict with.\n";

struct TrainOptions {
  ConfigFlags flags;
  CLI::Option* resume = nullptr;
  std::string checkpoint;
  bool overwrite = false;
  std::string trace;
  std::string plan_cache;
  bool json = false;
  bool quiet = false;
  int gpus = 0;  // 0: not given
};

ConsoleOptions ConsoleFor(const TrainOptions& options, const TrainSetup& setup) {
  ConsoleOptions console;
  console.quiet = options.quiet || setup.communicator->rank() > 0;
  console.terminal = IsTerminal(stderr);
  console.colored = WantsColor(stderr);
  console.epochs = setup.config.epochs();
  console.total_steps = setup.total_steps();
  console.evaluates = setup.val_records > 0;
  console.score_name = ScoreName(setup.task.kind);
  return console;
}

std::string DataLine(const TrainSetup& setup) {
  const DataTask& task = setup.task;
  std::string line = FormatCount(setup.train_records) + " records to train on";
  if (setup.val_records > 0) line += ", " + FormatCount(setup.val_records) + " to evaluate on";
  if (task.sequences) {
    line += "; sequences of " + (task.image.w == 0 ? "" : std::to_string(task.image.w) + " × ") +
            std::to_string(task.image.c) + " features, " + std::to_string(task.classes.size()) +
            " classes";
    return line;
  }
  line += "; " +
          (task.SizesVary() ? "of several sizes"
                            : std::to_string(task.image.h) + " high × " +
                                  std::to_string(task.image.w) + " wide") +
          " × " + std::to_string(task.image.c) + " channels, " +
          std::to_string(task.classes.size()) + " classes";
  if (task.ignore) line += ", " + std::to_string(*task.ignore) + " is ignored";
  return line;
}

std::string StepsLine(const TrainSetup& setup) {
  const uint64_t left = setup.train_records % setup.config.batch();
  std::string line = FormatCount(setup.graph->parameters().trained_elements()) + " parameters, " +
                     FormatCount(setup.steps_per_epoch) + " steps per epoch, " +
                     FormatCount(setup.total_steps()) + " in all";
  if (left > 0) {
    line += "; each epoch leaves out the " + std::to_string(left) +
            (left == 1 ? " record that does" : " records that do") + " not fill a batch";
  }
  return line;
}

std::string PartsText(const proto::Environment& environment, int ranks, int loader_threads) {
  if (environment.micro_shards() > 0) {
    return std::to_string(environment.micro_shards()) + " micro-shards" +
           (ranks == 1 ? "" : " on " + std::to_string(ranks) + " ranks");
  }
  return (ranks == 1 ? "" : std::to_string(ranks) + " ranks of ") +
         std::to_string(environment.threads()) + " compute and " + std::to_string(loader_threads) +
         " loader thread" + (loader_threads == 1 ? "" : "s");
}

// The whole configuration and what it became, before the first step.
void PrintStart(const TrainSetup& setup, Console* console) {
  const proto::Environment& environment = setup.description.environment();
  console->Message(
      "shardmill-train " + environment.program_version() + ", " + environment.backend() + ", " +
      environment.isa() + ", " +
      PartsText(environment, setup.communicator->size(), setup.config.loader_threads()));
  for (const std::string& line : ConfigLines(setup.config)) console->Message("  " + line);
  console->Message(DataLine(setup));
  console->Message(StepsLine(setup));
}

void PrintNotices(const TrainSetup& setup, Console* console) {
  for (const std::string& notice : setup.notices) console->Message("note: " + notice);
  if (setup.resumed_from.empty()) return;
  const proto::Progress& progress = setup.description.progress();
  console->Message("resumed from " + setup.resumed_from + " after step " +
                   FormatCount(progress.steps()) + ", in epoch " +
                   std::to_string(progress.epoch() + 1));
}

void PrintJson(const TrainSetup& setup, const TrainSummary& summary) {
  JsonWriter json;
  json.BeginObject();
  json.Key("complete").Bool(summary.complete);
  json.Key("steps").Number(summary.steps);
  json.Key("epochs").Number(summary.epochs);
  json.Key("score").String(ScoreName(setup.task.kind));
  json.Key("best_score");
  if (summary.best_score) {
    json.Number(*summary.best_score);
  } else {
    json.Null();
  }
  json.Key("best_epoch").Number(summary.best_epoch);
  json.Key("class_iou").BeginArray();
  const auto& ious = setup.description.progress().best_class_iou();
  for (int k = 0; k < ious.size(); ++k) {
    json.BeginObject();
    json.Key("class").String(setup.task.classes[k]);
    json.Key("iou").Number(ious[k]);  // null where the class did not occur
    json.EndObject();
  }
  json.EndArray();
  json.Key("weights_hash").String(summary.weights_hash);
  json.Key("images_per_s").Number(summary.ImagesPerSecond(summary.images));
  json.Key("waiting_share").Number(summary.Share(summary.wait_ms));
  json.Key("copy_share").Number(summary.Share(summary.copy_ms));
  json.Key("ranks").Number(setup.communicator->size());
  json.Key("communication_share").Number(summary.Share(summary.communication_ms));
  json.Key("seconds").Number(summary.seconds);
  json.Key("output").String(setup.config.output());
  json.EndObject();
  std::printf("%s", json.Take().c_str());
}

void PrintClassIous(const TrainSetup& setup) {
  using Align = TextTable::Align;
  TextTable table({{"class", Align::kLeft}, {"IoU", Align::kRight}});
  const auto& ious = setup.description.progress().best_class_iou();
  for (int k = 0; k < ious.size(); ++k) {
    const std::optional<double> iou = std::isnan(ious[k]) ? std::nullopt : std::optional(ious[k]);
    table.AddRow({EscapeControl(setup.task.classes[k]), ScoreText(iou)});
  }
  std::printf("%s", table.ToString(2, WantsColor(stdout)).c_str());
}

void PrintBest(const TrainSetup& setup, const TrainSummary& summary) {
  if (setup.task.kind == TaskKind::kSegmentation) PrintClassIous(setup);
  std::printf("best %s %.4f in epoch %s, kept in %s\n", ScoreName(setup.task.kind).c_str(),
              *summary.best_score, FormatCount(summary.best_epoch).c_str(),
              EscapeControl(setup.OutputPath(kBestCheckpoint)).c_str());
}

void PrintResults(const TrainSetup& setup, const TrainSummary& summary) {
  const uint64_t steps = summary.steps - summary.first_steps;
  std::printf("%s %s step%s in %s, %.1f images/s, %.1f %% of the step time waiting for data\n",
              summary.complete ? "done:" : "stopped by --limit-steps:", FormatCount(steps).c_str(),
              steps == 1 ? "" : "s", FormatSeconds(summary.seconds).c_str(),
              summary.ImagesPerSecond(summary.images), 100 * summary.Share(summary.wait_ms));
  if (setup.communicator->size() > 1) {
    std::printf("%d ranks, %.1f %% of the step time waiting for each other\n",
                setup.communicator->size(), 100 * summary.Share(summary.communication_ms));
  }
  if (summary.best_score) PrintBest(setup, summary);
  std::printf("weights hash %s\n", summary.weights_hash.c_str());
}

// Every rank is told of an interruption; other errors are known to one rank at first.
Known WhoKnows(const Status& status) {
  return status.code() == StatusCode::kCancelled ? Known::kOnAllRanks : Known::kHere;
}

// What is left of a run whose disk failed it, and how it goes on.
Status WithRemedy(const Status& status, const TrainSetup& setup) {
  std::error_code error;
  const std::string last = setup.OutputPath(kLastCheckpoint);
  if (status.code() != StatusCode::kIo || !std::filesystem::exists(last, error)) return status;
  return IoError(status.message() + "; " + last +
                 " of before is whole: once there is room, go on from it with --resume");
}

// The run is done; only the picture of its time is missing.
Status TraceError(const Status& status) {
  return Status(status.code(),
                "the training is done, and its results and checkpoints are whole; "
                "only the trace could not be written: " +
                    status.message());
}

// What decides which calls a rank makes, before the first one that depends on it.
Status CompareCalls(const TrainOptions& options, const TrainRequest& request) {
  const auto text = [](bool is_given) { return is_given ? "given" : "not given"; };
  return CompareFacts(request.communicator, {{"--resume", text(request.resume)},
                                             {"--batch auto", text(options.flags.BatchIsAuto())},
                                             {"--trace", text(!request.trace.empty())}});
}

Result<int> TrainOnRanks(const TrainOptions& options, const TrainRequest& request) {
  Communicator* const ranks = request.communicator;
  if (const Status alike = CompareCalls(options, request); !alike.ok()) {
    return EndJob(ranks, alike, Known::kOnAllRanks);
  }
  TrainRequest complete = request;
  std::string choice_text;
  if (options.flags.BatchIsAuto()) {
    const auto choice = ChooseBatch(request);
    if (!choice.ok()) return EndJob(ranks, choice.status(), Known::kOnAllRanks);
    complete.given.set_batch(static_cast<int32_t>(choice->batch));
    choice_text = choice->text;
  }
  auto setup = PrepareTraining(complete);
  if (!setup.ok()) return EndJob(ranks, setup.status(), Known::kOnAllRanks);
  if (!choice_text.empty()) setup->notices.push_back(choice_text);
  Console console(ConsoleFor(options, *setup));
  if (ranks->rank() == 0) {
    if (!options.quiet) PrintStart(*setup, &console);
    PrintNotices(*setup, &console);
  }
  // The setup owns the buffers of calls that may be under way when a step fails.
  const auto summary = Train(&*setup, &console);
  if (!summary.ok()) {
    return EndJob(ranks, WithRemedy(summary.status(), *setup), WhoKnows(summary.status()));
  }
  if (ranks->rank() == 0) {
    options.json ? PrintJson(*setup, *summary) : PrintResults(*setup, *summary);
  }
  if (!summary->trace.ok()) return EndJob(ranks, TraceError(summary->trace), Known::kOnAllRanks);
  return EndJob(ranks, OkStatus(), Known::kOnAllRanks);
}

// Each rank would say the same, and the starter of the ranks more.
Status CheckGpus(int gpus) {
  const std::string option = "--gpus " + std::to_string(gpus);
  const auto driver = FindCudaDriver();
  if (!driver.ok()) return driver.status().WithContext(option);
  if (driver->devices >= gpus) return OkStatus();
  return UnavailableError(option + ": this host has " + std::to_string(driver->devices) +
                          (driver->devices == 1 ? " GPU" : " GPUs"));
}

// Returns where there is nothing to start.
Status StartLocalRanks(const TrainOptions& options, proto::TrainConfig* given) {
  if (options.gpus == 0) return OkStatus();
  ASSIGN_OR_RETURN(const Launch launch, DetectLaunch());
  if (launch.size > 1) {
    return InvalidArgumentError(
        "--gpus starts the ranks itself; leave it out where mpirun or srun "
        "does");
  }
  if (given->has_device() && given->device() != "cuda") {
    return InvalidArgumentError("--gpus needs --device cuda, not " + given->device());
  }
  given->set_device("cuda");
  if (options.gpus == 1) return OkStatus();
  RETURN_IF_ERROR(CheckGpus(options.gpus));
  ASSIGN_OR_RETURN(const std::vector<std::string> words, OwnWords());
  return BecomeRanks(options.gpus, WordsOfRanks(words));
}

Result<TrainRequest> RequestOf(TrainOptions* own_options) {
  TrainRequest request;
  ASSIGN_OR_RETURN(request.given, own_options->flags.Given());
  const TrainOptions& options = *own_options;
  RETURN_IF_ERROR(StartLocalRanks(options, &request.given));
  RETURN_IF_ERROR(InstallInterruptHandlers());
  request.resume = options.resume->count() > 0;
  request.checkpoint = options.checkpoint;
  request.overwrite = options.overwrite;
  request.trace = options.trace;
  request.config_file = options.flags.config_file();
  request.plan_cache = options.plan_cache;
  return request;
}

Result<int> RunTrain(TrainOptions* options) {
  Result<TrainRequest> request = RequestOf(options);
  CommunicatorOptions ranks;
  if (request.ok()) ranks.timeout_seconds = request->given.rank_timeout();
  return RunJob(ranks, request.status(), [&](Communicator* communicator) {
    request->communicator = communicator;
    return TrainOnRanks(*options, *request);
  });
}

}  // namespace

void AddTrainCommand(CommandLine* commands) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* app =
      commands->Add("train", kDescription, [options] { return RunTrain(options.get()); });
  options->flags.AddTo(app);
  options->resume =
      app->add_option(
             "--resume", options->checkpoint,
             "Go on from a checkpoint (default: OUTPUT/last.ckpt), with the options of its run but "
             "for those that are given")
          ->expected(0, 1)
          ->type_name("[CHECKPOINT]")
          ->group("Run");
  app->add_option("--gpus", options->gpus, "Starts a rank on each of N GPUs of this host")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N")
      ->group("Run");
  app->add_option("--plan-cache", options->plan_cache,
                  "On a GPU: file that keeps the plans of convolutions for the next start")
      ->type_name("FILE")
      ->group("Run");
  app->add_flag("--overwrite", options->overwrite, "Replace the run that OUTPUT holds")
      ->group("Run");
  app->add_option("--trace", options->trace,
                  "Chrome trace of this process and its ranks: opens in Perfetto, shows where the "
                  "time of each step goes")
      ->type_name("FILE.json")
      ->group("Logs");
  app->add_flag("--json", options->json, "Results on stdout as one JSON object")->group("Run");
  app->add_flag("--quiet", options->quiet, "No table and no configuration on stderr")->group("Run");
}

}  // namespace shardmill
