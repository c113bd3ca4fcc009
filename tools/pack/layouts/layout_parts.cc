#include "tools/pack/layouts/layout_parts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "reader/base/file.h"
#include "reader/names.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/record_key.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/labels/class_table.h"
#include "tools/pack/labels/value_map.h"

namespace shardmill {
namespace {

constexpr const char* kTableNames[] = {
    "class_dict.csv", "classes.csv", "labelmap.txt",    "label_colors.txt", "classes.txt",
    "classes.json",   "labels.txt",  "class_names.txt", "labels.json",      "_classes.csv"};

bool MeansNoClass(const std::string& name) {
  static const std::set<std::string> names = {"unlabeled", "unlabelled", "unknown",
                                              "void",      "ignore",     "other"};
  return names.count(name) > 0;
}

// Of "Urban_Land" and "urban land", or "_background_" and "background": they are one name.
std::string ComparedName(const ClassInfo& info) {
  std::string name = LowerCase(info.name);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '_' || c == '-'; }, ' ');
  return std::string(TrimBlanks(name));
}

// A row for what has no class may be there or not.
std::vector<std::string> ComparedNames(const std::vector<ClassInfo>& classes, NoClassRow row) {
  std::vector<std::string> names;
  for (const ClassInfo& info : classes) names.push_back(ComparedName(info));
  if (!names.empty() && MeansNoClass(names.back())) names.pop_back();
  const bool first = row == NoClassRow::kFirstOrLast && !names.empty() && MeansNoClass(names[0]);
  if (first) names.erase(names.begin());
  return names;
}

// Some sets call a list of their files as others call the table of their classes.
bool ListsFiles(const std::string& path) {
  const Result<std::vector<TextLine>> lines = ReadLines(path);
  return lines.ok() && std::any_of(lines->begin(), lines->end(), [](const TextLine& line) {
           const std::string_view text = line.text;
           return HasImageExtension(text) ||
                  HasImageExtension(text.substr(0, text.find_first_of(" \t,;")));
         });
}

// labelme's tables begin with a name for the number -1, which no label file holds.
Result<std::vector<ClassInfo>> ReadTableAtTop(const FolderListing& listing,
                                              const std::string& name) {
  ASSIGN_OR_RETURN(std::vector<ClassInfo> classes, ReadClassTable(JoinPath(listing.root, name)));
  if (classes.front().name != "__ignore__" || classes.size() == 1) return classes;
  classes.erase(classes.begin());
  for (size_t i = 0; i < classes.size(); ++i) classes[i].id = static_cast<uint32_t>(i);
  return classes;
}

// The table at the top whose classes are not `own`; an empty name: there is none.
struct TableAtTop {
  std::string name;
  std::vector<ClassInfo> classes;
};

Result<TableAtTop> FindOtherTable(const LayoutInput& input, const std::vector<ClassInfo>& own,
                                  NoClassRow row) {
  TableAtTop table;
  const std::string name = ClassTableAtTop(input.listing);
  if (name.empty()) return table;
  Result<std::vector<ClassInfo>> classes = ReadTableAtTop(input.listing, name);
  if (!classes.ok()) {
    return InvalidArgumentError(classes.status().message() +
                                ". If it is no class table, rename it; or give --classes FILE");
  }
  if (ComparedNames(*classes, row) == ComparedNames(own, row)) return table;
  table.name = name;
  table.classes = *std::move(classes);
  return table;
}

// What the layout says of colours that are now a class's.
void DropRulesOfOwnClasses(const std::vector<ClassInfo>& classes, LabelRules* labels) {
  labels->index_first = false;
  if (!labels->map.has_value()) return;
  for (const ClassInfo& info : classes) {
    if (info.color.has_value()) labels->map->ids.erase(*info.color | kLabelColorFlag);
  }
  if (labels->map->ids.empty() && !labels->map->others.has_value()) labels->map.reset();
}

std::string AskForMap(const InputSet& set, size_t own, const std::string& table, size_t classes) {
  return "layout " + set.layout + " turns the values of its label files into " +
         std::to_string(own) + " classes, and " + table + " has " + std::to_string(classes) +
         "; say what the values become with --map FILE, or --map none for the values themselves";
}

