// Lists a source folder: every regular file with its size, in the order of its path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

struct ListedFile {
  std::string path;  // below the root, '/' between the parts
  uint64_t bytes = 0;
  int64_t changed_ns = 0;  // since 1970
};

// What should perhaps be a file and cannot be read.
struct UnreadableEntry {
  std::string path;
  std::string reason;
};

struct FolderListing {
  std::string root;
  std::vector<ListedFile> files;     // sorted by path, bytes compared
  std::vector<std::string> folders;  // likewise; the root is not in it
  uint64_t hidden = 0;               // hidden files and what desktops leave behind; not listed
  std::vector<UnreadableEntry> unreadable;  // dead links, pipes and devices
  std::vector<std::string> notes;           // link loops, packed sets

  const ListedFile* Find(std::string_view path) const;  // nullptr: there is none
  bool HasFolder(std::string_view path) const;
  // The files below `folder`: [begin, end) of `files`. "" is the root.
  std::pair<size_t, size_t> FilesBelow(std::string_view folder) const;
  // Names of the folders (or files) that lie directly in `folder`; "" is the root.
  std::vector<std::string> FoldersIn(std::string_view folder) const;
  std::vector<std::string> FilesIn(std::string_view folder) const;
};

// Packed sets below the root are no inputs: folders of shards, unfinished ones, and `output`, with
// the folders above that hold nothing else. They are left out and noted.
// Follows symbolic links, except into a folder that is already open above. NotFound when `root`
// does not exist; Io when a folder cannot be read; Cancelled after an interrupt. The listing is the
// same on any number of threads.
Result<FolderListing> ScanFolder(const std::string& root, int threads = 1,
                                 const std::string& output = "");

}  // namespace shardmill
