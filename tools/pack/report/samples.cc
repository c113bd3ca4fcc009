#include "tools/pack/report/samples.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "reader/base/ordered_pipeline.h"
#include "reader/console/units.h"
#include "reader/jpeg_codec.h"
#include "reader/png_encode.h"
#include "tools/dump/describe.h"
#include "tools/dump/drawing.h"
#include "tools/dump/overlay.h"
#include "tools/dump/record_sheet.h"
#include "tools/dump/record_view.h"
#include "tools/pack/report/html_text.h"

namespace shardmill {
namespace {

constexpr int kLongestSide = 256;  // the columns of the page are about as wide
constexpr int kJpegQuality = 85;
// Leaves room in a PNG's palette for the two patterns of two colours.
constexpr int kMostPaletteClasses = 252;
// Of the splits behind the first one.
constexpr uint64_t kOfOtherSplits = 4;

struct Thumbnail {
  int height = 1, width = 1;
};

Thumbnail SizeOfThumbnail(int height, int width) {
  const int longest = std::max(height, width);
  if (longest <= kLongestSide) return {height, width};
  return {std::max(1, static_cast<int>(int64_t{height} * kLongestSide / longest)),
          std::max(1, static_cast<int>(int64_t{width} * kLongestSide / longest))};
}

// The pixels under the centres of the new ones.
LabelMap ShrinkLabel(const LabelMap& label, Thumbnail size) {
  LabelMap small = {size.height, size.width, {}};
  small.ids.reserve(static_cast<size_t>(size.height) * static_cast<size_t>(size.width));
  const auto under = [](int at, int from, int to) {
    return static_cast<int>((2 * int64_t{at} + 1) * from / (2 * int64_t{to}));
  };
  std::vector<int> columns;
  for (int x = 0; x < size.width; ++x) columns.push_back(under(x, label.width, size.width));
  for (int y = 0; y < size.height; ++y) {
    const int row = under(y, label.height, size.height);
    for (const int column : columns) small.ids.push_back(label.at(row, column));
  }
  return small;
}

// A photograph: a tenth of the time and size of a PNG.
Result<std::string> JpegOf(const Picture& picture) {
  const JpegShape shape = {static_cast<uint32_t>(picture.height),
                           static_cast<uint32_t>(picture.width), 3};
  std::string jpeg;
  RETURN_IF_ERROR(EncodeJpeg(reinterpret_cast<const uint8_t*>(picture.pixels.data()), shape,
                             kJpegQuality, &jpeg));
  return jpeg;
}

// The place in `colors` of what a pixel without a class shows; its color is added where it is new,
// behind those of the classes.
size_t PlaceOfPattern(const LabelMap& label, size_t pixel, const ClassPalette& palette,
                      std::vector<uint32_t>* colors) {
  const auto width = static_cast<size_t>(label.width);
  const uint32_t color = HexFromRgb(palette.ColorAt(
      label.ids[pixel], static_cast<int>(pixel / width), static_cast<int>(pixel % width)));
  const auto found = std::find(colors->begin() + palette.class_count(), colors->end(), color);
  const auto place = static_cast<size_t>(found - colors->begin());
  if (place == colors->size()) colors->push_back(color);
  return place;
}

// With a palette, which takes a third of the bytes and time, unless there are too many classes.
Result<std::string> PngOf(const LabelMap& label, const ClassPalette& palette) {
  PngPicture png;
  png.height = label.height;
  png.width = label.width;
  png.effort = PngEffort::kFast;
  if (palette.class_count() > kMostPaletteClasses) {
    const Picture picture = ColorizeLabel(label, palette);
    png.pixels = reinterpret_cast<const uint8_t*>(picture.pixels.data());
    return EncodePng(png);
  }
  for (int id = 0; id < palette.class_count(); ++id) {
    png.palette.push_back(HexFromRgb(palette.color(id)));
  }
  std::vector<uint8_t> pixels(label.ids.size());
  for (size_t i = 0; i < pixels.size(); ++i) {
    const int32_t id = label.ids[i];
    const bool has_class = id >= 0 && id < palette.class_count();
    pixels[i] = static_cast<uint8_t>(has_class ? static_cast<size_t>(id)
                                               : PlaceOfPattern(label, i, palette, &png.palette));
  }
  png.color = PngColor::kPalette;
  png.pixels = pixels.data();
  return EncodePng(png);
}

// The image, and the label in a second picture over it: the page mixes them.
Result<std::string> DrawPictures(const RecordView& view, const ClassPalette& palette) {
  std::string html;
  Thumbnail size;
  if (view.image.has_value()) {
    size = SizeOfThumbnail(view.image->height, view.image->width);
    ASSIGN_OR_RETURN(const std::string jpeg, JpegOf(Scale(*view.image, size.height, size.width)));
    html += InlinePicture({"jpeg", jpeg}, "image", view.key);
  }
  if (view.label.has_value() && view.label->height > 0 && view.label->width > 0) {
    if (!view.image.has_value()) size = SizeOfThumbnail(view.label->height, view.label->width);
    ASSIGN_OR_RETURN(const std::string png, PngOf(ShrinkLabel(*view.label, size), palette));
    html += InlinePicture({"png", png}, "label", "label");
  }
  return html;
}

Result<std::string> DrawFigure(const ShardSet& set, const ShardSet::Split& split, uint64_t record,
                               const ClassPalette& palette, ReadScratch* scratch) {
  const auto [shard, local] = split.Locate(record);
  ASSIGN_OR_RETURN(const ViewFields fields, ChooseViewFields(set.schema(), ""));
  ASSIGN_OR_RETURN(const RecordView view, ViewRecord(*shard, local, fields, scratch));
  ASSIGN_OR_RETURN(const std::string pictures, DrawPictures(view, palette));
  std::string caption = "<b>" + EscapeHtml(split.name) + " " + FormatCount(record) + "</b> ";
  if (view.class_id.has_value()) {
    caption += EscapeHtml(DescribeClass(set.schema().classes, *view.class_id)) + " · ";
  }
  return "<figure><div class=\"stack\">" + pictures + "</div><figcaption>" + caption +
         EscapeHtml(view.key) + "</figcaption></figure>\n";
}

// `count` records, evenly from the splits.
std::vector<std::pair<size_t, uint64_t>> ChooseRecords(const ShardSet& set, uint64_t count) {
  const auto& splits = set.splits();
  std::vector<uint64_t> taken(splits.size());
  uint64_t left = count;
  for (size_t i = splits.size(); i-- > 1;) {
    taken[i] = std::min({splits[i].records, kOfOtherSplits, left});
    left -= taken[i];
  }
  taken[0] = std::min(splits[0].records, left);
  std::vector<std::pair<size_t, uint64_t>> records;  // split and number
  for (size_t i = 0; i < splits.size(); ++i) {
    for (uint64_t record : EvenlySpaced(splits[i].records, taken[i])) {
      records.emplace_back(i, record);
    }
  }
  return records;
}

}  // namespace

Result<std::string> DrawSamples(const ShardSet& set, const ClassPalette& palette, uint64_t count,
                                int threads) {
  const Status shown = ChooseViewFields(set.schema(), "").status();
  if (!shown.ok()) return "<p class=\"note\">" + EscapeHtml(shown.message()) + "</p>\n";
  const std::vector<std::pair<size_t, uint64_t>> records = ChooseRecords(set, count);
  std::vector<ReadScratch> scratch(static_cast<size_t>(threads));
  PipelineOptions pipeline;
  pipeline.threads = threads;
  std::string html;
  RETURN_IF_ERROR(RunOrdered<std::string>(
      pipeline, records.size(),
      [&](uint64_t index, int worker) -> Result<std::string> {
        const auto [split, record] = records[index];
        Result<std::string> figure = DrawFigure(set, set.splits()[split], record, palette,
                                                &scratch[static_cast<size_t>(worker)]);
        if (figure.ok()) return figure;
        return "<figure><figcaption>" + EscapeHtml(figure.status().message()) +
               "</figcaption></figure>\n";
      },
      [&](uint64_t, const std::string& figure) {
        html += figure;
        return OkStatus();
      }));
  return html;
}

}  // namespace shardmill
