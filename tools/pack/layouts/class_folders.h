// Files in folders named by class: split/class/…/file, or class/…/file. The layout imagefolder, and
// others that differ in the files alone.
#pragma once

#include <string>

#include "tools/pack/layout.h"

namespace shardmill {

struct FileKind {
  bool (*matches)(const std::string& path);
  const char* files;  // "images", for people
  const char* owner;  // "image's"
};

std::string RecognizeClassFolders(const FolderListing& listing, const FileKind& kind);
Status ReadClassFolders(const LayoutInput& input, const FileKind& kind, InputSet* set);

}  // namespace shardmill
