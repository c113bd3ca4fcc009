#include "tests/bench/pack_stages.h"

#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/checksum.h"
#include "reader/base/file.h"
#include "reader/codec.h"
#include "tests/bench/decode_timing.h"
#include "tools/pack/decode/png_fast.h"
#include "tools/pack/decode/png_inflate.h"
#include "tools/pack/geometry.h"
#include "tools/pack/image_decode.h"
#include "tools/pack/label_decode.h"
#include "tools/pack/measure.h"
#include "tools/pack/sample_encoder.h"

namespace shardmill {
namespace {

constexpr int kRounds = 3;
constexpr uint64_t kMaxPixels = uint64_t{1} << 28;

template <typename Function>
double BestOf(const Function& function) {
  BestTime best;
  for (int i = 0; i < kRounds; ++i) best.Run(function);
  return best.Seconds();
}

class StageTimer {
 public:
  explicit StageTimer(const PackPlan& plan) : plan_(plan), labels_(MakeLabelDecoder(plan)) {}

  Status Time(const Sample& sample, const GeometryOptions& geometry);
  const StageTimes& times() const { return times_; }

 private:
  Result<std::string> Read(const SourceFile& file);
  Status TimePng(const std::string& file);
  Status TimeLabel(const std::string& file);
  Status TimeRecord(const SourceImage& image, const Placement& placement);

  const PackPlan& plan_;
  const LabelDecoder labels_;
  StageTimes times_;
  PngFastDecoder png_;
  PngInflater inflater_;
  ImageDecoder decoder_;
  FieldEncoder encoder_;
  std::vector<uint8_t> pixels_;
  SourceImage image_;
  ClassIdMap label_map_;
};

Result<std::string> StageTimer::Read(const SourceFile& file) {
  const std::string path = JoinPath(plan_.root, file.path);
  Result<std::string> content = ReadFile(path, file.bytes);
  if (content.ok()) times_.read += BestOf([&] { content = ReadFile(path, file.bytes); });
  return content;
}

Status StageTimer::TimePng(const std::string& file) {
  RETURN_IF_ERROR(png_.Open(file, PngFastDecoder::kMaxPixels));
  if (!png_.NotHandled().empty()) return InvalidArgumentError("it is " + png_.NotHandled());
  pixels_.resize(static_cast<size_t>(png_.layout().Bytes()));
  Status status = png_.ReadPixels(pixels_.data());
  const double all = BestOf([&] {
    status = png_.Open(file, PngFastDecoder::kMaxPixels);
    if (status.ok()) status = png_.ReadPixels(pixels_.data());
  });
  const PngChunks png = png_.png();
  const double inflate = BestOf([&] {
    (void)png_.Open(file, PngFastDecoder::kMaxPixels).ok();
    const uint64_t bytes = static_cast<uint64_t>(png.height) * (png.RowBytes() + 1);
    (void)inflater_.Inflate(png.image_data, bytes).ok();
  });
  times_.inflate += inflate;
  times_.unfilter += all - inflate;
  return status;
}

Status StageTimer::TimeLabel(const std::string& file) {
  UnknownValues unknown;
  RETURN_IF_ERROR(decoder_.Decode(file, kMaxPixels, &image_));
  RETURN_IF_ERROR(labels_.Decode(image_, &label_map_, &unknown).status());
  times_.label += BestOf([&] { (void)labels_.Decode(image_, &label_map_, &unknown).ok(); });
  return OkStatus();
}

Status StageTimer::TimeRecord(const SourceImage& image, const Placement& placement) {
  const RgbImage rgb = {image.size, image.samples.data(), 1};
  std::string window;
  times_.cut += BestOf([&] { window = CutWindow(rgb, placement); });
  ClassIdMap label;
  CutLabels(label_map_, placement, plan_.schema.ignore.value_or(0), &label);
  const RgbImage placed = {placement.window, reinterpret_cast<const uint8_t*>(window.data()), 1};
  const auto classes = static_cast<uint32_t>(plan_.schema.classes.size());
  times_.statistics += BestOf([&] {
    proto::Statistics statistics;
    MeasureImage(placed, placement.ShownRows(), &statistics);
    MeasureLabels(label, placement.ShownRows(), classes, &statistics);
  });
  const FieldSpec& spec = plan_.schema.fields[1];
  Result<EncodedField> field = encoder_.Encode(spec, label.bytes.data(), label.bytes.size());
  times_.zstd +=
      BestOf([&] { field = encoder_.Encode(spec, label.bytes.data(), label.bytes.size()); });
  uint64_t checksum = 0;
  times_.checksum += BestOf([&] { checksum += Checksum64(window.data(), window.size()); });
  return field.status();
}

Status StageTimer::Time(const Sample& sample, const GeometryOptions& geometry) {
  ASSIGN_OR_RETURN(const std::string image_file, Read(sample.image));
  ASSIGN_OR_RETURN(const std::string label_file, Read(sample.label));
  RETURN_IF_ERROR(TimePng(image_file));
  RETURN_IF_ERROR(TimePng(label_file));
  RETURN_IF_ERROR(TimeLabel(label_file));
  SourceImage image;
  RETURN_IF_ERROR(decoder_.Decode(image_file, kMaxPixels, &image));
  if (image.layout != PixelLayout::kRgb) return InvalidArgumentError("the image is not RGB");
  ASSIGN_OR_RETURN(const std::vector<Placement> placements,
                   PlaceRecords(geometry, image.size, sample.key));
  if (placements[0].IsPadded()) return InvalidArgumentError("the image is smaller than the crop");
  return TimeRecord(image, placements[0]);
}

}  // namespace

Result<StageTimes> TimeStages(const PackPlan& plan) {
  StageTimer timer(plan);
  for (const SplitPlan& split : plan.splits) {
    for (const Sample& sample : split.samples) {
      RETURN_IF_ERROR(timer.Time(sample, split.geometry).WithContext(sample.key));
    }
  }
  return timer.times();
}

}  // namespace shardmill
