#include "tools/pack/layouts/list_columns.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"

namespace shardmill {
namespace {

using Words = std::set<std::string_view>;

// What a column holds. The numbers of images count as their names where there is nothing better.
enum class Kind { kUnknown, kImage, kImageNumber, kLabel, kSplit };
// What a word says by itself, and beside others.
enum class Part { kUnknown, kImage, kLabel, kFile, kNumber, kDetail };

Part PartOfWord(std::string_view word) {
  static const Words kImages = {"image",      "img", "picture", "pic",  "photo",
                                "photograph", "rgb", "frame",   "input"};
  static const Words kLabels = {"label",  "lbl",         "mask",       "gt",           "truth",
                                "ground", "groundtruth", "annotation", "annot",        "anno",
                                "ann",    "seg",         "segm",       "segmentation", "semantic",
                                "target", "class",       "category"};
  static const Words kFiles = {"path", "file", "filename", "filepath", "url"};
  static const Words kNumbers = {"id", "name"};
  static const Words kDetails = {"map", "color", "colour", "index"};
  if (kImages.count(word) > 0) return Part::kImage;
  if (kLabels.count(word) > 0) return Part::kLabel;
  if (kFiles.count(word) > 0) return Part::kFile;
  if (kNumbers.count(word) > 0) return Part::kNumber;
  return kDetails.count(word) > 0 ? Part::kDetail : Part::kUnknown;
}

// Of a word in the singular or the plural, or written together with what it names: "maskpath".
Part PartOf(std::string_view word) {
  if (word == "categories") return Part::kLabel;
  for (std::string_view end : {"", "s", "es", "path", "paths", "file", "files", "name", "names",
                               "filename", "filenames", "filepath", "id", "ids"}) {
    if (word.size() <= end.size() || word.substr(word.size() - end.size()) != end) continue;
    const Part part = PartOfWord(word.substr(0, word.size() - end.size()));
    if (part != Part::kUnknown) return part;
  }
  return Part::kUnknown;
}

// The split that a yes in a column of this name means; empty: it is no such name.
std::string SplitOfFlag(std::string_view lower) {
  return lower.substr(0, 3) == "is_" ? UsualSplitName(std::string(lower.substr(3))) : "";
}

// Every word of the name must be known: "img_001" and "no_mask" are an image and a class.
Kind KindOf(std::string_view field) {
  static const Words kSplits = {"split", "subset", "set", "partition", "fold"};
  const std::string lower = LowerCase(field);
  if (kSplits.count(lower) > 0 || !SplitOfFlag(lower).empty()) return Kind::kSplit;
  if (HasImageExtension(lower)) return Kind::kUnknown;
  bool image = false, label = false, file = false, number = false;
  for (size_t begin = 0; begin <= lower.size();) {
    const size_t end = std::min(lower.find_first_of("_-. ", begin), lower.size());
    const std::string_view word = std::string_view(lower).substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    const Part part = PartOf(word);
    if (part == Part::kUnknown) return Kind::kUnknown;
    image |= part == Part::kImage;
    label |= part == Part::kLabel;
    file |= part == Part::kFile;
    number |= part == Part::kNumber;
  }
  if (label) return Kind::kLabel;
  const bool is_id = lower == "name" || lower == "names" ||
                     (lower.size() >= 2 && lower.substr(lower.size() - 2) == "id");
  if (is_id) return Kind::kImageNumber;
  return image || file ? Kind::kImage : number ? Kind::kImageNumber : Kind::kUnknown;
}

bool IsImage(Kind kind) { return kind == Kind::kImage || kind == Kind::kImageNumber; }

std::vector<size_t> ColumnsOf(const std::vector<std::string>& fields, Kind kind) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (KindOf(fields[i]) == kind) columns.push_back(i);
  }
  return columns;
}

}  // namespace

std::optional<ListHeader> ParseListHeader(const std::vector<std::string>& fields) {
  std::vector<size_t> images = ColumnsOf(fields, Kind::kImage);
  if (images.empty()) images = ColumnsOf(fields, Kind::kImageNumber);
  const std::vector<size_t> labels = ColumnsOf(fields, Kind::kLabel);
  const std::vector<size_t> splits = ColumnsOf(fields, Kind::kSplit);
  if (images.empty() || labels.empty()) return std::nullopt;
  ListHeader header;
  header.columns.image = images.front();
  header.columns.label = labels.front();
  if (!splits.empty()) {
    header.columns.split = splits.front();
    header.columns.split_of_yes = SplitOfFlag(LowerCase(fields[splits.front()]));
    const bool is_train = header.columns.split_of_yes == "train";
    if (!header.columns.split_of_yes.empty())
      header.columns.split_of_no = is_train ? "val" : "train";
  }
  const std::pair<const std::vector<size_t>&, const char*> kinds[] = {
      {images, "images"}, {labels, "labels"}, {splits, "splits"}};
  for (const auto& [columns, what] : kinds) {
    if (columns.size() < 2 || !header.problem.empty()) continue;
    header.problem = "columns " + std::to_string(columns[0] + 1) + " ('" + fields[columns[0]] +
                     "') and " + std::to_string(columns[1] + 1) + " ('" + fields[columns[1]] +
                     "') could both be the one of the " + what +
                     "; take one of them out or give it another name";
  }
  return header;
}

bool NamesImageColumn(std::string_view field) { return IsImage(KindOf(field)); }

ColumnOrder OrderOfColumns(std::string_view first, std::string_view second) {
  const Kind kinds[] = {KindOf(first), KindOf(second)};
  const bool images[] = {IsImage(kinds[0]), IsImage(kinds[1])};
  const bool labels[] = {kinds[0] == Kind::kLabel, kinds[1] == Kind::kLabel};
  if ((images[0] && images[1]) || (labels[0] && labels[1])) return ColumnOrder::kSameTwice;
  if (images[0] || labels[1]) return ColumnOrder::kImageFirst;
  return images[1] || labels[0] ? ColumnOrder::kLabelFirst : ColumnOrder::kUnknown;
}

}  // namespace shardmill
