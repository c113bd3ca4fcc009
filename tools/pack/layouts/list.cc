// Lists at the top of the folder: of image and label paths, or of images and their classes.
#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "reader/base/file.h"
#include "reader/names.h"
#include "tools/pack/class_table.h"
#include "tools/pack/file_format.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"
#include "tools/pack/layouts/list_choice.h"
#include "tools/pack/layouts/list_pairs.h"
#include "tools/pack/record_key.h"
#include "tools/pack/split_names.h"
#include "tools/pack/text_lines.h"
#include "tools/pack/unused_class.h"

namespace shardmill {
namespace {

// Parts of one list by its split column; all in one when it has none. A list of nothing makes a
// split of nothing, which is refused later.
Status AddParts(std::map<std::string, InputSplit> parts, const List& list, InputSet* set) {
  if (parts.empty()) parts[""];
  for (auto& [name, part] : parts) {
    const std::string split = name.empty() ? list.split : name;
    if (split.empty()) {
      DivideByKey(std::move(part), set);
    } else {
      RETURN_IF_ERROR(AddSplit(split, std::move(part), set));
    }
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
    const std::string& label() const { return row.cuts.back().label; }
  };
  Status ReadRows();
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
};

std::optional<uint32_t> ParseId(const std::string& text) {
  uint32_t id = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && id < kMaxClasses ? std::optional(id) : std::nullopt;
}

Status ClassListReader::ReadRows() {
  ASSIGN_OR_RETURN(const std::vector<List> lists, ChooseLists(input_, ListKind::kClasses, set_));
  for (const List& list : lists) {
    if (!list.split.empty()) splits_[list.split];  // also when it lists nothing
    if (!list.split.empty() && input_.options.LeavesOut(list.split)) continue;
    ASSIGN_OR_RETURN(std::vector<ListRow> rows,
                     ReadListRows(JoinPath(input_.listing.root, list.file)));
    for (ListRow& row : rows) rows_.push_back({list, std::move(row)});
  }
  return OkStatus();
}

// A table that is given; else ids as they stand, when all labels are numbers; else the sorted
// names that occur.
Status ClassListReader::MakeClasses() {
  set_->classes = input_.classes;
  std::set<std::string> names;
  uint32_t largest = 0;
  bool all_numbers = true;
  for (const Row& row : rows_) {
    names.insert(row.label());
    const std::optional<uint32_t> id = ParseId(row.label());
    all_numbers = all_numbers && id.has_value();
    largest = std::max(largest, id.value_or(0));
  }
  if (set_->classes.empty() && all_numbers) {
    for (uint32_t id = 0; id <= largest; ++id) {
      set_->classes.push_back({id, std::to_string(id), std::nullopt});
    }
  }
  for (const std::string& name : names) {
    if (!input_.classes.empty() || all_numbers) break;
    if (HasImageExtension(name)) {
      return InvalidArgumentError("'" + name +
                                  "' stands where a class is expected, and looks like the path of "
                                  "a label; lists of those are for --layout list");
    }
    if (!IsRecordKey(name)) return InvalidArgumentError("a label is no usable name of a class");
    set_->classes.push_back({static_cast<uint32_t>(set_->classes.size()), name, std::nullopt});
  }
  std::map<std::string, std::string> spellings;
  for (const ClassInfo& info : set_->classes) {
    ids_.emplace(info.name, info.id);
    const auto [other, is_new] = spellings.emplace(LowerCase(info.name), info.name);
    if (is_new) continue;
    set_->notes.push_back("classes '" + other->second + "' and '" + info.name +
                          "' differ in upper and lower case alone");
  }
  return OkStatus();
}

Result<uint32_t> ClassListReader::ClassOf(const Row& row) const {
  const auto found = ids_.find(row.label());
  if (found != ids_.end()) return found->second;
  const std::optional<uint32_t> id = ParseId(row.label());
  const bool is_class =
      id.has_value() && *id < set_->classes.size() && !IsUnusedClass(set_->classes[*id]);
  if (is_class) return *id;
  return InvalidArgumentError(row.list.file + " line " + std::to_string(row.row.line) + ": '" +
                              row.label() + "' is neither the name nor the id of a class of the " +
                              std::to_string(set_->classes.size()) + " of the table");
}

Status ClassListReader::AddRow(const Row& row, InputSplit* split) {
  const std::string& listed = row.row.cuts.back().image;
  const std::string where = row.list.file + " line " + std::to_string(row.row.line);
  const ListedFile* image = finder_.FindImage(listed);
  if (image == nullptr) {
    ASSIGN_OR_RETURN(std::string key, RecordKey(listed));
    split->problems.push_back({key, where + " names image " + listed +
                                        ", which does not exist in the source folder, or more "
                                        "than once"});
    return OkStatus();
  }
  auto [other, is_new] = line_of_image_.emplace(image->path, where);
  if (!is_new) {
    return InvalidArgumentError(where + " names " + image->path + ", as " + other->second +
                                " does; list each image once");
  }
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
    if (!input.options.LeavesOut(list.split) || list.split.empty()) {
      ASSIGN_OR_RETURN(parts, ReadPairList(input.listing, list.file));
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
