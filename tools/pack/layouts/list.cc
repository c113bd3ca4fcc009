// Lists at the top of the folder: of image and label paths, or of images and their classes.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "reader/base/file.h"
#include "reader/names.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/record_key.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/labels/class_label.h"
#include "tools/pack/labels/class_table.h"
#include "tools/pack/labels/unused_class.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"
#include "tools/pack/layouts/list_choice.h"
#include "tools/pack/layouts/list_columns.h"
#include "tools/pack/layouts/list_pairs.h"
#include "tools/pack/layouts/list_rows.h"
#include "tools/pack/layouts/listed_files.h"

namespace shardmill {
namespace {

// Parts of one list by its split column; all in one when it has none. A list of nothing makes a
// split of nothing, which is refused later.
Status AddParts(std::map<std::string, InputSplit> parts, const List& list, InputSet* set) {
  if (parts.empty()) parts[""];
  std::map<std::string, InputSplit> splits;  // "train" and "Train" are one
  for (auto& [name, part] : parts) {
    const std::string usual = UsualSplitName(name);
    InputSplit& split = splits[name.empty() ? list.split : usual.empty() ? name : usual];
    std::move(part.samples.begin(), part.samples.end(), std::back_inserter(split.samples));
    std::move(part.problems.begin(), part.problems.end(), std::back_inserter(split.problems));
  }
  for (auto& [split, part] : splits) {
    RETURN_IF_ERROR(AddOrDivide(split, std::move(part), set));
  }
  return OkStatus();
}

// What no line names is reported, wherever it lies.
void UseAllImages(InputSet* set) {
  set->unlisted.trees = {""};
  set->unlisted.reason = "no list names it";
}

class ClassListReader {
 public:
  ClassListReader(const LayoutInput& input, InputSet* set)
      : input_(input), finder_(input.listing), set_(set) {}

  Status Read();

 private:
  struct Row {
    List list;
    ListRow row;
    const ListedFile* image = nullptr;
    const std::string& label() const { return row.cuts.back().label; }
  };
  Status ReadRows();
  bool StartsWithLabels(const std::vector<ListRow>& rows);
  Status ReadList(const List& list);
  Status AddMissing(const Row& row);
  Status MakeClasses();
  Result<uint32_t> ClassOf(const Row& row) const;
  Status AddRow(const Row& row, InputSplit* split);

