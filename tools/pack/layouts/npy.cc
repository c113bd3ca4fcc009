#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reader/base/file.h"
#include "tools/pack/inputs/record_key.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/labels/class_label.h"
#include "tools/pack/layouts/class_doubts.h"
#include "tools/pack/layouts/class_folders.h"
#include "tools/pack/layouts/layouts.h"
#include "tools/pack/layouts/list_rows.h"
#include "tools/pack/layouts/listed_files.h"

namespace shardmill {
namespace {

constexpr std::string_view kExtension = ".npy";
constexpr const char* kWholeList = "labels.csv";

bool HasNpyExtension(const std::string& path) {
  return path.size() > kExtension.size() &&
         LowerCase(path.substr(path.size() - kExtension.size())) == kExtension;
}

const FileKind& NpyFiles() {
  static const FileKind arrays = {HasNpyExtension, "NumPy arrays", "array's (.npy)"};
  return arrays;
}

// A line of a list: which file, and what its class is called there.
struct ListedArray {
  std::string path;
  std::string label;
  uint64_t line = 0;
  const ListedFile* file = nullptr;  // what is there
};

struct ArrayList {
  std::string file;   // the list itself
  std::string split;  // empty: of the whole set
  std::vector<ListedArray> arrays;
};

// The lists at the top of the folder: labels.csv, and one per split.
std::vector<ArrayList> FindLists(const FolderListing& listing) {
  std::vector<ArrayList> lists;
  for (const std::string& name : listing.FilesIn("")) {
    const std::string lower = LowerCase(name);
    if (lower.size() < 4 || lower.substr(lower.size() - 4) != ".csv") continue;
    const std::string split = UsualSplitName(name.substr(0, name.size() - 4));
    if (lower == kWholeList || !split.empty()) lists.push_back({name, split, {}});
  }
  return lists;
}

// A list of all arrays beside lists of splits: which one counts?
Status CheckLists(const std::vector<ArrayList>& lists) {
  const bool has_whole = std::any_of(lists.begin(), lists.end(),
                                     [](const ArrayList& list) { return list.split.empty(); });
  if (lists.size() < 2 || !has_whole) return OkStatus();
  return InvalidArgumentError(lists.front().file + " and " + lists.back().file +
                              " both list arrays: keep either " + kWholeList +
                              " or the lists of the splits in the folder");
}

// The first line, when it names the columns.
bool IsHeader(const std::vector<std::string>& fields) {
  return !HasNpyExtension(fields[0]) && IsListHeader(fields);
}

Status ReadList(const FolderListing& listing, ArrayList* list, std::vector<std::string>* notes) {
  const ListedFileFinder finder(listing);
  ListedRoots roots;
  ASSIGN_OR_RETURN(const std::vector<TextLine> lines,
                   ReadLines(JoinPath(listing.root, list->file)));
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string where = list->file + " line " + std::to_string(lines[i].number);
    auto fields = SplitFields(lines[i].text, ',');
    if (!fields.ok()) return fields.status().WithContext(where);
    if (fields->size() != 2) {
      return InvalidArgumentError(where + ": " + std::to_string(fields->size()) +
                                  " fields; expected is FILE,LABEL");
    }
    const std::string path(TrimBlanks((*fields)[0])), label(TrimBlanks((*fields)[1]));
    if (i == 0 && IsHeader({path, label})) continue;
    if (i == 0 && !HasNpyExtension(path)) {
      return InvalidArgumentError(where + ": '" + path +
                                  "' is neither a .npy file nor the name of a column (file,label)");
    }
    if (path.empty() || label.empty()) return InvalidArgumentError(where + ": an empty field");
    const ListedFile* file = finder.Find(path);
    if (file != nullptr) RETURN_IF_ERROR(roots.Add(path, *file, where));
    list->arrays.push_back({path, label, lines[i].number, file});
  }
  roots.AddNote(notes);
  return OkStatus();
}

// Labels that are all numbers are ids; else they are names. None comes from an array that is not
// there.
Result<std::vector<ClassInfo>> MakeClasses(const std::vector<ArrayList>& lists) {
  std::set<std::string> names;
  for (const ArrayList& list : lists) {
    for (const ListedArray& array : list.arrays) {
      if (array.file == nullptr) continue;
      names.insert(array.label);
      if (!IsMissingLabel(array.label)) continue;
      return InvalidArgumentError(list.file + " line " + std::to_string(array.line) + ": '" +
                                  array.label +
                                  "' stands for a class that is missing; give the "
                                  "array a class or take the line out");
    }
  }
  ASSIGN_OR_RETURN(const auto ids, IdsOfLabels(names));
  std::vector<ClassInfo> classes;
  for (uint32_t id = 0; ids.has_value() && !ids->empty() && id <= *ids->rbegin(); ++id) {
    classes.push_back({id, std::to_string(id), std::nullopt});
  }
  for (auto name = names.begin(); !ids.has_value() && name != names.end(); ++name) {
    classes.push_back({static_cast<uint32_t>(classes.size()), *name, std::nullopt});
  }
  return classes;
}

class ArrayListReader {
 public:
  ArrayListReader(const FolderListing& listing, const std::vector<ClassInfo>& classes)
      : finder_(listing) {
    for (const ClassInfo& info : classes) ids_[info.name] = info.id;
  }

