#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "reader/base/interrupt.h"
#include "reader/console/units.h"
#include "trainer/comm/run_job.h"
#include "trainer/commands/train_command.h"
#include "trainer/data/data_feed.h"
#include "trainer/evaluation/scorer.h"
#include "trainer/evaluation/scorer_flags.h"
#include "trainer/logs/console.h"
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
    if (limit == 0) limit = std::numeric_limits<uint64_t>::max();
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

Result<uint64_t> Predict(const PredictOptions& options, Communicator* self) {
  ASSIGN_OR_RETURN(const WindowOptions windows, options.flags.Windows());
  ASSIGN_OR_RETURN(Scorer scorer, PrepareScorer(options.scorer, self));
  PredictionOptions output = options.output;
  output.overlays = !options.no_overlays;
  ASSIGN_OR_RETURN(const std::unique_ptr<PredictionWriter> writer,
                   PredictionWriter::Create(output, scorer));
  Prediction prediction(&scorer, windows, writer.get());
  RETURN_IF_ERROR(prediction.Run(options.scorer.split, options.limit, options.scorer.quiet));
  return writer->written();
}

Result<int> RunPredict(const PredictOptions& options, Communicator* self) {
  RETURN_IF_ERROR(InstallInterruptHandlers());
  ASSIGN_OR_RETURN(const uint64_t written, Predict(options, self));
  std::printf("%s predictions in %s\n", FormatCount(written).c_str(),
              options.output.folder.c_str());
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
         "classes, and KEY.overlay.png; of data with one class per image, for predictions.csv")
      ->required()
      ->type_name("DIR");
  app->add_flag("--no-overlays", options->no_overlays, "Only the class maps");
  app->add_flag("--stitch", options->output.stitch,
                "Puts tiles of the same source together, averaged where they overlap");
  app->add_option("--limit", options->limit, "Only the first N records; 0: all")
      ->capture_default_str()
      ->type_name("N");
}

}  // namespace shardmill
