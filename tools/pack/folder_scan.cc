#include "tools/pack/folder_scan.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "reader/base/file.h"
#include "reader/base/interrupt.h"

namespace shardmill {
namespace {

constexpr size_t kDeepest = 128;

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

bool IsHidden(std::string_view name) {
  return name[0] == '.' || name == "Thumbs.db" || name == "desktop.ini" || name == "__MACOSX";
}

class Scanner {
 public:
  explicit Scanner(FolderListing* listing) : listing_(listing) {}

  Status ScanRoot();

 private:
  Status Scan(const std::string& below, FolderId id);
  Status Visit(const std::string& path);
  Result<std::vector<std::string>> Names(const std::string& path);

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

Result<std::vector<std::string>> Scanner::Names(const std::string& path) {
  std::unique_ptr<DIR, CloseFolder> folder(::opendir(path.c_str()));
  if (folder == nullptr) return ErrnoError("cannot read folder " + path, errno);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  if (errno != 0) return ErrnoError("cannot read folder " + path, errno);
  std::sort(names.begin(), names.end());
  return names;
}

Status Scanner::Scan(const std::string& below, FolderId id) {
  RETURN_IF_ERROR(CheckInterrupt());
  if (open_.size() >= kDeepest) {
    return InvalidArgumentError("more than " + std::to_string(kDeepest) +
                                " folders in each other at " + JoinPath(listing_->root, below));
  }
  open_.push_back(id);
  ASSIGN_OR_RETURN(std::vector<std::string> names, Names(JoinPath(listing_->root, below)));
  for (const std::string& name : names) {
    if (IsHidden(name)) {
      ++listing_->hidden;
    } else {
      RETURN_IF_ERROR(Visit(JoinPath(below, name)));
    }
  }
  open_.pop_back();
  return OkStatus();
}

Status Scanner::Visit(const std::string& path) {
  struct stat info;
  const std::string full = JoinPath(listing_->root, path);
  if (::stat(full.c_str(), &info) != 0) {
    if (errno != ENOENT && errno != ELOOP) return ErrnoError("cannot read " + full, errno);
    listing_->unreadable.push_back({path, "it is a link that leads to nothing"});
    return OkStatus();
  }
  if (S_ISREG(info.st_mode)) {
    listing_->files.push_back({path, static_cast<uint64_t>(info.st_size)});
    return OkStatus();
  }
  if (!S_ISDIR(info.st_mode)) {
    listing_->unreadable.push_back({path, "it is neither a file nor a folder"});
    return OkStatus();
  }
  FolderId id = {info.st_dev, info.st_ino};
  if (std::find(open_.begin(), open_.end(), id) != open_.end()) {
    listing_->notes.push_back("link to a folder above itself, not followed: " + path);
    return OkStatus();
  }
  listing_->folders.push_back(path);
  return Scan(path, id);
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

Result<FolderListing> ScanFolder(const std::string& root) {
  FolderListing listing;
  listing.root = root;
  RETURN_IF_ERROR(Scanner(&listing).ScanRoot());
  std::sort(listing.files.begin(), listing.files.end(),
            [](const ListedFile& a, const ListedFile& b) { return a.path < b.path; });
  std::sort(listing.folders.begin(), listing.folders.end());
  return listing;
}

}  // namespace shardmill
