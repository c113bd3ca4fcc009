#include <algorithm>
#include <map>
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/file_format.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"
#include "tools/pack/pairing.h"
#include "tools/pack/record_key.h"
#include "tools/pack/split_names.h"
#include "tools/pack/text_lines.h"

namespace shardmill {
namespace {

constexpr const char* kSplits[] = {"train", "val", "test"};
constexpr uint32_t kIgnore = 11;

// Names and display colours in the order of the ids.
std::vector<ClassInfo> CamvidClasses() {
  static constexpr std::pair<const char*, uint32_t> kClasses[] = {
      {"sky", 0x808080},      {"building", 0x800000},   {"pole", 0xC0C080},     {"road", 0x804080},
      {"pavement", 0x3C28DE}, {"tree", 0x808000},       {"sign", 0xC08080},     {"fence", 0x404080},
      {"car", 0x400080},      {"pedestrian", 0x404000}, {"bicyclist", 0x0080C0}};
  std::vector<ClassInfo> classes;
  for (const auto& [name, color] : kClasses) {
    classes.push_back({static_cast<uint32_t>(classes.size()), name, color});
  }
  return classes;
}

// The file that a listed path means: the longest end of the path that exists below the root. A
// list cannot leave the root, because only files of the listing are found.
const ListedFile* Reroot(const FolderListing& listing, std::string_view listed) {
  std::string with_slashes(listed);
  if (listed.find('/') == std::string_view::npos) {
    std::replace(with_slashes.begin(), with_slashes.end(), '\\', '/');
  }
  std::string_view path = with_slashes;
  while (!path.empty()) {
    if (path.front() != '/') {
      if (const ListedFile* file = listing.Find(path)) return file;
    }
    size_t slash = path.find('/', 1);
    if (slash == std::string_view::npos) {
      return path.front() == '/' ? listing.Find(path.substr(1)) : nullptr;
    }
    path.remove_prefix(path.front() == '/' ? 1 : slash + 1);
  }
  return nullptr;
}

struct ListedPair {
  std::string image, label;
};

// Every way to cut a line into two paths at a run of blanks, quoted and tab-separated forms
// first, because they leave no doubt.
std::vector<ListedPair> PossiblePairs(const std::string& line) {
  for (char separator : {'\t', ' '}) {
    if (separator == ' ' && line.find('"') == std::string::npos) break;
    Result<std::vector<std::string>> fields = SplitFields(line, separator);
    if (!fields.ok()) continue;
    fields->erase(std::remove(fields->begin(), fields->end(), ""), fields->end());
    if (fields->size() == 2) return {{(*fields)[0], (*fields)[1]}};
  }
  std::vector<ListedPair> pairs;
  for (size_t i = line.find_first_of(" \t"); i != std::string::npos;) {
    size_t next = line.find_first_not_of(" \t", i);
    pairs.push_back({line.substr(0, i), line.substr(next)});
    i = line.find_first_of(" \t", next);
  }
  return pairs;
}

struct FoundPair {
  const ListedFile* image = nullptr;
  const ListedFile* label = nullptr;
};

class ListReader {
 public:
  ListReader(const FolderListing& listing, std::string list_file, InputSplit* split)
      : listing_(listing), list_file_(std::move(list_file)), split_(split) {}

  Status Read();

 private:
  Status ReadLine(const TextLine& line);
  Status AddProblem(const TextLine& line, const std::vector<ListedPair>& pairs);
  Status AddSample(const TextLine& line, const FoundPair& found);
  std::string Where(uint64_t line) const { return list_file_ + " line " + std::to_string(line); }