Status UseTable(const LayoutInput& input, const std::vector<ClassInfo>& own, TableAtTop table,
                InputSet* set) {
  const bool mapped = set->labels.map.has_value() && set->labels.map->MapsNumbers();
  const std::string own_count = std::to_string(own.size());
  if (mapped && !input.options.map.has_value()) {
    return InvalidArgumentError(AskForMap(*set, own.size(), table.name, table.classes.size()) +
                                "; or rename " + table.name + " if the set has the " + own_count +
                                " classes");
  }
  if (!input.options.map.has_value() && !AllHaveColors(table.classes)) {
    RETURN_IF_ERROR(CheckNumbering(input, own, table.classes, table.name, *set));
  }
  set->notes.push_back("class table: " + table.name + ", " + std::to_string(table.classes.size()) +
                       " classes, in place of the " + own_count + " of layout " + set->layout);
  LabelRules& labels = set->labels;
  labels.colors_in_files = AllHaveColors(table.classes);
  if (labels.ignore.has_value() && *labels.ignore < table.classes.size()) labels.ignore.reset();
  set->classes = std::move(table.classes);
  DropRulesOfOwnClasses(set->classes, &set->labels);
  return OkStatus();
}

}  // namespace

Status UseClasses(const LayoutInput& input, std::vector<ClassInfo> own, InputSet* set,
                  NoClassRow row) {
  const bool mapped = set->labels.map.has_value() && set->labels.map->MapsNumbers();
  if (input.classes.empty()) {
    const std::vector<std::string> profiles = ValueMapNames();
    // A profile makes the layout's own classes, whatever lies beside them.
    const bool makes_own = mapped && std::find(profiles.begin(), profiles.end(),
                                               input.options.map.value_or("")) != profiles.end();
    if (!makes_own) {
      ASSIGN_OR_RETURN(TableAtTop table, FindOtherTable(input, own, row));
      if (!table.name.empty()) return UseTable(input, own, std::move(table), set);
    }
    set->classes = std::move(own);
    return OkStatus();
  }
  set->classes = input.classes;
  DropRulesOfOwnClasses(set->classes, &set->labels);
  if (!mapped || input.options.map.has_value() || input.classes.size() == own.size()) {
    return OkStatus();
  }
  return InvalidArgumentError(AskForMap(*set, own.size(), "--classes", input.classes.size()));
}

Status CheckNumbering(const LayoutInput& input, const std::vector<ClassInfo>& own,
                      const std::vector<ClassInfo>& classes, const std::string& table,
                      const InputSet& set) {
  std::map<std::string, uint32_t> numbers;
  for (const ClassInfo& info : own) numbers.emplace(ComparedName(info), info.id);
  const std::string first = ComparedName(own.front());
  if (ComparedName(classes.front()) == first) return OkStatus();
  std::string doubt;
  for (const ClassInfo& info : classes) {
    const auto found = numbers.find(ComparedName(info));
    if (!doubt.empty() || found == numbers.end() || found->second == info.id) continue;
    doubt = table + " gives '" + info.name + "' the number " + std::to_string(info.id) +
            ", and layout " + set.layout + " " + std::to_string(found->second);
  }
  if (doubt.empty() && first == "background") {
    doubt = table + " gives '" + classes.front().name + "' the number " +
            std::to_string(classes.front().id) + ", which is 'background' in layout " + set.layout;
  }
  if (doubt.empty()) return OkStatus();
  return InvalidArgumentError(doubt + "; say --classes " + JoinPath(input.listing.root, table) +
                              " if the labels hold the numbers of the table, or rename it if they "
                              "hold those of the layout");
}

std::string ClassTableAtTop(const FolderListing& listing) {
  for (const char* name : kTableNames) {
    const bool is_there = listing.Find(name) != nullptr;
    if (is_there && !ListsFiles(JoinPath(listing.root, name))) return name;
  }
  return "";
}

