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
#include "tools/pack/layouts/list_pairs.h"
#include "tools/pack/record_key.h"
#include "tools/pack/split_names.h"
#include "tools/pack/text_lines.h"

namespace shardmill {
namespace {

struct List {
  std::string file;   // below the root
  std::string split;  // as its name says; empty: no usual name
};

bool IsListName(const std::string& name) {
  for (const char* end : {".txt", ".csv", ".tsv", ".lst"}) {
    if (EndsWith(LowerCase(name), end)) return true;
  }
  return false;
}

// "train.csv" and "train_labels.csv" are of train.
List MakeList(const std::string& file) {
  std::string stem(NameOf(file));
  stem.resize(stem.rfind('.'));
  return {file, UsualSplitName(stem.substr(0, stem.find_first_of("_-")))};
}

// The lists that a test holds for: those of splits, or else all.
template <typename Test>
std::vector<List> FindLists(const FolderListing& listing, Test test) {
  std::vector<List> of_splits, others;
  for (const std::string& name : listing.FilesIn("")) {
    if (!IsListName(name) || !test(listing, name)) continue;
    const List list = MakeList(name);
    (list.split.empty() ? others : of_splits).push_back(list);
  }
  return of_splits.empty() ? others : of_splits;
}

template <typename Test>
Result<std::vector<List>> ChooseLists(const LayoutInput& input, Test test) {
  const std::string& file = input.options.list;
  if (!file.empty()) {
    if (input.listing.Find(file) != nullptr) return std::vector<List>{{file, ""}};
    return NotFoundError("there is no list file " + file + " in " + input.listing.root);
  }
  std::vector<List> lists = FindLists(input.listing, test);
  if (!lists.empty()) return lists;
  return NotFoundError("there is no list file at the top of " + input.listing.root +
                       " whose lines lead to images; name one with --list FILE");
}

// Parts of one list by its split column; all in one when it has none.
Status AddParts(std::map<std::string, InputSplit> parts, const List& list, InputSet* set) {
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

// True when a first line names an image and something that is no file.
bool ListNamesClasses(const FolderListing& listing, const std::string& file) {
  constexpr size_t kLinesTried = 20;
  Result<std::vector<ListRow>> rows = ReadListRows(JoinPath(listing.root, file));
  if (!rows.ok()) return false;
  ListedFileFinder finder(listing);
  for (size_t i = 0; i < std::min(rows->size(), kLinesTried); ++i) {
    const ListedPair& pair = (*rows)[i].cuts.back();
    if (finder.Find(pair.label) != nullptr) return false;
    const ListedFile* image = finder.FindImage(pair.image);
    if (image != nullptr) return HasImageExtension(image->path);
  }
  return false;
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
  std::map<std::string, uint32_t> ids_;  // by name
  std::map<std::string, std::string> line_of_image_;
};

std::optional<uint32_t> ParseId(const std::string& text) {
  uint32_t id = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && id < kMaxClasses ? std::optional(id) : std::nullopt;
}

Status ClassListReader::ReadRows() {
  ASSIGN_OR_RETURN(const std::vector<List> lists, ChooseLists(input_, ListNamesClasses));
  for (const List& list : lists) {
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
    if (!IsRecordKey(name)) return InvalidArgumentError("a label is no usable name of a class");
    set_->classes.push_back({static_cast<uint32_t>(set_->classes.size()), name, std::nullopt});
  }
  for (const ClassInfo& info : set_->classes) ids_.emplace(info.name, info.id);
  return OkStatus();
}

Result<uint32_t> ClassListReader::ClassOf(const Row& row) const {
  const auto found = ids_.find(row.label());
  if (found != ids_.end()) return found->second;
  const std::optional<uint32_t> id = ParseId(row.label());
  if (id.has_value() && *id < set_->classes.size()) return *id;
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
  sample.image = {image->path, image->bytes};
  ASSIGN_OR_RETURN(sample.class_id, ClassOf(row));
  split->samples.push_back(std::move(sample));
  return OkStatus();
}

Status ClassListReader::Read() {
  set_->task = Task::kClassification;
  RETURN_IF_ERROR(ReadRows());
  RETURN_IF_ERROR(MakeClasses());
  std::map<std::string, InputSplit> splits;
  for (const Row& row : rows_) {
    const std::string& name = row.row.split.empty() ? row.list.split : row.row.split;
    RETURN_IF_ERROR(AddRow(row, &splits[name]));
  }
  return AddParts(std::move(splits), {}, set_);
}

}  // namespace

std::string RecognizeList(const FolderListing& listing) {
  const std::vector<List> lists = FindLists(listing, ListNamesPairs);
  return lists.empty() ? "" : lists.front().file + " lists image and label paths";
}

Status ReadList(const LayoutInput& input, InputSet* set) {
  RETURN_IF_ERROR(FindClasses(input, set));
  ASSIGN_OR_RETURN(const std::vector<List> lists, ChooseLists(input, ListNamesPairs));
  for (const List& list : lists) {
    ASSIGN_OR_RETURN(auto parts, ReadPairList(input.listing, list.file));
    RETURN_IF_ERROR(AddParts(std::move(parts), list, set));
  }
  return OkStatus();
}

std::string RecognizeCsv(const FolderListing& listing) {
  const std::vector<List> lists = FindLists(listing, ListNamesClasses);
  return lists.empty() ? "" : lists.front().file + " lists images and their classes";
}

Status ReadCsv(const LayoutInput& input, InputSet* set) {
  return ClassListReader(input, set).Read();
}

}  // namespace shardmill
