// DeepGlobe land cover: N_sat.jpg and N_mask.png in one folder. The colours of the masks are not
// exact; each channel counts as 0 or 255. Black is "unknown".
#include <algorithm>
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/decode/image_decode.h"
#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/labels/class_table.h"
#include "tools/pack/layouts/class_names.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"

namespace shardmill {
namespace {

bool IsMask(std::string_view path) { return EndsWith(path, "_mask.png"); }
bool IsSatellite(std::string_view path) { return EndsWith(path, "_sat.jpg"); }

// The folders with satellite images; "" when they lie at the top.
std::vector<std::string> ImageFolders(const FolderListing& listing) {
  for (const std::string& name : listing.FilesIn("")) {
    if (IsSatellite(name)) return {""};
  }
  std::vector<std::string> folders;
  for (const std::string& folder : listing.FoldersIn("")) {
    if (FindBelow(listing, folder, IsSatellite) != nullptr) folders.push_back(folder);
  }
  return folders;
}

// Other colours than those of the set are not told apart by thresholds.
bool AreApartByThresholds(const std::vector<ClassInfo>& classes) {
  return std::all_of(classes.begin(), classes.end(), [](const ClassInfo& info) {
    uint32_t color = info.color.value_or(1);
    while ((color & 255) == 0 || (color & 255) == 255) {
      if (color <= 255) return true;
      color >>= 8;
    }
    return false;
  });
}

// By the thresholds of the layout.
bool IsBlackOrWhite(uint32_t color) {
  const uint32_t high = color & 0x808080;
  return high == 0 || high == 0x808080;
}

bool IsInBlackAndWhite(const SourceImage& image) {
  if (image.layout == PixelLayout::kGray || image.layout == PixelLayout::kGrayAlpha) return true;
  if (image.layout == PixelLayout::kPalette) {
    return std::all_of(image.samples.begin(), image.samples.end(), [&](uint8_t index) {
      return index < image.palette.size() && IsBlackOrWhite(image.palette[index]);
    });
  }
  const auto step = static_cast<size_t>(ChannelsOf(image.layout));
  for (size_t at = 0; at + 2 < image.samples.size(); at += step) {
    const uint8_t* pixel = &image.samples[at];
    if (!IsBlackOrWhite(uint32_t{pixel[0]} << 16 | uint32_t{pixel[1]} << 8 | pixel[2]))
      return false;
  }
  return true;
}

// False as well for what cannot be read: packing says why.
bool IsMaskInBlackAndWhite(const std::string& path) {
  constexpr uint64_t kMaxBytes = uint64_t{1} << 28, kMaxPixels = uint64_t{1} << 26;
  const Result<std::string> file = ReadFile(path, kMaxBytes);
  SourceImage image;
  ImageDecoder decoder;
  return file.ok() && decoder.Decode(*file, kMaxPixels, &image).ok() && image.sample_bytes == 1 &&
         IsInBlackAndWhite(image);
}

}  // namespace

std::string DoubtDeepGlobe(const FolderListing& listing, const LayoutOptions& options) {
  constexpr size_t kLookedAt = 8;
  if (options.classes_file.has_value() || !ClassTableAtTop(listing).empty()) return "";
  std::vector<const std::string*> masks;
  for (const ListedFile& file : listing.files) {
    if (IsMask(file.path)) masks.push_back(&file.path);
  }
  const size_t looked_at = std::min(masks.size(), kLookedAt);
  for (size_t i = 0; i < looked_at; ++i) {
    const std::string& path = *masks[i * masks.size() / looked_at];
    if (!IsMaskInBlackAndWhite(JoinPath(listing.root, path))) return "";
  }
  return "the masks, as " + *masks.front() +
         ", are black and white, as those of roads or of classes of your own, and show no land "
         "cover; write a table with the header name,r,g,b and the lines road,255,255,255 and "
         "background,0,0,0, and give it with --classes FILE; if this is land cover all the same, "
         "say --layout deepglobe";
}

std::string RecognizeDeepGlobe(const FolderListing& listing) {
  const ListedFile* mask = FindBelow(listing, "", IsMask);
  const ListedFile* image = FindBelow(listing, "", IsSatellite);
  return mask == nullptr || image == nullptr ? ""
                                             : "there are " + image->path + " and " + mask->path;
}

Status ReadDeepGlobe(const LayoutInput& input, InputSet* set) {
  LabelRules& rules = set->labels;
  rules.code = PixelCode::kThreshold;
  rules.colors_in_files = true;
  rules.ignore = 255;
  rules.map.emplace();
  rules.map->ids[kLabelColorFlag] = ValueMap::kToIgnore;  // black
  RETURN_IF_ERROR(UseClasses(input, DeepGlobeClasses(), set));
  if (!AreApartByThresholds(set->classes)) {
    rules.code = PixelCode::kPlain;
    rules.colors_in_files = AllHaveColors(set->classes);
  }
  std::vector<InputSplit> labelled;
  for (const std::string& folder : ImageFolders(input.listing)) {
    const std::string usual = UsualSplitName(folder);
    const bool has_masks = FindBelow(input.listing, folder, IsMask) != nullptr;
    if (!has_masks && !WantsUnlabelled(input, usual.empty() ? folder : usual, "it has no masks",
                                       folder, {}, set)) {
      continue;
    }
    PairRules pair;
    pair.images = {folder, "", "_sat", true, "_mask"};
    pair.labels = {folder, "", "_mask", true, "_sat"};
    ASSIGN_OR_RETURN(InputSplit pairs, PairByStem(input.listing, folder, pair, &set->notes));
    labelled.push_back(std::move(pairs));
  }
  if (labelled.size() == 1) {
    DivideByKey(std::move(labelled.front()), set);
    return OkStatus();
  }
  for (InputSplit& split : labelled) {
    const std::string folder = split.name;
    RETURN_IF_ERROR(AddSplit(folder, std::move(split), set));
  }
  return OkStatus();
}

}  // namespace shardmill
