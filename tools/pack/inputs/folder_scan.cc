#include "tools/pack/inputs/folder_scan.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "reader/base/file.h"
#include "reader/base/interrupt.h"
#include "reader/base/ordered_pipeline.h"
#include "reader/names.h"

namespace shardmill {
namespace {

constexpr size_t kDeepest = 128;
// Names that are asked for at once; fewer than so many batches are not worth threads.
constexpr size_t kNamesAtOnce = 16384;
constexpr uint64_t kNamesPerBatch = 64;
constexpr size_t kBatchesForThreads = 8;

struct FolderId {
  dev_t device;
  ino_t inode;
  bool operator==(const FolderId& other) const {
    return device == other.device && inode == other.inode;
  }
};

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

// What the system says of a name.
struct FileState {
  int error = 0;
  mode_t mode = 0;
  uint64_t bytes = 0;
  int64_t changed_ns = 0;
  FolderId id = {};
};

FileState StateOf(int folder, const std::string& name) {
  struct stat info;
  FileState state;
  if (::fstatat(folder, name.c_str(), &info, 0) != 0) {
    state.error = errno;
    return state;
  }
  state.mode = info.st_mode;
  state.bytes = static_cast<uint64_t>(info.st_size);
  state.changed_ns = int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec;
  state.id = {info.st_dev, info.st_ino};
  return state;
}

bool IsHidden(std::string_view name) {
  return name[0] == '.' || name == "Thumbs.db" || name == "desktop.ini" || name == "__MACOSX";
}

// A finished set, or one that is not complete yet.
bool IsPackedSet(DIR* folder, const std::vector<std::string>& names) {
  struct stat info;
  if (::fstatat(::dirfd(folder), kPackStateName, &info, 0) == 0) return true;
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return ParseShardFileName(name).has_value(); });
}

class Scanner {
 public:
  Scanner(int threads, const std::string& output, FolderListing* listing)
      : threads_(threads), listing_(listing) {
    struct stat info;
    if (!output.empty() && ::stat(output.c_str(), &info) == 0) output_ = {info.st_dev, info.st_ino};
  }

  Status ScanRoot();

 private:
  Status Scan(const std::string& below, FolderId id);
  Status Visit(const std::string& path, const FileState& state);
  Result<std::vector<std::string>> Names(const std::string& path, DIR* folder);
  // The states of `count` names from `first` on.
  Result<std::vector<FileState>> Look(DIR* folder, const std::string* first, size_t count) const;

  // Lists a folder below the root, unless nothing is in it but packed sets.
  Status ScanBelow(const std::string& path, FolderId id);

  const int threads_;
  std::optional<FolderId> output_;
  size_t packed_sets_ = 0;  // that were left out
  FolderListing* listing_;
  std::vector<FolderId> open_;  // the folders above the current one
};

Status Scanner::ScanRoot() {
  struct stat info;
  const std::string& root = listing_->root;
  if (::stat(root.c_str(), &info) != 0) {
    Status status = ErrnoError("cannot read folder " + root, errno);
    return errno == ENOENT ? NotFoundError(status.message()) : status;
  }
  if (!S_ISDIR(info.st_mode)) return InvalidArgumentError(root + " is not a folder");
  return Scan("", {info.st_dev, info.st_ino});
}

// Those that are not hidden, in order.
Result<std::vector<std::string>> Scanner::Names(const std::string& path, DIR* folder) {
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(folder)) {
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (IsHidden(name)) {
      ++listing_->hidden;
    } else {
      names.push_back(std::move(name));
    }
  }
  if (errno != 0) return ErrnoError("cannot read folder " + path, errno);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<FileState>> Scanner::Look(DIR* folder, const std::string* first,
                                             size_t count) const {
  PipelineOptions pipeline;
  pipeline.threads = count < kBatchesForThreads * kNamesPerBatch ? 1 : threads_;
  pipeline.batch = kNamesPerBatch;
  std::vector<FileState> states;
  if (pipeline.threads == 1) {
    for (size_t i = 0; i < count; ++i) states.push_back(StateOf(::dirfd(folder), first[i]));
    return states;
  }
  RETURN_IF_ERROR(RunOrdered<FileState>(
      pipeline, count,
      [&](uint64_t index, int) -> Result<FileState> {
        return StateOf(::dirfd(folder), first[index]);
      },
      [&](uint64_t, const FileState& state) {
        states.push_back(state);
        return OkStatus();
      }));
  return states;
}

