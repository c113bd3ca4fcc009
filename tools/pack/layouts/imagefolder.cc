#include <algorithm>
#include <map>
#include <utility>

#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/record_key.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/labels/class_table.h"
#include "tools/pack/layouts/class_folders.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"

namespace shardmill {
namespace {

bool HasFilesBelow(const FolderListing& listing, const std::string& folder, const FileKind& kind) {
  auto [begin, end] = listing.FilesBelow(folder);
  return std::any_of(listing.files.begin() + static_cast<int64_t>(begin),
                     listing.files.begin() + static_cast<int64_t>(end),
                     [&](const ListedFile& file) { return kind.matches(file.path); });
}

bool HasFilesDirectlyIn(const FolderListing& listing, const std::string& folder,
                        const FileKind& kind) {
  std::vector<std::string> names = listing.FilesIn(folder);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return kind.matches(name); });
}

bool LooksLikeClassFolders(const FolderListing& listing, const std::string& parent,
                           const FileKind& kind) {
  std::vector<std::string> classes = listing.FoldersIn(parent);
  if (classes.empty() || HasFilesDirectlyIn(listing, parent, kind)) return false;
  bool any_file = false;
  for (const std::string& name : classes) {
    const std::string folder = parent.empty() ? name : parent + "/" + name;
    any_file = any_file || HasFilesBelow(listing, folder, kind);
  }
  return any_file;
}

class ClassFolderReader {
 public:
  ClassFolderReader(const FolderListing& listing, const FileKind& kind, InputSet* set)
      : listing_(listing), kind_(kind), set_(set) {}

  // Classes are the sorted folder names of `parent`; empty folders keep their id.
  void MakeClasses(const std::string& parent);
  Status ReadSplit(const std::string& folder, const std::string& name);
  void NoteOthers() const;  // files of other kinds
  Status ReadAndSplit();

 private:
  Status ReadSamples(const std::string& parent, InputSplit* split);
  Status AddFile(const ListedFile& file, size_t parent_bytes, InputSplit* split);
  Result<uint32_t> ClassOf(const std::string& name, const std::string& path);

  const FolderListing& listing_;
  const FileKind& kind_;
  InputSet* set_;
  uint64_t others_ = 0;
  std::string last_other_;
  std::map<std::string, uint32_t> ids_;  // of the class table, by name
};

void ClassFolderReader::MakeClasses(const std::string& parent) {
  std::string moved;  // the first number that is not its own id
  bool all_numbers = true;
  for (const std::string& name : listing_.FoldersIn(parent)) {
    ClassInfo info;
    info.id = static_cast<uint32_t>(set_->classes.size());
    info.name = name;
    all_numbers = all_numbers && name.find_first_not_of("0123456789") == std::string::npos;
    if (moved.empty() && name != std::to_string(info.id)) moved = name;
    set_->classes.push_back(std::move(info));
  }
  if (!all_numbers || moved.empty()) return;
  set_->notes.push_back("the class folders are numbers in the order of text, and not the ids: " +
                        moved + " has another id; --classes FILE gives their order");
}

Result<uint32_t> ClassFolderReader::ClassOf(const std::string& name, const std::string& path) {
  if (ids_.empty()) {
    for (const ClassInfo& info : set_->classes) ids_[info.name] = info.id;
  }
  auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  return InvalidArgumentError("folder '" + name + "' of " + path +
                              " is not in the class table, which comes from the train split or "
                              "--classes FILE; all splits share one table");
}

Status ClassFolderReader::AddFile(const ListedFile& file, size_t parent_bytes, InputSplit* split) {
  if (kind_.unreadable != nullptr && kind_.unreadable(file.path)) {
    ASSIGN_OR_RETURN(std::string key, RecordKey(file.path));
    split->problems.push_back(
        {std::move(key), "files of this format cannot be read; convert it to PNG or JPEG"});
    return OkStatus();
  }
  if (!kind_.matches(file.path)) {
    ++others_;
    last_other_ = file.path;
    return OkStatus();
  }
  ASSIGN_OR_RETURN(std::string key, RecordKey(file.path));
  size_t slash = file.path.find('/', parent_bytes);
  if (slash == std::string::npos) {
    split->problems.push_back({key, "it lies in no class folder"});
    return OkStatus();
  }
  std::string name = file.path.substr(parent_bytes, slash - parent_bytes);
  ASSIGN_OR_RETURN(uint32_t class_id, ClassOf(name, file.path));
  Sample sample;
  sample.key = key;
  sample.image = {file.path, file.bytes, file.changed_ns};
  sample.class_id = class_id;
  split->samples.push_back(std::move(sample));
  return OkStatus();
}

void ClassFolderReader::NoteOthers() const {
  if (others_ == 0) return;
  set_->notes.push_back(std::to_string(others_) + " files without an " + kind_.owner +
                        " extension left out, the last one " + last_other_);
}

