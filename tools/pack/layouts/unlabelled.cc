#include "tools/pack/layouts/unlabelled.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/layouts/folder_names.h"
#include "tools/pack/layouts/layout_parts.h"

namespace shardmill {
namespace {

using Words = std::set<std::string_view>;

constexpr char kTest[] = "test";

// The split in a name of several words, or of one with a label: "Test_Labels", "testannot".
std::string SplitIn(std::string_view name) {
  const std::string lower = LowerCase(name);
  for (size_t begin = 0; begin < lower.size();) {
    const size_t end = std::min(lower.find_first_of("_-. ", begin), lower.size());
    const std::string word = lower.substr(begin, end - begin);
    begin = end + 1;
    const std::string usual = UsualSplitName(word);
    if (!usual.empty()) return usual;
    for (const char* split : {"train", "val", kTest}) {
      const std::string_view rest = BeginsWith(word, split)
                                        ? std::string_view(word).substr(std::string(split).size())
                                        : std::string_view();
      if (NamesLabels(rest)) return split;
    }
  }
  return "";
}

// What the folders above a file say.
struct Place {
  std::string split;  // the first that is named; empty: none is
  bool of_labels = false;
};

Place PlaceOf(std::string_view path) {
  Place place;
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    const std::string_view folder = path.substr(0, slash);
    if (place.split.empty()) place.split = SplitIn(folder);
    place.of_labels |= NamesLabels(folder);
    path.remove_prefix(slash + 1);
  }
  return place;
}

std::string_view StemOf(std::string_view path) {
  const std::string_view name = NameOf(path);
  return name.substr(0, name.rfind('.'));
}

std::string ExtensionOf(std::string_view path) {
  const std::string_view name = NameOf(path);
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? "" : LowerCase(name.substr(dot + 1));
}

// Texts that explain a data set, and the boxes of objects that lie beside some.
bool MayHoldLabels(std::string_view path) {
  static const Words kOthers = {"txt", "md", "csv", "tsv", "html", "pdf", "xml", "lst", "log"};
  return kOthers.count(ExtensionOf(path)) == 0;
}

class LabelSearch {
 public:
  LabelSearch(const InputSet& set, const std::vector<Sample>& images);
  bool IsCandidate(const std::string& path) const;

 private:
  bool BelongsToImage(std::string_view stem, bool in_labels) const;

  std::unordered_set<std::string_view> used_, stems_;
};

LabelSearch::LabelSearch(const InputSet& set, const std::vector<Sample>& images) {
  for (const InputSplit& split : set.splits) {
    for (const Sample& sample : split.samples) {
      used_.insert(sample.image.path);
      used_.insert(sample.label.path);
    }
  }
  for (const Sample& image : images) {
    used_.insert(image.image.path);
    const std::string_view stem = StemOf(image.image.path);
    stems_.insert(stem);
    // Without the word that the names of images alone have.
    for (std::string_view end : {"_leftImg8bit", "_sat", "_rgb", "_image", "_img"}) {
      if (EndsWith(stem, end)) stems_.insert(stem.substr(0, stem.size() - end.size()));
    }
  }
}

// "1.png" in a folder of labels, and anywhere "1_mask.png", "1_L.png", "mask_1.png".
bool LabelSearch::BelongsToImage(std::string_view stem, bool in_labels) const {
  if (in_labels && stems_.count(stem) > 0) return true;
  return stems_.count(WithoutLabelWord(stem)) > 0;
}

bool LabelSearch::IsCandidate(const std::string& path) const {
  if (!MayHoldLabels(path) || used_.count(path) > 0) return false;
  const Place place = PlaceOf(path);
  if (place.split == kTest && place.of_labels) return true;
  return (place.split.empty() || place.split == kTest) &&
         BelongsToImage(StemOf(path), place.of_labels);
}

// The images of the split; none when anything else than labels is missing.
std::vector<Sample> ImagesAlone(const FolderListing& listing, const InputSplit& split) {
  std::vector<Sample> samples;
  for (const Problem& problem : split.problems) {
    const ListedFile* image = problem.lacks_label ? listing.Find(problem.key) : nullptr;
    if (image == nullptr) return {};
    Sample sample;
    sample.key = problem.key;
    sample.image = {image->path, image->bytes, image->changed_ns};
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace

Status UseUnlabelled(const FolderListing& listing, const LayoutOptions& options, InputSet* set) {
  if (set->task != Task::kSegmentation) return OkStatus();
  for (InputSplit& split : set->splits) {
    if (split.name != kTest || !options.Wants(kTest) || !split.samples.empty()) continue;
    std::vector<Sample> samples = ImagesAlone(listing, split);
    if (samples.empty()) continue;
    const LabelSearch search(*set, samples);
    for (const ListedFile& file : listing.files) {
      if (!search.IsCandidate(file.path)) continue;
      return InvalidArgumentError(
          "split test has no labels that layout " + set->layout + " can read, but " + file.path +
          " may be one of them. Give the labels the form, name and place that the layout expects, "
          "or take them out of the source folder to pack the images without labels");
    }
    split.problems.clear();
    split.samples = std::move(samples);
    set->notes.push_back("split test has no labels: its " + std::to_string(split.samples.size()) +
                         " images are packed with labels that are ignored throughout");
  }
  return OkStatus();
}

}  // namespace shardmill
