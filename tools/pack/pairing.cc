#include "tools/pack/pairing.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tools/pack/file_format.h"
#include "tools/pack/record_key.h"

namespace shardmill {
namespace {

using FilesByStem = std::map<std::string, const ListedFile*>;

// The images below a folder by their path in it without extension.
Result<FilesByStem> CollectStems(const FolderListing& listing, const std::string& folder,
                                 std::vector<std::string>* notes) {
  FilesByStem stems;
  auto [begin, end] = listing.FilesBelow(folder);
  uint64_t others = 0;
  for (size_t i = begin; i < end; ++i) {
    const ListedFile& file = listing.files[i];
    if (!HasImageExtension(file.path)) {
      if (others++ == 0) notes->push_back("");
      notes->back() = std::to_string(others) + " without an image's extension left out in " +
                      folder + ", the last one " + file.path;
      continue;
    }
    std::string stem(WithoutImageExtension(file.path).substr(folder.size() + 1));
    auto [other, is_new] = stems.emplace(stem, &file);
    if (!is_new) {
      return InvalidArgumentError(file.path + " and " + other->second->path +
                                  " have the same stem, so their partner is not certain; rename or "
                                  "move one of them");
    }
  }
  return stems;
}

// The label of an image stem; takes it out of `labels`.
Result<const ListedFile*> TakeLabel(const std::string& stem, const std::string& suffix,
                                    FilesByStem* labels) {
  auto plain = labels->find(stem);
  auto suffixed = suffix.empty() ? labels->end() : labels->find(stem + suffix);
  if (plain != labels->end() && suffixed != labels->end()) {
    return InvalidArgumentError(plain->second->path + " and " + suffixed->second->path +
                                " could both be the label of one image; remove one of them");
  }
  auto found = plain != labels->end() ? plain : suffixed;
  if (found == labels->end()) return static_cast<const ListedFile*>(nullptr);
  const ListedFile* label = found->second;
  labels->erase(found);
  return label;
}

}  // namespace

Result<InputSplit> PairByStem(const FolderListing& listing, const std::string& split,
                              const PairFolders& folders, std::vector<std::string>* notes) {
  InputSplit result;
  result.name = split;
  ASSIGN_OR_RETURN(FilesByStem images, CollectStems(listing, folders.images, notes));
  ASSIGN_OR_RETURN(FilesByStem labels, CollectStems(listing, folders.labels, notes));
  for (const auto& [stem, image] : images) {
    ASSIGN_OR_RETURN(std::string key, RecordKey(image->path));
    ASSIGN_OR_RETURN(const ListedFile* label, TakeLabel(stem, folders.label_suffix, &labels));
    if (label == nullptr) {
      result.problems.push_back({key, "there is no label with this stem in " + folders.labels});
      continue;
    }
    result.samples.push_back({key, {image->path, image->bytes}, {label->path, label->bytes}, 0});
  }
  for (const auto& [stem, label] : labels) {
    ASSIGN_OR_RETURN(std::string key, RecordKey(label->path));
    result.problems.push_back({key, "there is no image with this stem in " + folders.images});
  }
  return result;
}

Status SortAndCheckKeys(InputSet* set) {
  std::map<std::string_view, std::string_view> split_of_key;
  auto less = [](const auto& a, const auto& b) { return a.key < b.key; };
  for (InputSplit& split : set->splits) {
    std::sort(split.samples.begin(), split.samples.end(), less);
    std::sort(split.problems.begin(), split.problems.end(), less);
    for (const Sample& sample : split.samples) {
      auto [other, is_new] = split_of_key.emplace(sample.key, split.name);
      if (is_new) continue;
      std::string where =
          other->second == split.name
              ? "twice in split " + split.name
              : "in the splits " + std::string(other->second) + " and " + split.name;
      return InvalidArgumentError(sample.key + " stands " + where + "; list each image once");
    }
  }
  return OkStatus();
}

}  // namespace shardmill
