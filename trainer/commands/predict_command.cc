#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "reader/base/folder_lock.h"
#include "reader/base/interrupt.h"
#include "reader/console/units.h"
#include "trainer/comm/run_job.h"
#include "trainer/commands/train_command.h"
#include "trainer/data/data_feed.h"
#include "trainer/evaluation/scorer.h"
#include "trainer/evaluation/scorer_flags.h"
#include "trainer/logs/console.h"
#include "trainer/prediction/prediction_files.h"
#include "trainer/prediction/prediction_writer.h"
#include "trainer/prediction/sliding_window.h"

namespace shardmill {
namespace {

struct PredictOptions {
  ScorerOptions scorer;
  ScorerFlags flags;
  PredictionOptions output;
  bool no_overlays = false;
  uint64_t limit = 0;  // 0: all records
};

class Prediction {
 public:
  Prediction(Scorer* scorer, const WindowOptions& windows, PredictionWriter* writer)
      : scorer_(*scorer), windows_(scorer->graph.get(), windows), writer_(*writer) {}

  Status Run(const std::string& split_name, uint64_t limit, bool quiet) {
    ASSIGN_OR_RETURN(const Dataset::Split* split, scorer_.dataset->split(split_name));
    ASSIGN_OR_RETURN(
        const std::unique_ptr<DataFeed> feed,
        DataFeed::OpenEvaluation(scorer_.dataset, scorer_.task, split_name, /*batch=*/1));
    RecordProgress progress("predicting", std::min(limit, split->records()), quiet);
    for (uint64_t done = 0; done < limit; ++done) {
      progress.Show(done);
      RETURN_IF_ERROR(CheckInterrupt());
      ASSIGN_OR_RETURN(const std::optional<FeedBatch> batch, feed->Next());
      if (!batch) break;
      const auto [shard, record] = split->Locate(batch->lease.records().front());
      ASSIGN_OR_RETURN(const proto::RecordMeta meta, shard->ReadMeta(record));
      const ImageBatch image = SelectRows(batch->rows(), 0, 1).images;
      RETURN_IF_ERROR(scorer_.task.kind == TaskKind::kSegmentation ? PredictMap(meta, image)
                                                                   : PredictClass(meta, image));
    }
    return writer_.Close();
  }

 private:
  Status PredictMap(const proto::RecordMeta& meta, const ImageBatch& image) {
    const Shape& shape = image.shape;
    if (!canvas_ || canvas_->height() != shape.h || canvas_->width() != shape.w) {
      canvas_.emplace(shape.h, shape.w, scorer_.graph->classes());
    }
    RETURN_IF_ERROR(windows_.Predict(image, 0, &*canvas_));
    return writer_.Add(meta, image, 0, *canvas_);
  }

  Status PredictClass(const proto::RecordMeta& meta, const ImageBatch& image) {
    RETURN_IF_ERROR(scorer_.graph->Forward(image, Phase::kEvaluation));
    std::vector<float> logits(scorer_.graph->classes());
    RETURN_IF_ERROR(scorer_.graph->ReadLogits(logits.data()));
    return writer_.AddClass(meta, logits.data());
  }

