#include "tools/pack/layouts/listed_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/text_lines.h"

namespace shardmill {
namespace {

constexpr size_t kRootsNoted = 3;

// A path from the root of another machine's disk, of a drive, or of a store: "s3://bucket/x".
bool IsAbsolute(std::string_view path) {
  if (path.empty()) return false;
  const char letter = static_cast<char>(path.front() | 0x20);
  const bool has_drive = letter >= 'a' && letter <= 'z' && path.substr(1, 2) == ":/";
  return path.front() == '/' || path.substr(0, 2) == "~/" || has_drive ||
         path.find("://") != std::string_view::npos;
}

// With slashes, and without "./" at its start.
std::string PlainPath(std::string_view listed) {
  std::string path(listed);
  if (path.find('/') == std::string::npos) std::replace(path.begin(), path.end(), '\\', '/');
  size_t start = 0;
  while (path.compare(start, 2, "./") == 0) start += 2;
  return path.substr(start);
}

// "CamVid/", "SegNet/CamVid/", … of /data/SegNet/CamVid.
void AddFoldersAbove(const std::filesystem::path& root, std::vector<std::string>* above) {
  std::string path;
  for (std::filesystem::path folder = root; folder.has_relative_path();
       folder = folder.parent_path()) {
    if (folder.filename().empty()) continue;  // behind a slash at the end
    path.insert(0, folder.filename().string() + "/");
    if (std::find(above->begin(), above->end(), path) == above->end()) above->push_back(path);
  }
}

// A path of two machines, as "C:/set/i\\1.png", once it names nothing as it stands.
std::string WithSlashes(std::string path) {
  std::replace(path.begin(), path.end(), '\\', '/');
  return PlainPath(path);
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool BeginsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace

ListedFileFinder::ListedFileFinder(const FolderListing& listing) : listing_(listing) {
  std::error_code error;
  // A link and what it leads to may both be what a list calls the folder.
  const std::filesystem::path given =
      std::filesystem::absolute(listing.root, error).lexically_normal();
  if (!error) AddFoldersAbove(given, &above_);
  const std::filesystem::path real = std::filesystem::canonical(listing.root, error);
  if (!error) AddFoldersAbove(real, &above_);
}

const ListedFile* ListedFileFinder::FindFromAbove(std::string_view path) const {
  // A path into a folder that is there means a file of that folder, which is missing.
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos || listing_.HasFolder(path.substr(0, slash))) return nullptr;
  for (const std::string& above : above_) {
    if (BeginsWith(path, above)) return listing_.Find(path.substr(above.size()));
  }
  return nullptr;
}

const ListedFile* ListedFileFinder::Find(std::string_view listed) const {
  const std::string plain = PlainPath(listed);
  const ListedFile* file = FindPath(plain);
  const bool is_mixed = plain.find('\\') != std::string::npos;
  return file == nullptr && is_mixed ? FindPath(WithSlashes(plain)) : file;
}

const ListedFile* ListedFileFinder::FindPath(std::string_view path) const {
  if (!IsAbsolute(path)) {
    const ListedFile* file = listing_.Find(path);
    return file == nullptr ? FindFromAbove(path) : file;
  }
  while (!path.empty()) {
    if (path.front() != '/') {
      if (const ListedFile* file = listing_.Find(path)) return file;
    }
    const size_t slash = path.find('/', 1);
    if (slash == std::string_view::npos) {
      return path.front() == '/' ? listing_.Find(path.substr(1)) : nullptr;
    }
    // A path into a folder that is there means a file of that folder, which is missing.
    if (path.front() != '/' && listing_.HasFolder(path.substr(0, slash))) return nullptr;
    path.remove_prefix(path.front() == '/' ? 1 : slash + 1);
  }
  return nullptr;
}

const ListedFile* ListedFileFinder::FindImage(std::string_view listed) {
  if (const ListedFile* file = Find(listed)) return file;
  // A path that names a folder means the file in it, and no other of the same name.
  if (listed.find_first_of("/\\") != std::string_view::npos) return nullptr;
  if (!by_name_.has_value()) {
    by_name_.emplace();
    for (const ListedFile& file : listing_.files) {
      if (!HasImageExtension(file.path)) continue;
      const std::string name = file.path.substr(file.path.rfind('/') + 1);
      for (const std::string& key : {name, std::string(WithoutImageExtension(name))}) {
        auto [found, is_new] = by_name_->emplace(key, &file);
        if (!is_new && found->second != &file) found->second = nullptr;
      }
    }
  }
  const auto found = by_name_->find(std::string(listed.substr(listed.rfind('/') + 1)));
  return found == by_name_->end() ? nullptr : found->second;
}

// A file of the same name in no folder may be any file, so it is no hint.
std::string ListedFileFinder::DescribeMissing(std::string_view listed) const {
  const std::string message = ", which does not exist in the source folder";
  const std::string plain = WithSlashes(std::string(listed));
  if (IsAbsolute(plain))
    return message + ", and neither does what is left without its first folders";
  std::string_view rest = plain;
  for (size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    rest.remove_prefix(slash + 1);
    if (rest.find('/') == std::string_view::npos || listing_.Find(rest) == nullptr) continue;
    return message + "; " + std::string(rest) + " does: if it is meant, take " +
           plain.substr(0, plain.size() - rest.size()) + " off the paths of the list";
  }
  return message;
}

Status ListedRoots::Add(const std::string& listed, const ListedFile& found,
                        const std::string& where) {
  std::string path = PlainPath(listed);
  if (path != found.path && !EndsWith(path, "/" + found.path)) path = WithSlashes(path);
  // A bare name may mean a file in any folder.
  if (path.find('/') == std::string::npos || path.size() <= found.path.size()) return OkStatus();
  const std::string root = path.substr(0, path.size() - found.path.size());
  if (!line_of_root_.emplace(root, where).second) return OkStatus();
  auto other = line_of_root_.upper_bound(root);
  if (other != line_of_root_.end() && other->first.rfind(root, 0) != 0) other = line_of_root_.end();
  for (size_t slash = root.find('/');
       slash != std::string::npos && slash + 1 < root.size() && other == line_of_root_.end();
       slash = root.find('/', slash + 1)) {
    other = line_of_root_.find(root.substr(0, slash + 1));
  }
  if (other == line_of_root_.end()) return OkStatus();
  return InvalidArgumentError(where + " names " + listed + ", which is found if " + root +
                              " means the source folder, and by " + other->second + " it is " +
                              other->first + " that does: one of the two files is not there. " +
                              "Write paths below the source folder into the list");
}

void ListedRoots::AddNote(std::vector<std::string>* notes) const {
  if (line_of_root_.empty()) return;
  std::string text;
  size_t count = 0;
  for (const auto& [root, line] : line_of_root_) {
    if (++count > kRootsNoted) break;
    text += (text.empty() ? "" : ", and ") + line + " begins with " + root;
  }
  std::string note =
      text + (line_of_root_.size() > kRootsNoted ? ", …" : "") + ": taken for the source folder";
  if (std::find(notes->begin(), notes->end(), note) == notes->end()) {
    notes->push_back(std::move(note));
  }
}

std::string ImageAlone(const std::string& line, ListedFileFinder* finder) {
  if (finder->FindImage(line) != nullptr) return line;
  const Result<std::vector<std::string>> fields = SplitFields(line, '\t');
  return fields.ok() ? fields->front() : line;
}

}  // namespace shardmill
