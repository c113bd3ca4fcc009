#include "trainer/prediction/prediction_writer.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "reader/base/file.h"
#include "trainer/logs/open_log.h"
#include "trainer/prediction/pictures.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostPixels = int64_t{1} << 28;  // of a picture that tiles make

// The key without the number of a variant.
std::string SourceOf(const std::string& key) { return key.substr(0, key.find("#v")); }

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

std::optional<std::string> FileOfKey(const std::string& folder, const std::string& key) {
  if (key.empty() || key.front() == '/' || key.back() == '/') return std::nullopt;
  std::istringstream parts(key);
  std::string part;
  while (std::getline(parts, part, '/')) {
    if (part.empty() || part == "." || part == "..") return std::nullopt;
  }
  const bool is_png = key.size() > 4 && key.compare(key.size() - 4, 4, ".png") == 0;
  return JoinPath(folder, is_png ? key.substr(0, key.size() - 4) : key);
}

PredictionWriter::PredictionWriter(const PredictionOptions& options, const Scorer& scorer)
    : options_(options),
      class_names_(scorer.task.classes),
      colors_(ClassColors(scorer.dataset->schema().classes)),
      classes_(scorer.graph->classes()) {}

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
    const std::string path = JoinPath(options.folder, "predictions.csv");
    ASSIGN_OR_RETURN(const int file, OpenLog(path, LogStart::kEmpty));
    writer->table_.reset(fdopen(file, "w"));
    if (!writer->table_) return ErrnoError(path + ": cannot open for writing", errno);
    std::fprintf(writer->table_.get(), "key,class,name,probability\n");
  }
  return writer;
}

Status PredictionWriter::Write(const std::string& key, const std::vector<uint16_t>& classes,
                               const std::vector<uint8_t>& rgb, int64_t height, int64_t width) {
  const std::optional<std::string> file = FileOfKey(options_.folder, key);
  if (!file) return DataLossError("the key '" + key + "' of a record cannot be a file name");
  std::error_code error;
  fs::create_directories(fs::path(*file).parent_path(), error);
  if (error) return IoError("cannot create the folder of " + *file + ": " + error.message());
  RETURN_IF_ERROR(WriteClassMap(*file + ".png", classes, height, width, colors_));
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
  const std::string source = SourceOf(meta.key());
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
  return Write(whole->key, whole->canvas.Classes(), whole->rgb, whole->canvas.height(),
               whole->canvas.width());
}

Status PredictionWriter::AddClass(const proto::RecordMeta& meta, const float* logits) {
  const int64_t best = std::max_element(logits, logits + classes_) - logits;
  double sum = 0;
  for (int64_t k = 0; k < classes_; ++k) sum += std::exp(logits[k] - logits[best]);
  const int printed =
      std::fprintf(table_.get(), "%s,%d,%s,%.6f\n", Quoted(meta.key()).c_str(),
                   static_cast<int>(best), Quoted(class_names_[best]).c_str(), 1 / sum);
  if (printed < 0) return ErrnoError("cannot write predictions.csv", errno);
  ++written_;
  return OkStatus();
}

Status PredictionWriter::Close() {
  RETURN_IF_ERROR(FinishWhole());
  if (table_ && std::fclose(table_.release()) != 0) {
    return ErrnoError("cannot write predictions.csv", errno);
  }
  return OkStatus();
}

}  // namespace shardmill