Status FindClasses(const LayoutInput& input, InputSet* set) {
  set->classes = input.classes;
  const std::string table = set->classes.empty() ? ClassTableAtTop(input.listing) : "";
  if (!table.empty()) {
    ASSIGN_OR_RETURN(set->classes, ReadTableAtTop(input.listing, table));
    set->notes.push_back("class table: " + table + ", " + std::to_string(set->classes.size()) +
                         " classes");
  }
  if (set->classes.empty()) {
    return NotFoundError("there is no class table in " + input.listing.root + " (" +
                         kTableNames[0] + " and the like); give one with --classes FILE");
  }
  set->labels.colors_in_files = AllHaveColors(set->classes);
  return OkStatus();
}

const ListedFile* FindBelow(const FolderListing& listing, std::string_view folder,
                            const std::function<bool(std::string_view path)>& fits) {
  auto [begin, end] = listing.FilesBelow(folder);
  for (size_t i = begin; i < end; ++i) {
    if (fits(listing.files[i].path)) return &listing.files[i];
  }
  return nullptr;
}

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string FolderAbove(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(path.substr(0, slash == std::string_view::npos ? 0 : slash));
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool BeginsWith(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

Status AddSplit(const std::string& folder_name, InputSplit pairs, InputSet* set) {
  const std::string usual = UsualSplitName(folder_name);
  pairs.name = usual.empty() ? folder_name : usual;
  if (!IsPlainName(pairs.name)) {
    return InvalidArgumentError("'" + folder_name +
                                "' cannot be the name of a split; use letters, digits, _ . -");
  }
  set->splits.push_back(std::move(pairs));
  return OkStatus();
}

Status AddOrDivide(const std::string& folder_name, InputSplit pairs, InputSet* set) {
  if (!folder_name.empty()) return AddSplit(folder_name, std::move(pairs), set);
  DivideByKey(std::move(pairs), set);
  return OkStatus();
}

namespace {

Status AddUnlabelled(const FolderListing& listing, const std::string& images,
                     const std::string& why, InputSet* set) {
  InputSplit split;
  const auto [begin, end] = listing.FilesBelow(images);
  for (size_t i = begin; i < end; ++i) {
    const std::string& path = listing.files[i].path;
    if (!HasImageExtension(path)) continue;
    ASSIGN_OR_RETURN(std::string key, RecordKey(path));
    split.problems.push_back({std::move(key), why});
    split.problems.back().lacks_label = true;
  }
  return AddSplit("test", std::move(split), set);
}

void LeaveOut(const std::string& what, const std::string& why, UnlabelledImages images,
              InputSet* set) {
  set->notes.push_back(what + " left out: " + why);
  images.reason = what + " has no labels: " + why;
  set->unlabelled.push_back(std::move(images));
}

}  // namespace

Status LeaveOutUnlabelled(const LayoutInput& input, const std::string& folder,
                          const std::string& why, InputSet* set, const std::string& images) {
  const std::string name(NameOf(folder));
  const std::string usual = UsualSplitName(name);
  const std::string split = usual.empty() ? name : usual;
  if (input.options.LeavesOut(split)) return OkStatus();
  if (!images.empty() && split == "test" && input.options.Wants(split)) {
    return AddUnlabelled(input.listing, images, why, set);
  }
  const bool is_needed = usual == "train" || usual == "val" || input.options.Wants(split);
  if (is_needed) {
    return NotFoundError("folder " + folder + " cannot be packed: " + why +
                         ". Add the labels, remove the folder, or choose other splits with "
                         "--split NAME,…");
  }
  LeaveOut("folder " + folder, why, {images.empty() ? folder : images, {}, ""}, set);
  return OkStatus();
}

Status LeaveOutUnnamed(const LayoutInput& input, const std::string& folder, const std::string& why,
                       InputSet* set) {
  const std::string split = UsualSplitName(std::string(NameOf(folder)));
  if (split == "test") return LeaveOutUnlabelled(input, folder, why, set, folder);
  if (!input.options.LeavesOut(split)) LeaveOut("folder " + folder, why, {folder, {}, ""}, set);
  return OkStatus();
}

bool WantsUnlabelled(const LayoutInput& input, const std::string& split, const std::string& why,
                     const std::string& tree, std::set<std::string> files, InputSet* set) {
  if (input.options.Wants(split)) return true;
  LeaveOut("split " + split, why, {tree, std::move(files), ""}, set);
  return false;
}

}  // namespace shardmill
