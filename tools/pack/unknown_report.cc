#include "tools/pack/unknown_report.h"

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

bool IsGrayBelow(uint32_t value, uint64_t bound) {
  const uint32_t level = value & 255;
  return (value & ~UnknownValues::kColorFlag) == level * 0x010101 && level < bound;
}

}  // namespace

void UnknownReport::Add(const std::string& label_file, const UnknownValues& values) {
  ++files_;
  pixels_ += values.TotalPixels();
  for (const auto& [value, count] : values.pixels) {
    if (entries_.size() >= kMaxValues && entries_.count(value) == 0) continue;
    Entry& entry = entries_[value];
    entry.pixels += count;
    ++entry.files;
    if (entry.examples.size() < kExamples) entry.examples.push_back(label_file);
  }
}

std::string UnknownReport::Hint(uint64_t classes, bool colors_in_files) const {
  const bool only_small_grays =
      std::all_of(entries_.begin(), entries_.end(),
                  [&](const auto& entry) { return IsGrayBelow(entry.first, classes); });
  if (colors_in_files && only_small_grays) {
    return "These look like class ids saved as RGB; save such labels as gray images.";
  }
  if (entries_.size() > kManyValues) {
    return "So many values come from smoothing or lossy compression; use labels that were never "
           "resized with interpolation nor saved as JPEG.";
  }
  if (entries_.size() == 1 && entries_.begin()->first >= classes &&
      entries_.begin()->first <= 65535) {
    const std::string ignore = "If this value means 'no class', say so with --ignore " +
                               std::to_string(entries_.begin()->first) + ".";
    if (colors_in_files || classes != 2 || entries_.begin()->first != kWhite) return ignore;
    return ignore +
           "\nIf the labels are black and white, give the two classes the colours 0,0,0 and "
           "255,255,255 (--classes FILE with name,r,g,b).";
  }
  return "Correct the labels, or the class table (--classes FILE); --on-error skip leaves such "
         "files out.";
}

std::string UnknownReport::Describe(uint64_t classes, bool colors_in_files) const {
  std::vector<std::pair<uint32_t, const Entry*>> worst;
  for (const auto& [value, entry] : entries_) worst.emplace_back(value, &entry);
  std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) {
    return a.second->pixels > b.second->pixels;
  });
  std::string text = FormatCount(files_) + " label files hold " + FormatCount(pixels_) +
                     " pixels whose values are none of the " + FormatCount(classes) + " classes:";
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
  return text + "\n" + Hint(classes, colors_in_files);
}

}  // namespace shardmill