  Scorer& scorer_;
  SlidingWindow windows_;
  PredictionWriter& writer_;
  std::optional<LogitCanvas> canvas_;
};

Status CheckOptions(const PredictOptions& options, const DataTask& task) {
  if (task.kind == TaskKind::kSegmentation) return OkStatus();
  const char* const unused = options.output.stitch ? "--stitch"
                             : options.no_overlays ? "--no-overlays"
                                                   : nullptr;
  if (unused == nullptr) return OkStatus();
  return InvalidArgumentError(std::string(unused) +
                              " does not apply: the network makes one class "
                              "per record, which predictions.csv has, and no pictures");
}

// Makes the folder, for this process alone as long as the lock is held.
Result<FolderLock> TakeFolder(const std::string& folder, const Scorer& scorer) {
  std::error_code error;
  if (std::filesystem::equivalent(folder, scorer.dataset->folder(), error)) {
    return InvalidArgumentError("--output " + folder +
                                " is the folder of the data set: choose another one");
  }
  std::filesystem::create_directories(folder, error);
  if (error) return IoError("cannot create the folder " + folder + ": " + error.message());
  ASSIGN_OR_RETURN(std::optional<FolderLock> lock, FolderLock::TryAcquire(folder));
  if (lock) return std::move(*lock);
  return InvalidArgumentError("another program is writing to the folder " + folder +
                              ": wait for it or choose another --output");
}

// Whether the predictions may be written to the folder.
Status CheckFolder(const PredictOptions& options, const PredictionOptions& output, uint64_t limit,
                   const Scorer& scorer) {
  if (scorer.task.kind != TaskKind::kSegmentation) return CheckTable(output);
  ASSIGN_OR_RETURN(const Dataset::Split* split, scorer.dataset->split(options.scorer.split));
  ASSIGN_OR_RETURN(const uint64_t shortened, CheckPictures(output, *split, limit));
  if (shortened > 0 && !options.scorer.quiet) {
    std::fprintf(stderr,
                 "note: %s of the keys are too long for names of files: these end in a hash of the "
                 "key\n",
                 FormatCount(shortened).c_str());
  }
  return OkStatus();
}

void PrintResults(const PredictionWriter& writer, const std::string& folder) {
  std::printf("%s predictions in %s\n", FormatCount(writer.written()).c_str(), folder.c_str());
  const UncoveredParts& parts = writer.uncovered();
  if (parts.pixels == 0) return;
  std::printf("%s of them have %s pixels that no record covers: these have the value %d\n",
              FormatCount(parts.pictures).c_str(), FormatCount(parts.pixels).c_str(), parts.value);
}

Result<int> RunPredict(const PredictOptions& options, Communicator* self) {
  RETURN_IF_ERROR(InstallInterruptHandlers());
  ASSIGN_OR_RETURN(Scorer scorer, PrepareScorer(options.scorer, self));
  ASSIGN_OR_RETURN(const WindowOptions windows, options.flags.Windows(scorer.task));
  RETURN_IF_ERROR(CheckOptions(options, scorer.task));
  PredictionOptions output = options.output;
  output.overlays = !options.no_overlays;
  const uint64_t limit = options.limit > 0 ? options.limit : std::numeric_limits<uint64_t>::max();
  ASSIGN_OR_RETURN(const FolderLock lock, TakeFolder(output.folder, scorer));
  RETURN_IF_ERROR(CheckFolder(options, output, limit, scorer));
  ASSIGN_OR_RETURN(const std::unique_ptr<PredictionWriter> writer,
                   PredictionWriter::Create(output, scorer));
  Prediction prediction(&scorer, windows, writer.get());
  RETURN_IF_ERROR(prediction.Run(options.scorer.split, limit, options.scorer.quiet));
  PrintResults(*writer, output.folder);
  return 0;
}

}  // namespace

void AddPredictCommand(CommandLine* commands) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* app = commands->Add(
      "predict", "Writes what a checkpoint predicts as pictures, or as a table.", [options] {
        return RunAlone("predict",
                        [&options](Communicator* self) { return RunPredict(*options, self); });
      });
  app->footer(
      "Examples:\n"
      "  shardmill-train predict SHARDS --checkpoint run/best.ckpt --output pictures --limit 20\n"
      "  shardmill-train predict TILES --checkpoint run/best.ckpt --output pictures --stitch\n\n"
      "Each image is read as it is stored: pack images that the network has not seen with the "
      "crop\n"
      "or size it was trained on.");
  options->flags.AddTo(app, &options->scorer);
  app->add_option(
         "--output", options->output.folder,
         "Folder for KEY.png of each record, whose pixels are class ids in the colours of the "
         "classes (of more than 256 classes, 16-bit ids without colours), and KEY.overlay.png; of "
         "data with one class per image, for predictions.csv")
      ->required()
      ->type_name("DIR");
  app->add_flag("--overwrite", options->output.overwrite,
                "Replace earlier predictions; a file of another origin is never replaced");
  app->add_flag("--no-overlays", options->no_overlays, "Only the class maps");
  app->add_flag("--stitch", options->output.stitch,
                "Puts tiles of the same source together, averaged where they overlap; pixels that "
                "no tile covers get the ignore value");
  app->add_option("--limit", options->limit, "Only the first N records; 0: all")
      ->capture_default_str()
      ->type_name("N");
}

}  // namespace shardmill
