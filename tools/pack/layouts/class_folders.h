// Files in folders named by class: split/class/…/file, or class/…/file. The layout imagefolder, and
// others that differ in the files alone.
#pragma once

#include <string>
#include <vector>

#include "tools/pack/layouts/layout.h"

namespace shardmill {

struct FileKind {
  bool (*matches)(const std::string& path);
  const char* files;  // "images", for people
  const char* owner;  // "image's"
  // Files of the same use that cannot be read: they count as failed. May be null.
  bool (*unreadable)(const std::string& path) = nullptr;
};

// The folders at the top that are splits, train first; empty: the classes lie at the top.
std::vector<std::string> SplitFoldersAtTop(const FolderListing& listing);

std::string RecognizeClassFolders(const FolderListing& listing, const FileKind& kind);
Status ReadClassFolders(const LayoutInput& input, const FileKind& kind, InputSet* set);

}  // namespace shardmill
