#include "tools/pack/layouts/list_pairs.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/record_key.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/layouts/folder_names.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/list_columns.h"
#include "tools/pack/layouts/list_rows.h"
#include "tools/pack/layouts/listed_files.h"

namespace shardmill {
namespace {

struct FoundPair {
  const ListedFile* image = nullptr;
  const ListedFile* label = nullptr;
  ListedPair names;
};

bool IsNamedAsJpeg(const std::string& path) {
  const std::string lower = LowerCase(path);
  return EndsWith(lower, ".jpg") || EndsWith(lower, ".jpeg");
}

// By a folder, as in "masks/1.png", or by a word of the name, as in "1_mask.png".
bool IsNamedAsLabel(std::string_view path) {
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    if (NamesLabels(path.substr(0, slash))) return true;
    path.remove_prefix(slash + 1);
  }
  return !WithoutLabelWord(WithoutImageExtension(path)).empty();
}

class PairListReader {
 public:
  PairListReader(const FolderListing& listing, std::string list_file,
                 std::vector<std::string>* notes)
      : listing_(listing), finder_(listing), list_file_(std::move(list_file)), notes_(notes) {}

  Result<std::map<std::string, InputSplit>> Read();

 private:
  void OrderByHeader(std::vector<ListRow>* rows) const;
  Status ReadRow(const ListRow& row);
  // Of the first line, once the others are read: words of no file before pairs that are there.
  bool NamesColumns(const ListRow& row) const;
  Status CheckHeader(const ListedPair& words) const;
  Status CheckOrder() const;
  Status AddProblem(const ListRow& row);
  std::string RawLabel(const std::string& label) const;
  Status AddSample(const ListRow& row, const FoundPair& found);
  std::string Where(uint64_t line) const { return list_file_ + " line " + std::to_string(line); }

