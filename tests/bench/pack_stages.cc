#include "tests/bench/pack_stages.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/checksum.h"
#include "reader/codec.h"
#include "tests/bench/decode_timing.h"
#include "tools/pack/decode/image_decode.h"
#include "tools/pack/decode/png_fast.h"
#include "tools/pack/decode/png_inflate.h"
#include "tools/pack/geometry/geometry.h"
#include "tools/pack/inputs/source_file.h"
#include "tools/pack/labels/label_decode.h"
#include "tools/pack/records/measure.h"
#include "tools/pack/records/sample_encoder.h"

namespace shardmill {
namespace {

constexpr int kRounds = 3;
constexpr uint64_t kMaxPixels = uint64_t{1} << 28;

// One pair with what each stage starts from.
struct Pair {
  const Sample* sample = nullptr;
  const GeometryOptions* geometry = nullptr;
  std::string image_file, label_file;
  SourceImage image, label;
  Placement placement;
  ClassIdMap label_map, placed_labels;
  std::string window;
};

class StageTimer {
 public:
  explicit StageTimer(const PackPlan& plan) : plan_(plan), labels_(MakeLabelDecoder(plan)) {}

  // Takes the pairs through all stages once, then times each stage over all of them.
  Status Time(std::vector<Pair>* pairs);
  const StageTimes& times() const { return times_; }

 private:
  Result<std::string> Read(const SourceFile& file);
  Status Prepare(Pair* pair);
  Status CheckPng(const std::string& file);
  void ReadPixels(const std::string& file);
  void Inflate(const std::string& file);
  void Measure(const Pair& pair) const;
  Result<EncodedField> EncodeLabel(const Pair& pair);

