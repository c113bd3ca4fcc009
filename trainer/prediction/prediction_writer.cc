#include "trainer/prediction/prediction_writer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "reader/base/file.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostPixels = int64_t{1} << 28;  // of a picture that tiles make

// The ignore value of the data set, or what is common: no class in any case.
uint16_t UncoveredValue(const DataTask& task) {
  if (task.ignore && *task.ignore <= 65535) return static_cast<uint16_t>(*task.ignore);
  return task.classes.size() <= 255 ? 255 : 65535;
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

// Pixels are those of the resized source.
struct PredictionWriter::Whole {
  Whole(std::string source_key, int64_t height, int64_t width, int64_t classes)
      : key(std::move(source_key)), canvas(height, width, classes), rgb(3 * height * width, 0) {}

  std::string key;
  LogitCanvas canvas;
  std::vector<uint8_t> rgb;
};

PredictionWriter::PredictionWriter(const PredictionOptions& options, const Scorer& scorer)
    : options_(options),
      class_names_(scorer.task.classes),
      colors_(ClassColors(scorer.dataset->schema().classes)),
      classes_(scorer.graph->classes()) {
  uncovered_.value = UncoveredValue(scorer.task);
  const bool wide = colors_.size() > 256 || (options.stitch && uncovered_.value > 255);
  form_ = wide ? ClassMapForm::kGray16 : ClassMapForm::kPalette;
}

PredictionWriter::~PredictionWriter() = default;

Result<std::unique_ptr<PredictionWriter>> PredictionWriter::Create(const PredictionOptions& options,
                                                                   const Scorer& scorer) {
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) {
    return IoError("cannot create the folder " + options.folder + ": " + error.message());
  }
  std::unique_ptr<PredictionWriter> writer(new PredictionWriter(options, scorer));
  if (scorer.task.kind == TaskKind::kClassification) {
    ASSIGN_OR_RETURN(AtomicFile table,
                     AtomicFile::Create(JoinPath(options.folder, kPredictionTable)));
    writer->table_.emplace(std::move(table));
    const std::string header = kPredictionTableHeader;
    RETURN_IF_ERROR(writer->table_->Append(header.data(), header.size()));
  }
  return writer;
}

Status PredictionWriter::Write(const std::string& name, const std::vector<uint16_t>& classes,
                               const std::vector<uint8_t>& rgb, int64_t height, int64_t width) {
  const std::optional<std::string> file = FileOfKey(options_.folder, name);
  if (!file) return DataLossError("the key '" + name + "' of a record cannot be a file name");
  std::error_code error;
  fs::create_directories(fs::path(*file).parent_path(), error);
  if (error) return IoError("cannot create the folder of " + *file + ": " + error.message());
  RETURN_IF_ERROR(WriteClassMap(*file + ".png", classes, height, width, colors_, form_));
  if (options_.overlays) {
    RETURN_IF_ERROR(WriteOverlay(*file + ".overlay.png", rgb, classes, height, width, colors_));
  }
  ++written_;
  return OkStatus();
}

Status PredictionWriter::Add(const proto::RecordMeta& meta, const ImageBatch& images, int64_t row,
                             const LogitCanvas& logits) {
  if (options_.stitch) return AddTile(meta, images, row, logits);
  return Write(meta.key(), logits.Classes(), ToRgb(images, row), logits.height(), logits.width());
}

Status PredictionWriter::AddTile(const proto::RecordMeta& meta, const ImageBatch& images,
                                 int64_t row, const LogitCanvas& logits) {
  const int64_t height = meta.resized_height() > 0 ? meta.resized_height() : meta.source_height();
  const int64_t width = meta.resized_width() > 0 ? meta.resized_width() : meta.source_width();
  if (height < 1 || width < 1 || height > kMostPixels / width ||
      meta.crop_height() != logits.height() || meta.crop_width() != logits.width() ||
      meta.has_augmentation()) {
    return InvalidArgumentError("record '" + meta.key() +
                                "' does not say where in its source it lies, or was changed: leave "
                                "out --stitch");
  }
  const std::string source = NameOfRecord(meta, /*stitch=*/true);
  if (whole_ && whole_->key != source) RETURN_IF_ERROR(FinishWhole());
  if (!whole_) whole_ = std::make_unique<Whole>(source, height, width, classes_);
  if (whole_->canvas.height() != height || whole_->canvas.width() != width) {
    return DataLossError("tiles of '" + source + "' disagree about its size");
  }
  whole_->canvas.Add(meta.crop_y(), meta.crop_x(), logits.height(), logits.width(),
                     logits.logits());
  const std::vector<uint8_t> rgb = ToRgb(images, row);
  for (int64_t p = 0; p < logits.height() * logits.width(); ++p) {
    const int64_t y = meta.crop_y() + p / logits.width(), x = meta.crop_x() + p % logits.width();
    if (y < 0 || x < 0 || y >= height || x >= width) continue;
    std::copy_n(rgb.begin() + 3 * p, 3, whole_->rgb.begin() + 3 * (y * width + x));
  }
  return OkStatus();
}

Status PredictionWriter::FinishWhole() {
  if (!whole_) return OkStatus();
  const std::unique_ptr<Whole> whole = std::move(whole_);
  whole->canvas.Average();
  const uint64_t uncovered = whole->canvas.UncoveredPixels();
  uncovered_.pixels += uncovered;
  uncovered_.pictures += uncovered > 0 ? 1 : 0;
  return Write(whole->key, whole->canvas.Classes(uncovered_.value), whole->rgb,
               whole->canvas.height(), whole->canvas.width());
}

Status PredictionWriter::AddClass(const proto::RecordMeta& meta, const float* logits) {
  const int64_t best = std::max_element(logits, logits + classes_) - logits;
  double sum = 0;
  for (int64_t k = 0; k < classes_; ++k) sum += std::exp(logits[k] - logits[best]);
  char probability[32];
  std::snprintf(probability, sizeof probability, "%.6f", 1 / sum);
  const std::string line = Quoted(meta.key()) + "," + std::to_string(best) + "," +
                           Quoted(class_names_[best]) + "," + probability + "\n";
  RETURN_IF_ERROR(table_->Append(line.data(), line.size()));
  ++written_;
  return OkStatus();
}

Status PredictionWriter::Close() {
  RETURN_IF_ERROR(FinishWhole());
  return table_ ? table_->Commit() : OkStatus();
}

}  // namespace shardmill