  const FolderListing& listing_;
  const ListedFileFinder finder_;
  const std::string list_file_;
  std::vector<std::string>* const notes_;
  std::optional<ListRow> first_line_;  // when it names nothing that is there
  std::map<std::string, InputSplit> splits_;
  std::map<std::string, uint64_t> line_of_image_;
  ListedRoots image_roots_, label_roots_;  // labels may lie elsewhere
};

Result<std::map<std::string, InputSplit>> PairListReader::Read() {
  ListLines lines = ReadListLines(JoinPath(listing_.root, list_file_));
  RETURN_IF_ERROR(lines.problem);
  std::vector<ListRow>& rows = lines.rows;
  OrderByHeader(&rows);
  for (const ListRow& row : rows) RETURN_IF_ERROR(ReadRow(row));
  image_roots_.AddNote(notes_);
  label_roots_.AddNote(notes_);
  const bool named = first_line_.has_value() && NamesColumns(*first_line_);
  if (named) {
    RETURN_IF_ERROR(CheckHeader(first_line_->cuts[0]));
    notes_->push_back(DescribeHeader(list_file_, first_line_->cuts[0]));
  } else if (first_line_.has_value()) {
    RETURN_IF_ERROR(AddProblem(*first_line_));
  }
  if (!named && !lines.has_header) RETURN_IF_ERROR(CheckOrder());
  return std::move(splits_);
}

// Where no line names the columns, the files themselves may say that they are the other way round.
Status PairListReader::CheckOrder() const {
  bool any = false, swapped_names = true, swapped_formats = true, right_names = false;
  const Sample* first = nullptr;
  for (const auto& [name, split] : splits_) {
    for (const Sample& sample : split.samples) {
      if (first == nullptr) first = &sample;
      const bool image_is_label = IsNamedAsLabel(sample.image.path);
      const bool label_is_label = IsNamedAsLabel(sample.label.path);
      swapped_names = swapped_names && image_is_label && !label_is_label;
      right_names |= label_is_label && !image_is_label;
      swapped_formats =
          swapped_formats && !IsNamedAsJpeg(sample.image.path) && IsNamedAsJpeg(sample.label.path);
      any = true;
    }
  }
  if (!any || right_names) return OkStatus();
  const std::string pair =
      "the image is " + first->image.path + " and its label " + first->label.path;
  if (!swapped_names && !swapped_formats) {
    notes_->push_back(list_file_ +
                      " does not name its columns: the first is taken for the images, "
                      "so that " +
                      pair);
    return OkStatus();
  }
  return InvalidArgumentError(
      list_file_ + " does not name its columns, and taken in the order image, label " + pair +
      ": they seem to be exchanged. Name them in a first line, as label,image (or image,label if "
      "it is right)");
}

// One column with a known name, as in "photo,scene", says which the other one is.
void PairListReader::OrderByHeader(std::vector<ListRow>* rows) const {
  if (rows->empty() || rows->front().line != 1 || rows->front().cuts.size() != 1) return;
  const ListedPair& words = rows->front().cuts[0];
  if (finder_.Find(words.image) != nullptr || finder_.Find(words.label) != nullptr) return;
  if (OrderOfColumns(words.image, words.label) != ColumnOrder::kLabelFirst) return;
  for (size_t i = 1; i < rows->size(); ++i) SwapColumns(&(*rows)[i]);
}

// Labels that are images too can be taken for them: the order must be certain.
Status PairListReader::CheckHeader(const ListedPair& words) const {
  const ColumnOrder order = OrderOfColumns(words.image, words.label);
  if (order == ColumnOrder::kImageFirst || order == ColumnOrder::kLabelFirst) return OkStatus();
  return InvalidArgumentError(Where(1) + " names its columns '" + words.image + "' and '" +
                              words.label + "', which do not say which of them is the label; " +
                              "name them image and label");
}

bool PairListReader::NamesColumns(const ListRow& row) const {
  const bool leads_anywhere = std::any_of(splits_.begin(), splits_.end(), [](const auto& split) {
    return !split.second.samples.empty();
  });
  return leads_anywhere && row.cuts.size() == 1 && !MayBePath(row.cuts[0].image) &&
         !MayBePath(row.cuts[0].label);
}

Status PairListReader::ReadRow(const ListRow& row) {
  FoundPair found;
  for (const ListedPair& pair : row.cuts) {
    const ListedFile* image = finder_.Find(pair.image);
    const ListedFile* label = finder_.Find(pair.label);
    if (image == nullptr || label == nullptr) continue;
    if (found.image != nullptr) {
      return InvalidArgumentError(Where(row.line) +
                                  " can be cut into two paths in more than one way; put a tab "
                                  "between them or quotes around them");
    }
    found = {image, label, pair};
  }
  if (found.image != nullptr) return AddSample(row, found);
  if (row.line != 1) return AddProblem(row);
  first_line_ = row;
  return OkStatus();
}

Status PairListReader::AddProblem(const ListRow& row) {
  // With several blanks in the line the middle one is the likeliest border.
  const ListedPair& pair = row.cuts[row.cuts.size() / 2];
  ASSIGN_OR_RETURN(std::string key, RecordKey(pair.image));
  if (row.cuts.size() > 1) {
    splits_[row.split].problems.push_back(
        {key, Where(row.line) + " has too many words, " + std::to_string(row.cuts.size() + 1) +
                  " in place of 2, and cut at no blank does it name two files that exist; put a "
                  "tab between paths that hold blanks, or quotes around them"});
    return OkStatus();
  }
  const bool image_missing = finder_.Find(pair.image) == nullptr;
  const std::string& missing = image_missing ? pair.image : pair.label;
  splits_[row.split].problems.push_back(
      {key, Where(row.line) + " names " + (image_missing ? "image " : "label ") + missing +
                finder_.DescribeMissing(missing) + RawLabel(pair.label)});
  return OkStatus();
}

// The training ids of Cityscapes are made from the raw ones, which are what the set comes with.
std::string PairListReader::RawLabel(const std::string& label) const {
  constexpr std::string_view kTrainIds = "labelTrainIds", kRawIds = "labelIds";
  const size_t place = label.rfind(kTrainIds);
  if (place == std::string::npos) return "";
  std::string raw = label;
  raw.replace(place, kTrainIds.size(), kRawIds);
  if (finder_.Find(raw) == nullptr) return "";
  return "; " + raw + " is there: name it in the list, and --map cityscapes makes those ids of it";
}

Status PairListReader::AddSample(const ListRow& row, const FoundPair& found) {
  auto [other, is_new] = line_of_image_.emplace(found.image->path, row.line);
  if (!is_new) {
    return InvalidArgumentError(Where(row.line) + " names " + found.image->path + ", as line " +
                                std::to_string(other->second) + " does; list each image once");
  }
  RETURN_IF_ERROR(image_roots_.Add(found.names.image, *found.image, Where(row.line)));
  RETURN_IF_ERROR(label_roots_.Add(found.names.label, *found.label, Where(row.line)));
  ASSIGN_OR_RETURN(Sample sample, MakePair(*found.image, *found.label));
  splits_[row.split].samples.push_back(std::move(sample));
  return OkStatus();
}

}  // namespace

Result<InputSplit> ReadImageList(const FolderListing& listing, const std::string& list_file) {
  InputSplit split;
  ListedFileFinder finder(listing);
  ASSIGN_OR_RETURN(const std::vector<TextLine> lines, ReadLines(JoinPath(listing.root, list_file)));
  for (const TextLine& line : lines) {
    const std::string word = ImageAlone(line.text, &finder);
    const ListedFile* image = finder.FindImage(word);
    if (image == nullptr && &line == &lines.front() && NamesImageColumn(word)) continue;
    const std::string where = list_file + " line " + std::to_string(line.number);
    ASSIGN_OR_RETURN(std::string key, RecordKey(image == nullptr ? word : image->path));
    split.problems.push_back({std::move(key), image == nullptr ? where + " names image " + word +
                                                                     finder.DescribeMissing(word)
                                                               : where + " names no label of it"});
    split.problems.back().lacks_label = image != nullptr;
  }
  return split;
}

Result<std::map<std::string, InputSplit>> ReadPairList(const FolderListing& listing,
                                                       const std::string& list_file,
                                                       std::vector<std::string>* notes) {
  return PairListReader(listing, list_file, notes).Read();
}

}  // namespace shardmill
