#include "tools/pack/labels/unknown_report.h"

#include <algorithm>

#include "reader/console/terminal.h"
#include "reader/console/units.h"

namespace shardmill {
namespace {

constexpr size_t kValuesShown = 12;
constexpr size_t kExamples = 3;
// More values than a table has classes come from smoothing or lossy compression.
constexpr size_t kManyValues = 300;

// Of two classes the second is often saved as white.
constexpr uint32_t kWhite = 255;
constexpr uint64_t kCityscapesClasses = 19;
constexpr uint32_t kLargestCityscapesId = 33;

bool IsGrayBelow(uint32_t value, uint64_t bound) {
  const uint32_t level = value & 255;
  return (value & ~UnknownValues::kColorFlag) == level * 0x010101 && level < bound;
}

}  // namespace

void UnknownReport::Add(const std::string& label_file, const UnknownValues& values,
                        bool by_palette) {
  ++files_;
  any_palette_ |= by_palette;
  pixels_ += values.TotalPixels();
  for (const auto& [value, count] : values.pixels) {
    if (entries_.size() >= kMaxValues && entries_.count(value) == 0) continue;
    Entry& entry = entries_[value];
    entry.pixels += count;
    ++entry.files;
    if (entry.examples.size() < kExamples) entry.examples.push_back(label_file);
  }
}

bool UnknownReport::OnlyNumbersUpTo(uint32_t largest) const {
  return !entries_.empty() && entries_.rbegin()->first <= largest;
}

std::string UnknownReport::HintForOneValue(uint32_t value, uint64_t classes,
                                           const LabelRules& rules) const {
  if (rules.map.has_value()) {
    return value == kWhite && rules.map->ids.count(0) > 0 &&
                   rules.map->ids.at(0) == ValueMap::kToIgnore
               ? "The labels may have been shifted already, with 255 for no class: then give "
                 "--map none --ignore 255."
               : "Give the value a class, or 'ignore', in --map FILE.";
  }
  const std::string ignore =
      "If this value means 'no class', say so with --ignore " + std::to_string(value) + ".";
  if (rules.colors_in_files || classes != 2 || value != kWhite) {
    return ignore + " If it means a class, give --map FILE (a line 'VALUE ID').";
  }
  return ignore + "\nIf the labels are black and white, give --map binary.";
}

std::string UnknownReport::Hint(uint64_t classes, const LabelRules& rules) const {
  const bool only_small_grays =
      std::all_of(entries_.begin(), entries_.end(),
                  [&](const auto& entry) { return IsGrayBelow(entry.first, classes); });
  if (any_palette_) {
    return "Correct the labels, or the class table (--classes FILE); where the index of a palette "
           "is the label, and not its colour, say so with --palette index. --on-error skip leaves "
           "such files out.";
  }
  if (rules.colors_in_files && only_small_grays) {
    return "These look like class ids saved as RGB; save such labels as gray images.";
  }
  if (entries_.size() > kManyValues) {
    return "So many values come from smoothing or lossy compression; use labels that were never "
           "resized with interpolation nor saved as JPEG.";
  }
  if (classes == kCityscapesClasses && !rules.map.has_value() &&
      OnlyNumbersUpTo(kLargestCityscapesId)) {
    return "These may be the ids of Cityscapes' *_labelIds.png, which are not those of its 19 "
           "classes: then give --map cityscapes.";
  }
  if (entries_.size() == 1 && entries_.begin()->first >= classes && OnlyNumbersUpTo(65535)) {
    return HintForOneValue(entries_.begin()->first, classes, rules);
  }
  const bool numbers = OnlyNumbersUpTo(65535);
  return std::string("Correct the labels, or the class table (--classes FILE)") +
         (numbers ? ", or say what each value becomes (--map FILE)" : "") +
         "; --on-error skip leaves such files out.";
}

std::string UnknownReport::Describe(uint64_t classes, const LabelRules& rules) const {
  std::vector<std::pair<uint32_t, const Entry*>> worst;
  for (const auto& [value, entry] : entries_) worst.emplace_back(value, &entry);
  std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) {
    return a.second->pixels > b.second->pixels;
  });
  std::string text = FormatCount(files_) +
                     (files_ == 1 ? " label file holds " : " label files hold ") +
                     FormatCount(pixels_) + " pixels whose values are none of the " +
                     FormatCount(classes) + " classes:";
  for (size_t i = 0; i < std::min(worst.size(), kValuesShown); ++i) {
    const Entry& entry = *worst[i].second;
    text += "\n  " + FormatLabelValue(worst[i].first) + ": " + FormatCount(entry.pixels) +
            " pixels in " + FormatCount(entry.files) + (entry.files == 1 ? " file: " : " files: ");
    for (size_t k = 0; k < entry.examples.size(); ++k) {
      text += (k == 0 ? "" : ", ") + EscapeControl(entry.examples[k]);
    }
    if (entry.files > entry.examples.size()) text += ", …";
  }
  if (worst.size() > kValuesShown) {
    text += "\n  … " + FormatCount(worst.size()) + " values in all";
  }
  return text + "\n" + Hint(classes, rules);
}

}  // namespace shardmill
