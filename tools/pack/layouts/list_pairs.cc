#include "tools/pack/layouts/list_pairs.h"

#include <algorithm>
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/pairing.h"
#include "tools/pack/record_key.h"

namespace shardmill {
namespace {

struct FoundPair {
  const ListedFile* image = nullptr;
  const ListedFile* label = nullptr;
};

class PairListReader {
 public:
  PairListReader(const FolderListing& listing, std::string list_file)
      : listing_(listing), finder_(listing), list_file_(std::move(list_file)) {}

  Result<std::map<std::string, InputSplit>> Read();

 private:
  Status ReadRow(const ListRow& row);
  Status AddProblem(const ListRow& row);
  Status AddSample(const ListRow& row, const FoundPair& found);
  std::string Where(uint64_t line) const { return list_file_ + " line " + std::to_string(line); }

  const FolderListing& listing_;
  const ListedFileFinder finder_;
  const std::string list_file_;
  std::map<std::string, InputSplit> splits_;
  std::map<std::string, uint64_t> line_of_image_;
};

Result<std::map<std::string, InputSplit>> PairListReader::Read() {
  ASSIGN_OR_RETURN(const std::vector<ListRow> rows,
                   ReadListRows(JoinPath(listing_.root, list_file_)));
  for (const ListRow& row : rows) RETURN_IF_ERROR(ReadRow(row));
  return std::move(splits_);
}

Status PairListReader::ReadRow(const ListRow& row) {
  FoundPair found;
  for (const ListedPair& pair : row.cuts) {
    const ListedFile* image = finder_.Find(pair.image);
    const ListedFile* label = finder_.Find(pair.label);
    if (image == nullptr || label == nullptr) continue;
    if (found.image != nullptr) {
      return InvalidArgumentError(Where(row.line) +
                                  " can be cut into two paths in more than one way; put a tab "
                                  "between them or quotes around them");
    }
    found = {image, label};
  }
  return found.image == nullptr ? AddProblem(row) : AddSample(row, found);
}

Status PairListReader::AddProblem(const ListRow& row) {
  // With several blanks in the line the middle one is the likeliest border.
  const ListedPair& pair = row.cuts[row.cuts.size() / 2];
  ASSIGN_OR_RETURN(std::string key, RecordKey(pair.image));
  if (row.cuts.size() > 1) {
    splits_[row.split].problems.push_back(
        {key, Where(row.line) + " has too many words, " + std::to_string(row.cuts.size() + 1) +
                  " in place of 2, and cut at no blank does it name two files that exist; put a "
                  "tab between paths that hold blanks, or quotes around them"});
    return OkStatus();
  }
  const bool image_missing = finder_.Find(pair.image) == nullptr;
  splits_[row.split].problems.push_back(
      {key, Where(row.line) + " names " +
                (image_missing ? "image " + pair.image : "label " + pair.label) +
                ", which does not exist in the source folder"});
  return OkStatus();
}

Status PairListReader::AddSample(const ListRow& row, const FoundPair& found) {
  auto [other, is_new] = line_of_image_.emplace(found.image->path, row.line);
  if (!is_new) {
    return InvalidArgumentError(Where(row.line) + " names " + found.image->path + ", as line " +
                                std::to_string(other->second) + " does; list each image once");
  }
  ASSIGN_OR_RETURN(Sample sample, MakePair(*found.image, *found.label));
  splits_[row.split].samples.push_back(std::move(sample));
  return OkStatus();
}

}  // namespace

Result<std::map<std::string, InputSplit>> ReadPairList(const FolderListing& listing,
                                                       const std::string& list_file) {
  return PairListReader(listing, list_file).Read();
}

}  // namespace shardmill
