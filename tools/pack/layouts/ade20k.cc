// ADE20K in its two forms: SceneParsing, gray files of 150 classes beside 0 for "other", and the
// full set, whose files hold more than 3,000 ids in their red and green channels.
#include <map>
#include <utility>

#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/record_key.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/labels/value_map.h"
#include "tools/pack/layouts/class_names.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"

namespace shardmill {
namespace {

constexpr char kSegmentation[] = "_seg.png", kParts[] = "_parts_";
constexpr uint32_t kObjects = 3688;  // of the index that comes with the set

bool IsAdeName(std::string_view path) { return BeginsWith(NameOf(path), "ADE_"); }

// Names for ids that are known by their number alone.
std::vector<ClassInfo> NumberedObjects() {
  std::vector<ClassInfo> classes;
  for (uint32_t i = 0; i < kObjects; ++i) {
    classes.push_back({i, "object " + std::to_string(i + 1), std::nullopt});
  }
  return classes;
}

// 0 is "no object"; object n of the index becomes class n − 1.
ValueMap ShiftByOne(size_t classes) {
  ValueMap map;
  map.ids[0] = ValueMap::kToIgnore;
  for (uint32_t i = 0; i < classes; ++i) map.ids[i + 1] = i;
  return map;
}

class FullReader {
 public:
  FullReader(const LayoutInput& input, InputSet* set) : input_(input), set_(set) {}

  Status Read();

 private:
  Status AddImage(const ListedFile& image);
  InputSplit* SplitOf(std::string_view path);

  const LayoutInput& input_;
  InputSet* set_;
  std::map<std::string, InputSplit> splits_;  // by usual name, "" for none
};

// By the first folder above the file that has a split's name.
InputSplit* FullReader::SplitOf(std::string_view path) {
  std::string name;
  for (size_t begin = 0; name.empty() && begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end < path.size()) name = UsualSplitName(std::string(path.substr(begin, end - begin)));
    begin = end + 1;
  }
  return &splits_[name];
}

Status FullReader::AddImage(const ListedFile& image) {
  const std::string stem(WithoutImageExtension(image.path));
  const ListedFile* label = input_.listing.Find(stem + kSegmentation);
  InputSplit* split = SplitOf(image.path);
  if (label == nullptr) {
    ASSIGN_OR_RETURN(std::string key, RecordKey(image.path));
    split->problems.push_back({key, "there is no " + stem + kSegmentation});
    return OkStatus();
  }
  ASSIGN_OR_RETURN(Sample sample, MakePair(image, *label));
  split->samples.push_back(std::move(sample));
  return OkStatus();
}

Status FullReader::Read() {
  uint64_t others = 0;
  for (const ListedFile& file : input_.listing.files) {
    const std::string name = LowerCase(NameOf(file.path));
    const bool is_image = IsAdeName(file.path) && EndsWith(name, ".jpg");
    if (is_image) RETURN_IF_ERROR(AddImage(file));
    if (EndsWith(name, kSegmentation)) {
      const std::string stem = file.path.substr(0, file.path.size() - sizeof kSegmentation + 1);
      if (input_.listing.Find(stem + ".jpg") != nullptr) continue;
      ASSIGN_OR_RETURN(std::string key, RecordKey(file.path));
      SplitOf(file.path)->problems.push_back({key, "there is no " + stem + ".jpg"});
    }
    others += name.find(kParts) != std::string::npos;
  }
  if (others > 0) set_->notes.push_back(std::to_string(others) + " files of parts left out");
  for (auto& [name, split] : splits_) {
    RETURN_IF_ERROR(AddOrDivide(name, std::move(split), set_));
  }
  return OkStatus();
}

}  // namespace

std::string RecognizeAde20k(const FolderListing& listing) {
  for (const char* split : {"/training", "/validation"}) {
    if (FindBelow(listing, std::string("images") + split, IsAdeName) == nullptr) continue;
    if (listing.HasFolder(std::string("annotations") + split)) {
      return std::string("images") + split + " holds ADE_* beside annotations" + split;
    }
  }
  return "";
}

Status ReadAde20k(const LayoutInput& input, InputSet* set) {
  set->labels.ignore = 255;
  set->labels.map = NamedValueMap("ade20k");
  RETURN_IF_ERROR(UseClasses(input, Ade20kClasses(), set, NoClassRow::kFirstOrLast));
  for (const std::string& split : input.listing.FoldersIn("images")) {
    PairRules rules;
    rules.images.folder = "images/" + split;
    rules.labels.folder = "annotations/" + split;
    if (!input.listing.HasFolder(rules.labels.folder)) {
      RETURN_IF_ERROR(LeaveOutUnlabelled(input, rules.images.folder,
                                         "there is no " + rules.labels.folder, set,
                                         rules.images.folder));
      continue;
    }
    ASSIGN_OR_RETURN(InputSplit pairs, PairByStem(input.listing, split, rules, &set->notes));
    RETURN_IF_ERROR(AddSplit(split, std::move(pairs), set));
  }
  return OkStatus();
}

std::string RecognizeAde20kFull(const FolderListing& listing) {
  const ListedFile* file = FindBelow(listing, "", [](std::string_view path) {
    return IsAdeName(path) && EndsWith(path, kSegmentation);
  });
  return file == nullptr ? "" : "there is " + file->path;
}

Status ReadAde20kFull(const LayoutInput& input, InputSet* set) {
  set->labels.code = PixelCode::kAde20k;
  set->classes = input.classes.empty() ? NumberedObjects() : input.classes;
  if (input.classes.empty()) {
    set->notes.push_back(
        "classes are named by their number in the set's index; give their names "
        "with --classes FILE");
  }
  set->labels.map = ShiftByOne(set->classes.size());
  return FullReader(input, set).Read();
}

}  // namespace shardmill