Status Scanner::Scan(const std::string& below, FolderId id) {
  const std::string path = JoinPath(listing_->root, below);
  if (open_.size() >= kDeepest) {
    return InvalidArgumentError("more than " + std::to_string(kDeepest) +
                                " folders in each other at " + path);
  }
  open_.push_back(id);
  const OpenFolder folder(::opendir(path.c_str()));
  if (folder == nullptr) return ErrnoError("cannot read folder " + path, errno);
  ASSIGN_OR_RETURN(const std::vector<std::string> names, Names(path, folder.get()));
  if (!below.empty() && IsPackedSet(folder.get(), names)) {
    ++packed_sets_;
    listing_->notes.push_back("a folder of shards is no input, and was left out: " + below);
    open_.pop_back();
    return OkStatus();
  }
  for (size_t begin = 0; begin < names.size(); begin += kNamesAtOnce) {
    RETURN_IF_ERROR(CheckInterrupt());
    const size_t count = std::min(kNamesAtOnce, names.size() - begin);
    ASSIGN_OR_RETURN(const std::vector<FileState> states, Look(folder.get(), &names[begin], count));
    for (size_t i = 0; i < count; ++i) {
      RETURN_IF_ERROR(Visit(JoinPath(below, names[begin + i]), states[i]));
    }
  }
  open_.pop_back();
  return OkStatus();
}

Status Scanner::Visit(const std::string& path, const FileState& state) {
  if (state.error != 0) {
    if (state.error != ENOENT && state.error != ELOOP) {
      return ErrnoError("cannot read " + JoinPath(listing_->root, path), state.error);
    }
    listing_->unreadable.push_back({path, "it is a link that leads to nothing"});
    return OkStatus();
  }
  if (S_ISREG(state.mode)) {
    listing_->files.push_back({path, state.bytes, state.changed_ns});
    return OkStatus();
  }
  if (!S_ISDIR(state.mode)) {
    listing_->unreadable.push_back({path, "it is neither a file nor a folder"});
    return OkStatus();
  }
  if (std::find(open_.begin(), open_.end(), state.id) != open_.end()) {
    listing_->notes.push_back("link to a folder above itself, not followed: " + path);
    return OkStatus();
  }
  return ScanBelow(path, state.id);
}

Status Scanner::ScanBelow(const std::string& path, FolderId id) {
  if (output_.has_value() && *output_ == id) {
    ++packed_sets_;
    listing_->notes.push_back("the output folder is no input, and was left out: " + path);
    return OkStatus();
  }
  const size_t files = listing_->files.size(), folders = listing_->folders.size();
  const size_t packed_sets = packed_sets_;
  listing_->folders.push_back(path);
  RETURN_IF_ERROR(Scan(path, id));
  const bool is_bare = listing_->files.size() == files && listing_->folders.size() == folders + 1;
  if (packed_sets_ > packed_sets && is_bare) listing_->folders.pop_back();
  return OkStatus();
}

// Calls visit(name) for what lies directly in `folder`, out of sorted paths.
template <typename Paths, typename PathOf>
std::vector<std::string> DirectlyIn(const Paths& paths, std::string_view folder, PathOf path_of) {
  std::vector<std::string> names;
  const std::string prefix = folder.empty() ? "" : std::string(folder) + "/";
  for (const auto& item : paths) {
    std::string_view path = path_of(item);
    if (path.substr(0, prefix.size()) != prefix) continue;
    std::string_view name = path.substr(prefix.size());
    if (name.find('/') == std::string_view::npos) names.emplace_back(name);
  }
  return names;
}

}  // namespace

const ListedFile* FolderListing::Find(std::string_view path) const {
  auto found = std::lower_bound(
      files.begin(), files.end(), path,
      [](const ListedFile& file, std::string_view wanted) { return file.path < wanted; });
  return found != files.end() && found->path == path ? &*found : nullptr;
}

bool FolderListing::HasFolder(std::string_view path) const {
  return std::binary_search(folders.begin(), folders.end(), path);
}

std::pair<size_t, size_t> FolderListing::FilesBelow(std::string_view folder) const {
  if (folder.empty()) return {0, files.size()};
  const std::string first = std::string(folder) + "/";
  const std::string end = std::string(folder) + "0";  // '0' follows '/'
  auto less = [](const ListedFile& file, const std::string& wanted) { return file.path < wanted; };
  auto from = std::lower_bound(files.begin(), files.end(), first, less);
  auto to = std::lower_bound(from, files.end(), end, less);
  return {static_cast<size_t>(from - files.begin()), static_cast<size_t>(to - files.begin())};
}

std::vector<std::string> FolderListing::FoldersIn(std::string_view folder) const {
  return DirectlyIn(folders, folder,
                    [](const std::string& path) -> std::string_view { return path; });
}

std::vector<std::string> FolderListing::FilesIn(std::string_view folder) const {
  return DirectlyIn(files, folder,
                    [](const ListedFile& file) -> std::string_view { return file.path; });
}

Result<FolderListing> ScanFolder(const std::string& root, int threads, const std::string& output) {
  FolderListing listing;
  listing.root = root;
  RETURN_IF_ERROR(Scanner(threads, output, &listing).ScanRoot());
  std::sort(listing.files.begin(), listing.files.end(),
            [](const ListedFile& a, const ListedFile& b) { return a.path < b.path; });
  std::sort(listing.folders.begin(), listing.folders.end());
  return listing;
}

}  // namespace shardmill
