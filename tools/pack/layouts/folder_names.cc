#include "tools/pack/layouts/folder_names.h"

#include <algorithm>
#include <set>

#include "tools/pack/inputs/text_lines.h"

namespace shardmill {
namespace {

using Words = std::set<std::string_view>;

bool IsLetter(char c) { return c >= 'a' && c <= 'z'; }

// The runs of letters of a name in lower case.
std::vector<std::string> WordsOf(const std::string& lower) {
  std::vector<std::string> words;
  bool inside = false;
  for (char c : lower) {
    if (IsLetter(c)) {
      if (!inside) words.emplace_back();
      words.back() += c;
    }
    inside = IsLetter(c);
  }
  return words;
}

bool EndsInWord(const std::string& word, std::string_view end) {
  return word.size() >= end.size() && word.compare(word.size() - end.size(), end.size(), end) == 0;
}

bool IsLabelWord(const std::string& word) {
  static const Words kWords = {"ann",      "anns",      "anno",        "annos", "gt",   "gts",
                               "gtfine",   "gtcoarse",  "seg",         "segs",  "segm", "truth",
                               "semantic", "semantics", "groundtruth", "truths"};
  if (kWords.count(word) > 0) return true;
  for (const char* end : {"mask", "masks", "label", "labels", "annot", "annots", "annotation",
                          "annotations", "segmentation", "segmentations"}) {
    if (EndsInWord(word, end)) return true;
  }
  return word.rfind("segmentation", 0) == 0;  // VOC's SegmentationClass
}

bool HasWord(std::string_view name, const Words& wanted) {
  const std::vector<std::string> words = WordsOf(LowerCase(name));
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return wanted.count(word) > 0; });
}

}  // namespace

bool NamesLabels(std::string_view name) {
  const std::vector<std::string> words = WordsOf(LowerCase(name));
  return std::any_of(words.begin(), words.end(), IsLabelWord);
}

bool NamesImages(std::string_view name) {
  static const Words kWords = {"image",   "images", "img",      "imgs",     "rgb",
                               "photo",   "photos", "picture",  "pictures", "jpegimages",
                               "leftimg", "frame",  "frames",   "jpg",      "jpgs",
                               "jpeg",    "jpegs",  "original", "originals"};
  return HasWord(name, kWords) && !NamesLabels(name);
}

bool NamesASplit(std::string_view name) {
  static const Words kWords = {
      "train",   "training",   "trainset",   "trainingset", "trn",           "val",
      "valid",   "validation", "valset",     "validset",    "validationset", "test",
      "testing", "testset",    "testingset", "tst",         "dev",           "devset",
      "eval",    "evaluation", "evalset",    "holdout"};
  return HasWord(name, kWords);
}

std::string WithoutLabelWord(std::string_view name) {
  constexpr const char* kSeparators = "_-. ";
  const size_t last = name.find_last_of(kSeparators), first = name.find_first_of(kSeparators);
  if (last == std::string_view::npos) return "";
  const bool is_short = name.substr(last + 1) == "L";  // CamVid's
  if (is_short || NamesLabels(name.substr(last + 1))) return std::string(name.substr(0, last));
  return NamesLabels(name.substr(0, first)) ? std::string(name.substr(first + 1)) : "";
}

}  // namespace shardmill
