#include "tools/pack/report/samples.h"

#include <algorithm>
#include <cstdint>
#include <vector>

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

constexpr int kLongestSide = 300;
constexpr int kJpegQuality = 85;
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
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      small.ids.push_back(label.at(
          static_cast<int>((2 * int64_t{y} + 1) * label.height / (2 * int64_t{size.height})),
          static_cast<int>((2 * int64_t{x} + 1) * label.width / (2 * int64_t{size.width}))));
    }
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

Result<std::string> PngOf(const Picture& picture) {
  PngPicture png;
  png.height = picture.height;
  png.width = picture.width;
  png.pixels = reinterpret_cast<const uint8_t*>(picture.pixels.data());
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
    ASSIGN_OR_RETURN(const std::string png,
                     PngOf(ColorizeLabel(ShrinkLabel(*view.label, size), palette)));
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

}  // namespace

Result<std::string> DrawSamples(const ShardSet& set, const ClassPalette& palette, uint64_t count) {
  const Status shown = ChooseViewFields(set.schema(), "").status();
  if (!shown.ok()) return "<p class=\"note\">" + EscapeHtml(shown.message()) + "</p>\n";
  const auto& splits = set.splits();
  std::vector<uint64_t> taken(splits.size());
  uint64_t left = count;
  for (size_t i = splits.size(); i-- > 1;) {
    taken[i] = std::min({splits[i].records, kOfOtherSplits, left});
    left -= taken[i];
  }
  taken[0] = std::min(splits[0].records, left);
  std::string html;
  ReadScratch scratch;
  for (size_t i = 0; i < splits.size(); ++i) {
    for (uint64_t record : EvenlySpaced(splits[i].records, taken[i])) {
      Result<std::string> figure = DrawFigure(set, splits[i], record, palette, &scratch);
      html += figure.ok() ? *figure
                          : "<figure><figcaption>" + EscapeHtml(figure.status().message()) +
                                "</figcaption></figure>\n";
    }
  }
  return html;
}

}  // namespace shardmill
