// PASCAL VOC, and the exports of annotation tools in its form: JPEGImages, SegmentationClass, and
// lists of stems in ImageSets/Segmentation. Palette files are read by index; 255 is ignored.
#include <map>
#include <set>
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/record_key.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/labels/class_table.h"
#include "tools/pack/layouts/class_names.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"

namespace shardmill {
namespace {

constexpr char kImages[] = "JPEGImages", kLabels[] = "SegmentationClass";
constexpr char kLists[] = "ImageSets/Segmentation", kLabelMap[] = "labelmap.txt";
constexpr uint32_t kIgnore = 255, kBorderColor = 0xE0E0C0;

class VocReader {
 public:
  VocReader(const LayoutInput& input, InputSet* set) : input_(input), set_(set) {}

  Status Read();

 private:
  Status ReadClasses();
  Status ReadWithoutLists();
  std::vector<std::string> ChooseLists();
  Result<InputSplit> ReadList(const std::string& name);
  Status AddLine(const std::string& list, const TextLine& line, InputSplit* split) const;
  const ListedFile* Partner(const FilesByStem& files, const std::string& word) const;

  const LayoutInput& input_;
  InputSet* set_;
  FilesByStem images_, labels_;
};

Status VocReader::ReadClasses() {
  LabelRules& rules = set_->labels;
  if (input_.classes.empty() && input_.listing.Find(kLabelMap) != nullptr) {
    ASSIGN_OR_RETURN(set_->classes, ReadClassTable(JoinPath(input_.listing.root, kLabelMap)));
    rules.colors_in_files = AllHaveColors(set_->classes);
    return OkStatus();
  }
  rules.ignore = kIgnore;
  rules.index_first = input_.classes.empty();
  RETURN_IF_ERROR(UseClasses(input_, VocClasses(), set_));
  if (!rules.index_first) return OkStatus();  // the classes are others
  rules.map.emplace();
  rules.map->ids[kBorderColor | kLabelColorFlag] = ValueMap::kToIgnore;
  return OkStatus();
}

// Many images have no mask: without lists, those that have one are the set.
Status VocReader::ReadWithoutLists() {
  InputSplit all;
  for (const auto& [stem, image] : images_) {
    auto label = labels_.find(stem);
    if (label == labels_.end()) continue;
    ASSIGN_OR_RETURN(Sample sample, MakePair(*image, *label->second));
    all.samples.push_back(std::move(sample));
    labels_.erase(label);
  }
  for (const auto& [stem, label] : labels_) {
    ASSIGN_OR_RETURN(std::string key, RecordKey(label->path));
    all.problems.push_back({key, std::string("there is no image with this stem in ") + kImages});
  }
  set_->notes.push_back("there are no lists in " + std::string(kLists));
  set_->unlisted.reason = "it has no mask";
  DivideByKey(std::move(all), set_);
  return OkStatus();
}

// train, val and test where there is any of them; else all, for one set.
std::vector<std::string> VocReader::ChooseLists() {
  std::vector<std::string> usual, others;
  for (const std::string& name : input_.listing.FilesIn(kLists)) {
    if (!EndsWith(name, ".txt")) continue;
    const std::string list = name.substr(0, name.size() - 4);
    (UsualSplitName(list).empty() ? others : usual).push_back(list);
  }
  if (usual.empty()) return others;
  if (!others.empty()) set_->unlisted.reason = "no list of train, val or test names it";
  for (const std::string& list : others) {
    set_->notes.push_back("list " + list + ".txt left out: train, val and test are the splits");
  }
  return usual;
}

const ListedFile* VocReader::Partner(const FilesByStem& files, const std::string& word) const {
  auto found = files.find(word);
  if (found == files.end()) found = files.find(std::string(WithoutImageExtension(word)));
  return found == files.end() ? nullptr : found->second;
}

Status VocReader::AddLine(const std::string& list, const TextLine& line, InputSplit* split) const {
  const ListedFile* image = Partner(images_, line.text);
  const ListedFile* label = Partner(labels_, line.text);
  if (image != nullptr && label != nullptr) {
    ASSIGN_OR_RETURN(Sample sample, MakePair(*image, *label));
    split->samples.push_back(std::move(sample));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(std::string key, RecordKey(image != nullptr ? image->path : line.text));
  split->problems.push_back({key, list + ".txt line " + std::to_string(line.number) +
                                      ": there is " + "no " +
                                      (image == nullptr ? "image " : "mask ") + line.text + " in " +
                                      (image == nullptr ? kImages : kLabels)});
  split->problems.back().lacks_label = image != nullptr;
  return OkStatus();
}

Result<InputSplit> VocReader::ReadList(const std::string& name) {
  InputSplit split;
  ASSIGN_OR_RETURN(
      const std::vector<TextLine> lines,
      ReadLines(JoinPath(input_.listing.root, std::string(kLists) + "/" + name + ".txt")));
  for (const TextLine& line : lines) RETURN_IF_ERROR(AddLine(name, line, &split));
  return split;
}

Status VocReader::Read() {
  RETURN_IF_ERROR(ReadClasses());
  NameRule rule;
  rule.folder = kImages;
  ASSIGN_OR_RETURN(images_, CollectStems(input_.listing, rule, false, &set_->notes));
  rule.folder = kLabels;
  ASSIGN_OR_RETURN(labels_, CollectStems(input_.listing, rule, false, &set_->notes));
  set_->unlisted.trees = {kImages, kLabels};
  set_->unlisted.reason = "no list names it";
  const std::vector<std::string> lists = ChooseLists();
  if (lists.empty()) return ReadWithoutLists();
  InputSplit unsplit;
  for (const std::string& list : lists) {
    ASSIGN_OR_RETURN(InputSplit split, ReadList(list));
    const std::string usual = UsualSplitName(list);
    if (usual.empty()) {
      std::move(split.samples.begin(), split.samples.end(), std::back_inserter(unsplit.samples));
      std::move(split.problems.begin(), split.problems.end(), std::back_inserter(unsplit.problems));
      continue;
    }
    const bool unlabelled = usual == "test" && split.samples.empty() && split.inputs() > 0;
    std::set<std::string> files;
    for (const Problem& problem : split.problems) files.insert(problem.key);
    if (unlabelled && !WantsUnlabelled(input_, usual, "none of its images has a mask", "",
                                       std::move(files), set_)) {
      continue;
    }
    RETURN_IF_ERROR(AddSplit(list, std::move(split), set_));
  }
  if (unsplit.inputs() > 0) DivideByKey(std::move(unsplit), set_);
  return OkStatus();
}

}  // namespace

std::string RecognizeVoc(const FolderListing& listing) {
  if (!listing.HasFolder(kImages) || !listing.HasFolder(kLabels)) return "";
  return std::string("folder ") + kImages + " lies beside " + kLabels;
}

Status ReadVoc(const LayoutInput& input, InputSet* set) { return VocReader(input, set).Read(); }

}  // namespace shardmill
