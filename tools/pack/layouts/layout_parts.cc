#include "tools/pack/layouts/layout_parts.h"

#include <utility>

#include "reader/base/file.h"
#include "reader/names.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/record_key.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/labels/class_table.h"

namespace shardmill {
namespace {

constexpr const char* kTableNames[] = {"class_dict.csv",   "classes.csv", "labelmap.txt",
                                       "label_colors.txt", "classes.txt", "classes.json",
                                       "labels.txt",       "labels.json", "_classes.csv"};

}  // namespace

Status UseClasses(const LayoutInput& input, std::vector<ClassInfo> own, InputSet* set) {
  set->classes = input.classes.empty() ? std::move(own) : input.classes;
  const bool mapped = set->labels.map.has_value() && set->labels.map->MapsNumbers();
  if (input.classes.empty() || !mapped || input.options.map.has_value() ||
      input.classes.size() == own.size()) {
    return OkStatus();
  }
  return InvalidArgumentError(
      "layout " + set->layout + " turns the values of its label files into " +
      std::to_string(own.size()) + " classes, and --classes has " +
      std::to_string(input.classes.size()) +
      "; say what the values become with --map FILE, or --map none for the values themselves");
}

std::string ClassTableAtTop(const FolderListing& listing) {
  for (const char* name : kTableNames) {
    if (listing.Find(name) != nullptr) return name;
  }
  return "";
}

Status FindClasses(const LayoutInput& input, InputSet* set) {
  set->classes = input.classes;
  for (const char* name : kTableNames) {
    if (!set->classes.empty()) break;
    if (input.listing.Find(name) == nullptr) continue;
    ASSIGN_OR_RETURN(set->classes, ReadClassTable(JoinPath(input.listing.root, name)));
    set->notes.push_back("class table: " + std::string(name) + ", " +
                         std::to_string(set->classes.size()) + " classes");
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