Status ClassFolderReader::ReadSamples(const std::string& parent, InputSplit* split) {
  auto [begin, end] = listing_.FilesBelow(parent);
  const size_t parent_bytes = parent.empty() ? 0 : parent.size() + 1;
  for (size_t i = begin; i < end; ++i) {
    RETURN_IF_ERROR(AddFile(listing_.files[i], parent_bytes, split));
  }
  return OkStatus();
}

Status ClassFolderReader::ReadSplit(const std::string& folder, const std::string& name) {
  InputSplit split;
  split.name = name;
  RETURN_IF_ERROR(ReadSamples(folder, &split));
  set_->splits.push_back(std::move(split));
  return OkStatus();
}

Status ClassFolderReader::ReadAndSplit() {
  InputSplit all;
  RETURN_IF_ERROR(ReadSamples("", &all));
  DivideByKey(std::move(all), set_);
  return OkStatus();
}

Status CheckClassNames(const std::vector<ClassInfo>& classes) {
  if (classes.size() > kMaxClasses) return InvalidArgumentError("more than 65,535 class folders");
  for (const ClassInfo& info : classes) {
    ASSIGN_OR_RETURN(std::string key, RecordKey(info.name));
    if (key != info.name) {
      return InvalidArgumentError("the class folder '" + key +
                                  "' has a name that is not UTF-8 without control characters; "
                                  "rename it");
    }
  }
  return OkStatus();
}

}  // namespace

std::vector<std::string> SplitFoldersAtTop(const FolderListing& listing) {
  std::vector<std::string> splits;
  for (const std::string& folder : listing.FoldersIn("")) {
    if (!UsualSplitName(folder).empty()) splits.push_back(folder);
  }
  // The folders of train number the classes.
  std::stable_partition(splits.begin(), splits.end(), [](const std::string& folder) {
    return UsualSplitName(folder) == "train";
  });
  return splits;
}

std::string RecognizeClassFolders(const FolderListing& listing, const FileKind& kind) {
  std::vector<std::string> splits = SplitFoldersAtTop(listing);
  const std::string parent = splits.empty() ? "" : splits.front();
  if (!LooksLikeClassFolders(listing, parent, kind)) return "";
  std::vector<std::string> classes = listing.FoldersIn(parent);
  return std::string(kind.files) + " lie in folders named by class (" + classes.front() +
         (classes.size() > 1 ? ", " + classes[1] + (classes.size() > 2 ? ", …" : "") : "") + ")";
}

Status ReadClassFolders(const LayoutInput& input, const FileKind& kind, InputSet* set) {
  const FolderListing& listing = input.listing;
  const std::vector<ClassInfo>& classes = input.classes;
  set->task = Task::kClassification;
  set->classes = classes;
  ClassFolderReader reader(listing, kind, set);
  std::vector<std::string> folders = SplitFoldersAtTop(listing);
  if (folders.empty()) {
    if (classes.empty()) reader.MakeClasses("");
    RETURN_IF_ERROR(CheckClassNames(set->classes));
    RETURN_IF_ERROR(reader.ReadAndSplit());
    reader.NoteOthers();
    return OkStatus();
  }
  if (classes.empty()) {
    if (UsualSplitName(folders.front()) != "train") {
      return InvalidArgumentError(
          "there is no train folder, whose class folders number the "
          "classes; give the class table with --classes FILE");
    }
    reader.MakeClasses(folders.front());
  }
  RETURN_IF_ERROR(CheckClassNames(set->classes));
  set->unlisted.reason = "it lies in no folder of a class of train, val or test";
  for (const std::string& folder : listing.FoldersIn("")) {
    const std::string split = UsualSplitName(folder);
    if (split.empty()) {
      set->notes.push_back("folder " + folder + " is no split and was left out");
      set->unlisted.trees.push_back(folder);
    } else if (listing.FoldersIn(folder).empty() && HasFilesDirectlyIn(listing, folder, kind)) {
      RETURN_IF_ERROR(LeaveOutUnlabelled(input, folder,
                                         "its files lie in no folders of classes (" + folder +
                                             "/CLASS/…), which say the classes in this layout",
                                         set));
      set->unlisted.trees.push_back(folder);
    } else {
      RETURN_IF_ERROR(reader.ReadSplit(folder, split));
    }
  }
  reader.NoteOthers();
  return OkStatus();
}

const FileKind& ImageFiles() {
  static const FileKind images = {
      [](const std::string& path) { return HasImageExtension(path); }, "images", "image's",
      [](const std::string& path) { return HasForeignExtension(path); }};
  return images;
}

std::string RecognizeImageFolder(const FolderListing& listing) {
  return RecognizeClassFolders(listing, ImageFiles());
}

Status ReadImageFolder(const LayoutInput& input, InputSet* set) {
  return ReadClassFolders(input, ImageFiles(), set);
}

}  // namespace shardmill