  const FolderListing& listing_;
  const std::string list_file_;
  InputSplit* split_;
  std::map<std::string, uint64_t> line_of_image_;
};

Status ListReader::Read() {
  ASSIGN_OR_RETURN(std::vector<TextLine> lines, ReadLines(JoinPath(listing_.root, list_file_)));
  for (const TextLine& line : lines) RETURN_IF_ERROR(ReadLine(line));
  return OkStatus();
}

Status ListReader::ReadLine(const TextLine& line) {
  std::vector<ListedPair> pairs = PossiblePairs(line.text);
  if (pairs.empty()) {
    return InvalidArgumentError(Where(line.number) +
                                ": expected an image path and a label path, found one word");
  }
  FoundPair found;
  for (const ListedPair& pair : pairs) {
    const ListedFile* image = Reroot(listing_, pair.image);
    const ListedFile* label = Reroot(listing_, pair.label);
    if (image == nullptr || label == nullptr) continue;
    if (found.image != nullptr) {
      return InvalidArgumentError(Where(line.number) +
                                  " can be cut into two paths in more than one way; put a tab "
                                  "between them or quotes around them");
    }
    found = {image, label};
  }
  return found.image == nullptr ? AddProblem(line, pairs) : AddSample(line, found);
}

Status ListReader::AddProblem(const TextLine& line, const std::vector<ListedPair>& pairs) {
  // With several blanks in the line the middle one is the likeliest border.
  const ListedPair& pair = pairs[pairs.size() / 2];
  ASSIGN_OR_RETURN(std::string key, RecordKey(pair.image));
  if (pairs.size() > 1) {
    split_->problems.push_back(
        {key, Where(line.number) + " has too many words, " + std::to_string(pairs.size() + 1) +
                  " in place of 2, and cut at no blank does it name two files that exist; put a "
                  "tab between paths that hold blanks, or quotes around them"});
    return OkStatus();
  }
  const bool image_missing = Reroot(listing_, pair.image) == nullptr;
  split_->problems.push_back(
      {key, Where(line.number) + " names " +
                (image_missing ? "image " + pair.image : "label " + pair.label) +
                ", which does not exist in the source folder"});
  return OkStatus();
}

Status ListReader::AddSample(const TextLine& line, const FoundPair& found) {
  auto [other, is_new] = line_of_image_.emplace(found.image->path, line.number);
  if (!is_new) {
    return InvalidArgumentError(Where(line.number) + " names " + found.image->path + ", as line " +
                                std::to_string(other->second) + " does; list each image once");
  }
  ASSIGN_OR_RETURN(Sample sample, MakePair(*found.image, *found.label));
  split_->samples.push_back(std::move(sample));
  return OkStatus();
}

// True when a line of the list leads to an image and a label that exist.
bool NamesPairs(const FolderListing& listing, const std::string& list_file) {
  constexpr size_t kLinesTried = 20;
  Result<std::vector<TextLine>> lines = ReadLines(JoinPath(listing.root, list_file));
  if (!lines.ok()) return false;
  for (size_t i = 0; i < std::min(lines->size(), kLinesTried); ++i) {
    for (const ListedPair& pair : PossiblePairs((*lines)[i].text)) {
      if (Reroot(listing, pair.image) != nullptr && Reroot(listing, pair.label) != nullptr) {
        return true;
      }
    }
  }
  return false;
}

constexpr char kColorTable[] = "label_colors.txt", kColorSuffix[] = "_L";

const ListedFile* FindColorLabel(const FolderListing& listing) {
  return FindBelow(listing, "", [](std::string_view path) {
    return EndsWith(WithoutImageExtension(path), kColorSuffix);
  });
}

// The original form: X.png and X_L.png, in one folder or two, with colours of a table. Void is a
// class like others.
Status ReadColorLabels(const LayoutInput& input, InputSet* set) {
  RETURN_IF_ERROR(FindClasses(input, set));
  PairRules rules;
  rules.images.except_suffix = kColorSuffix;
  rules.labels.suffix = kColorSuffix;
  rules.labels.must_match = true;
  rules.by_name_alone = true;
  std::vector<std::string> left_out;  // the images, which are no labels
  ASSIGN_OR_RETURN(InputSplit all, PairByStem(input.listing, "", rules, &left_out));
  DivideByKey(std::move(all), set);
  return OkStatus();
}

}  // namespace

std::string RecognizeCamvid(const FolderListing& listing) {
  for (const char* split : kSplits) {
    std::string list_file = std::string(split) + ".txt";
    if (listing.Find(list_file) != nullptr && NamesPairs(listing, list_file)) {
      return list_file + " lists image and label paths";
    }
  }
  const ListedFile* label = FindColorLabel(listing);
  if (label == nullptr || listing.Find(kColorTable) == nullptr) return "";
  return std::string("there are ") + kColorTable + " and " + label->path;
}

Status ReadCamvid(const LayoutInput& input, InputSet* set) {
  for (const char* split : kSplits) {
    std::string list_file = std::string(split) + ".txt";
    if (input.listing.Find(list_file) == nullptr) continue;
    InputSplit listed;
    listed.name = split;
    RETURN_IF_ERROR(ListReader(input.listing, list_file, &listed).Read());
    set->splits.push_back(std::move(listed));
  }
  if (set->splits.empty()) return ReadColorLabels(input, set);
  // Annotation tools export lists too, with colours of their own.
  if (input.listing.Find(kColorTable) != nullptr) return FindClasses(input, set);
  set->classes = input.classes.empty() ? CamvidClasses() : input.classes;
  set->labels.ignore = kIgnore;
  return OkStatus();
}

}  // namespace shardmill