  Result<InputSplit> ReadSplit(const ArrayList& list) {
    InputSplit split;
    split.name = list.split;
    for (const ListedArray& array : list.arrays) {
      auto id = ids_.find(array.label);
      if (const auto number = ParseWholeNumber(array.label); id == ids_.end() && number) {
        id = ids_.find(std::to_string(*number));
      }
      const ListedFile* file = array.file;
      if (file != nullptr && id == ids_.end()) {
        return InvalidArgumentError(list.file + " line " + std::to_string(array.line) + ": '" +
                                    array.label + "' is not in the class table");
      }
      ASSIGN_OR_RETURN(const std::string key, RecordKey(file == nullptr ? array.path : file->path));
      if (file == nullptr) {
        split.problems.push_back({key, list.file + " line " + std::to_string(array.line) +
                                           " names " + array.path +
                                           finder_.DescribeMissing(array.path)});
      } else {
        split.samples.push_back({key, {file->path, file->bytes, file->changed_ns}, {}, id->second});
      }
    }
    return split;
  }

 private:
  const ListedFileFinder finder_;
  std::map<std::string, uint32_t> ids_;
};

Status ReadLists(const LayoutInput& input, std::vector<ArrayList> lists, InputSet* set) {
  RETURN_IF_ERROR(CheckLists(lists));
  for (ArrayList& list : lists) {
    set->lists.push_back(list.file);
    if (list.split.empty() || !input.options.LeavesOut(list.split)) {
      RETURN_IF_ERROR(ReadList(input.listing, &list, &set->notes));
    }
  }
  set->classes = input.classes;
  if (set->classes.empty()) {
    ASSIGN_OR_RETURN(set->classes, MakeClasses(lists));
    for (std::string& note : NoteSimilarNames(set->classes)) set->notes.push_back(std::move(note));
  }
  ArrayListReader reader(input.listing, set->classes);
  for (const ArrayList& list : lists) {
    ASSIGN_OR_RETURN(InputSplit split, reader.ReadSplit(list));
    if (list.split.empty()) {
      DivideByKey(std::move(split), set);
    } else {
      set->splits.push_back(std::move(split));
    }
  }
  set->unlisted.trees = {""};
  set->unlisted.reason = "no list names it";
  return OkStatus();
}

}  // namespace

std::string RecognizeNpy(const FolderListing& listing) {
  const bool any = std::any_of(listing.files.begin(), listing.files.end(),
                               [](const ListedFile& file) { return HasNpyExtension(file.path); });
  const std::vector<ArrayList> lists = FindLists(listing);
  if (any && !lists.empty()) return lists.front().file + " lists NumPy arrays with their labels";
  return RecognizeClassFolders(listing, NpyFiles());
}

// Lists say what is meant.
std::string DoubtNpy(const FolderListing& listing, const LayoutOptions& options) {
  return FindLists(listing).empty() ? DoubtClassFolders(listing, options) : "";
}

Status ReadNpy(const LayoutInput& input, InputSet* set) {
  set->task = Task::kClassification;
  set->holds_arrays = true;
  std::vector<ArrayList> lists = FindLists(input.listing);
  if (lists.empty()) return ReadClassFolders(input, NpyFiles(), set);
  return ReadLists(input, std::move(lists), set);
}

}  // namespace shardmill
