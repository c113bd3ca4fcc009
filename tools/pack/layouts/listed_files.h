// Finds the files that list files name, also those of other machines.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/inputs/folder_scan.h"

namespace shardmill {

// Belongs to one thread.
class ListedFileFinder {
 public:
  explicit ListedFileFinder(const FolderListing& listing);

  // A relative path is one below the root, or below a folder above it, as "CamVid/train/1.png" is
  // where the root is CamVid and has no such folder. Of an absolute one, of another machine, the
  // longest end that exists below the root, but nothing shorter than an end that leads into a
  // folder of the root. A list cannot leave the root, because only files of the listing are found.
  // nullptr: there is none.
  const ListedFile* Find(std::string_view listed) const;
  // The same, or for a bare name the only image of that name anywhere, with or without its
  // extension.
  const ListedFile* FindImage(std::string_view listed);
  // Of a path that leads nowhere: that it does, and what of it would.
  std::string DescribeMissing(std::string_view listed) const;

 private:
  const ListedFile* FindPath(std::string_view path) const;
  const ListedFile* FindFromAbove(std::string_view path) const;

  const FolderListing& listing_;
  std::vector<std::string> above_;  // what paths may begin with that mean the root: "set/CamVid/"
  std::optional<std::map<std::string, const ListedFile*>> by_name_;  // nullptr: several
};

// The folders that lists call what is the source folder here. One below another cannot be: where
// /a means the source folder, /a/dog/1.png is no 1.png at its top.
class ListedRoots {
 public:
  // Of a file that was found. InvalidArgument names both lines.
  Status Add(const std::string& listed, const ListedFile& found, const std::string& where);
  // What was understood, when a path began with any.
  void AddNote(std::vector<std::string>* notes) const;

 private:
  std::map<std::string, std::string> line_of_root_;
};

// What a line names that may hold one image alone: all of it, or what stands between its quotes.
std::string ImageAlone(const std::string& line, ListedFileFinder* finder);

}  // namespace shardmill