  const LayoutInput& input_;
  ListedFileFinder finder_;
  InputSet* set_;
  std::vector<Row> rows_;
  std::map<std::string, InputSplit> splits_;  // "" for none
  std::map<std::string, uint32_t> ids_;       // by name
  std::map<std::string, std::string> line_of_image_;
  ListedRoots roots_;
};

std::string Where(const List& list, const ListRow& row) {
  return list.file + " line " + std::to_string(row.line);
}

Status ClassListReader::ReadRows() {
  ASSIGN_OR_RETURN(const std::vector<List> lists, ChooseLists(input_, ListKind::kClasses, set_));
  for (const List& list : lists) {
    if (!list.split.empty()) splits_[list.split];  // also when it lists nothing
    if (!list.split.empty() && input_.options.LeavesOut(list.split)) continue;
    if (list.images_alone) {
      return NotFoundError("list " + list.file +
                           " cannot be packed: it names images alone, and layout csv needs the "
                           "class of each. Add the classes, or choose other splits with --split "
                           "NAME,…");
    }
    RETURN_IF_ERROR(ReadList(list));
  }
  return OkStatus();
}

Status ClassListReader::AddMissing(const Row& row) {
  const std::string& listed = row.row.cuts.back().image;
  ASSIGN_OR_RETURN(std::string key, RecordKey(listed));
  const std::string& split = row.row.split.empty() ? row.list.split : row.row.split;
  const bool swapped = finder_.FindImage(row.label()) != nullptr;
  splits_[split].problems.push_back(
      {key, Where(row.list, row.row) + " names image " + listed + finder_.DescribeMissing(listed) +
                (listed.find('/') == std::string::npos ? ", or more than once" : "") +
                (swapped ? "; " + row.label() + " does: are the two columns exchanged? Name them " +
                               "in a first line, as label,image"
                         : "")});
  return OkStatus();
}

// True when the first line names the columns in this order, with one known name, as "breed,id".
bool ClassListReader::StartsWithLabels(const std::vector<ListRow>& rows) {
  if (rows.empty() || rows.front().line != 1 || rows.front().cuts.size() != 1) return false;
  const ListedPair& words = rows.front().cuts[0];
  return finder_.FindImage(words.image) == nullptr && finder_.FindImage(words.label) == nullptr &&
         OrderOfColumns(words.image, words.label) == ColumnOrder::kLabelFirst;
}

// Lines without their image are problems, and no class comes from them. Where that is so of the
// first line alone, it names columns in words of its own, as "id,breed".
Status ClassListReader::ReadList(const List& list) {
  ASSIGN_OR_RETURN(std::vector<ListRow> rows,
                   ReadListRows(JoinPath(input_.listing.root, list.file)));
  if (StartsWithLabels(rows)) {
    for (size_t i = 1; i < rows.size(); ++i) SwapColumns(&rows[i]);
  }
  std::vector<Row> missing;
  const size_t before = rows_.size();
  for (ListRow& row : rows) {
    const ListedFile* image = finder_.FindImage(row.cuts.back().image);
    (image == nullptr ? missing : rows_).push_back({list, std::move(row), image});
  }
  if (missing.size() == 1 && rows_.size() > before && missing[0].row.line == 1) {
    const ListedPair& words = missing[0].row.cuts.back();
    if (!MayBePath(words.image)) {
      set_->notes.push_back(DescribeHeader(list.file, words));
      return OkStatus();
    }
  }
  for (const Row& row : missing) RETURN_IF_ERROR(AddMissing(row));
  return OkStatus();
}

// A table that is given; else ids as they stand, when all labels are numbers; else the sorted
// names that occur.
Status ClassListReader::MakeClasses() {
  set_->classes = input_.classes;
  std::set<std::string> names;
  for (const Row& row : rows_) {
    names.insert(row.label());
    if (!IsMissingLabel(row.label())) continue;
    const bool is_class =
        std::any_of(set_->classes.begin(), set_->classes.end(),
                    [&](const ClassInfo& info) { return info.name == row.label(); });
    if (is_class) continue;
    return InvalidArgumentError(Where(row.list, row.row) + ": '" + row.label() +
                                "' stands for a class that is missing; give the image a class or "
                                "take the line out");
  }
  std::optional<std::set<uint32_t>> ids;
  if (set_->classes.empty()) {
    ASSIGN_OR_RETURN(ids, IdsOfLabels(names));
  }
  for (uint32_t id = 0; ids.has_value() && !ids->empty() && id <= *ids->rbegin(); ++id) {
    set_->classes.push_back({id, std::to_string(id), std::nullopt});
  }
  for (const std::string& name : names) {
    if (!input_.classes.empty() || ids.has_value()) break;
    if (HasImageExtension(name)) {
      return InvalidArgumentError("'" + name +
                                  "' stands where a class is expected, and looks like the path of "
                                  "a label; lists of those are for --layout list");
    }
    if (!IsRecordKey(name)) return InvalidArgumentError("a label is no usable name of a class");
    set_->classes.push_back({static_cast<uint32_t>(set_->classes.size()), name, std::nullopt});
  }
  for (const ClassInfo& info : set_->classes) ids_.emplace(info.name, info.id);
  for (std::string& note : NoteSimilarNames(set_->classes)) set_->notes.push_back(std::move(note));
  return OkStatus();
}

Result<uint32_t> ClassListReader::ClassOf(const Row& row) const {
  const auto found = ids_.find(row.label());
  if (found != ids_.end()) return found->second;
  const int64_t id = ParseWholeNumber(row.label()).value_or(-1);
  const bool is_class = id >= 0 && id < static_cast<int64_t>(set_->classes.size()) &&
                        !IsUnusedClass(set_->classes[static_cast<size_t>(id)]);
  if (is_class) return static_cast<uint32_t>(id);
  return InvalidArgumentError(Where(row.list, row.row) + ": '" + row.label() +
                              "' is neither the name nor the id of a class of the " +
                              std::to_string(set_->classes.size()) + " of the table");
}

Status ClassListReader::AddRow(const Row& row, InputSplit* split) {
  const std::string where = Where(row.list, row.row);
  const ListedFile* image = row.image;
  auto [other, is_new] = line_of_image_.emplace(image->path, where);
  if (!is_new) {
    return InvalidArgumentError(where + " names " + image->path + ", as " + other->second +
                                " does; list each image once");
  }
  RETURN_IF_ERROR(roots_.Add(row.row.cuts.back().image, *image, where));
  Sample sample;
  ASSIGN_OR_RETURN(sample.key, RecordKey(image->path));
  sample.image = {image->path, image->bytes, image->changed_ns};
  ASSIGN_OR_RETURN(sample.class_id, ClassOf(row));
  split->samples.push_back(std::move(sample));
  return OkStatus();
}

Status ClassListReader::Read() {
  set_->task = Task::kClassification;
  RETURN_IF_ERROR(ReadRows());
  RETURN_IF_ERROR(MakeClasses());
  for (const Row& row : rows_) {
    const std::string& name = row.row.split.empty() ? row.list.split : row.row.split;
    RETURN_IF_ERROR(AddRow(row, &splits_[name]));
  }
  roots_.AddNote(&set_->notes);
  UseAllImages(set_);
  return AddParts(std::move(splits_), {}, set_);
}

}  // namespace

std::string RecognizeList(const FolderListing& listing) {
  const std::vector<List> lists = FindLists(listing, ListKind::kPairs);
  return lists.empty() ? "" : lists.front().file + " lists image and label paths";
}

Status ReadList(const LayoutInput& input, InputSet* set) {
  RETURN_IF_ERROR(FindClasses(input, set));
  ASSIGN_OR_RETURN(const std::vector<List> lists, ChooseLists(input, ListKind::kPairs, set));
  for (const List& list : lists) {
    std::map<std::string, InputSplit> parts;
    if (list.images_alone) {
      ASSIGN_OR_RETURN(parts[""], ReadImageList(input.listing, list.file));
    } else if (!input.options.LeavesOut(list.split) || list.split.empty()) {
      ASSIGN_OR_RETURN(parts, ReadPairList(input.listing, list.file, &set->notes));
    }
    RETURN_IF_ERROR(AddParts(std::move(parts), list, set));
  }
  UseAllImages(set);
  return OkStatus();
}

std::string RecognizeCsv(const FolderListing& listing) {
  const std::vector<List> lists = FindLists(listing, ListKind::kClasses);
  return lists.empty() ? "" : lists.front().file + " lists images and their classes";
}

Status ReadCsv(const LayoutInput& input, InputSet* set) {
  return ClassListReader(input, set).Read();
}

}  // namespace shardmill
