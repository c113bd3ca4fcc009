// SYNTHIA: RGB beside GT/LABELS, whose files hold the class in the red channel and instances in the
// green one, in some releases with 16 bits. 0 is "void".
#include <utility>

#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/layouts/class_names.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"

namespace shardmill {
namespace {

constexpr char kImages[] = "RGB", kLabels[] = "GT/LABELS";

}  // namespace

std::string RecognizeSynthia(const FolderListing& listing) {
  if (!listing.HasFolder(kImages) || !listing.HasFolder(kLabels)) return "";
  return std::string("folder ") + kImages + " lies beside " + kLabels;
}

Status ReadSynthia(const LayoutInput& input, InputSet* set) {
  LabelRules& rules = set->labels;
  rules.code = PixelCode::kRedChannel;
  rules.ignore = 255;
  const std::vector<ClassInfo> own = SynthiaClasses();
  rules.map.emplace();
  rules.map->ids[0] = ValueMap::kToIgnore;
  for (const ClassInfo& info : own) rules.map->ids[info.id + 1] = info.id;
  RETURN_IF_ERROR(UseClasses(input, own, set, NoClassRow::kFirstOrLast));
  PairRules pair;
  pair.images.folder = kImages;
  pair.labels.folder = kLabels;
  ASSIGN_OR_RETURN(InputSplit all, PairByStem(input.listing, "", pair, &set->notes));
  DivideByKey(std::move(all), set);
  return OkStatus();
}

}  // namespace shardmill