  const PackPlan& plan_;
  const LabelDecoder labels_;
  StageTimes times_;
  SourceFileReader files_;
  PngFastDecoder png_;
  PngInflater inflater_;
  ImageDecoder decoder_;
  FieldEncoder encoder_;
  std::vector<uint8_t> pixels_;
};

Result<std::string> StageTimer::Read(const SourceFile& file) {
  ASSIGN_OR_RETURN(const std::string_view content, files_.Read(plan_.root, file));
  return std::string(content);
}

Status StageTimer::CheckPng(const std::string& file) {
  RETURN_IF_ERROR(png_.Open(file, PngFastDecoder::kMaxPixels));
  if (!png_.NotHandled().empty()) return InvalidArgumentError("it is " + png_.NotHandled());
  pixels_.resize(std::max(pixels_.size(), static_cast<size_t>(png_.layout().Bytes())));
  return png_.ReadPixels(pixels_.data());
}

void StageTimer::ReadPixels(const std::string& file) {
  (void)png_.Open(file, PngFastDecoder::kMaxPixels).ok();
  (void)png_.ReadPixels(pixels_.data()).ok();
}

void StageTimer::Inflate(const std::string& file) {
  (void)png_.Open(file, PngFastDecoder::kMaxPixels).ok();
  const PngChunks& png = png_.png();
  const uint64_t bytes = static_cast<uint64_t>(png.height) * (png.RowBytes() + 1);
  (void)inflater_.Inflate(png.image_data, bytes).ok();
}

void StageTimer::Measure(const Pair& pair) const {
  const RgbImage placed = {pair.placement.window,
                           reinterpret_cast<const uint8_t*>(pair.window.data()), 1};
  proto::Statistics statistics;
  MeasureImage(placed, pair.placement.ShownRows(), &statistics);
  MeasureLabels(pair.placed_labels, pair.placement.ShownRows(),
                static_cast<uint32_t>(plan_.schema.classes.size()), &statistics);
}

Result<EncodedField> StageTimer::EncodeLabel(const Pair& pair) {
  const std::vector<uint8_t>& ids = pair.placed_labels.bytes;
  return encoder_.Encode(plan_.schema.fields[1], ids.data(), ids.size());
}

Status StageTimer::Prepare(Pair* pair) {
  ASSIGN_OR_RETURN(pair->image_file, Read(pair->sample->image));
  ASSIGN_OR_RETURN(pair->label_file, Read(pair->sample->label));
  RETURN_IF_ERROR(CheckPng(pair->image_file));
  RETURN_IF_ERROR(CheckPng(pair->label_file));
  UnknownValues unknown;
  RETURN_IF_ERROR(decoder_.Decode(pair->label_file, kMaxPixels, &pair->label));
  RETURN_IF_ERROR(labels_.Decode(pair->label, &pair->label_map, &unknown).status());
  RETURN_IF_ERROR(decoder_.Decode(pair->image_file, kMaxPixels, &pair->image));
  if (pair->image.layout != PixelLayout::kRgb) return InvalidArgumentError("the image is not RGB");
  ASSIGN_OR_RETURN(const std::vector<Placement> placements,
                   PlaceRecords(*pair->geometry, pair->image.size, pair->sample->key));
  pair->placement = placements[0];
  if (pair->placement.IsPadded()) {
    return InvalidArgumentError("the image is smaller than the crop");
  }
  const RgbImage rgb = {pair->image.size, pair->image.samples.data(), 1};
  pair->window = CutWindow(rgb, pair->placement);
  CutLabels(pair->label_map, pair->placement, plan_.schema.ignore.value_or(0),
            &pair->placed_labels);
  return EncodeLabel(*pair).status();
}

Status StageTimer::Time(std::vector<Pair>* pairs) {
  for (Pair& pair : *pairs) RETURN_IF_ERROR(Prepare(&pair).WithContext(pair.sample->key));
  const auto best_of = [&](const auto& stage) {
    BestTime best;
    for (int i = 0; i < kRounds; ++i) {
      best.Run([&] {
        for (Pair& pair : *pairs) stage(pair);
      });
    }
    return best.Seconds();
  };
  times_.read += best_of([&](const Pair& pair) {
    (void)files_.Read(plan_.root, pair.sample->image).ok();
    (void)files_.Read(plan_.root, pair.sample->label).ok();
  });
  const double inflate = best_of([&](const Pair& pair) {
    Inflate(pair.image_file);
    Inflate(pair.label_file);
  });
  times_.inflate += inflate;
  times_.unfilter += best_of([&](const Pair& pair) {
                       ReadPixels(pair.image_file);
                       ReadPixels(pair.label_file);
                     }) -
                     inflate;
  UnknownValues unknown;
  times_.label += best_of(
      [&](Pair& pair) { (void)labels_.Decode(pair.label, &pair.label_map, &unknown).ok(); });
  times_.cut += best_of([&](Pair& pair) {
    pair.window = CutWindow({pair.image.size, pair.image.samples.data(), 1}, pair.placement);
  });
  times_.statistics += best_of([&](const Pair& pair) { Measure(pair); });
  times_.zstd += best_of([&](const Pair& pair) { (void)EncodeLabel(pair).ok(); });
  uint64_t checksum = 0;
  times_.checksum += best_of(
      [&](const Pair& pair) { checksum += Checksum64(pair.window.data(), pair.window.size()); });
  return checksum == 0 ? InternalError("all windows have the checksum 0") : OkStatus();
}

}  // namespace

Result<StageTimes> TimeStages(const PackPlan& plan, size_t pairs_at_once) {
  StageTimer timer(plan);
  for (const SplitPlan& split : plan.splits) {
    for (size_t begin = 0; begin < split.samples.size(); begin += pairs_at_once) {
      std::vector<Pair> pairs(std::min(pairs_at_once, split.samples.size() - begin));
      for (size_t i = 0; i < pairs.size(); ++i) {
        pairs[i].sample = &split.samples[begin + i];
        pairs[i].geometry = &split.geometry;
      }
      RETURN_IF_ERROR(timer.Time(&pairs));
    }
  }
  return timer.times();
}

}  // namespace shardmill
