// Mapillary Vistas: training and validation with images, and labels below a folder of each
// version. The last class of the version's config file is "unlabelled" and is ignored.
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/labels/class_table.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"

namespace shardmill {
namespace {

struct Version {
  const char* labels;  // below the folder of a split
  const char* config;
};
constexpr Version kFirst = {"labels", "config.json"};
constexpr Version kOneTwo = {"v1.2/labels", "config_v1.2.json"};
constexpr Version kTwo = {"v2.0/labels", "config_v2.0.json"};

bool Holds(const FolderListing& listing, const Version& version) {
  for (const char* split : {"training/", "validation/"}) {
    if (listing.HasFolder(std::string(split) + "images") &&
        listing.HasFolder(split + std::string(version.labels))) {
      return true;
    }
  }
  return false;
}

std::string Recognize(const FolderListing& listing, const Version& version) {
  if (!Holds(listing, version)) return "";
  return std::string("there are training/images and training/") + version.labels;
}

Status ReadClasses(const LayoutInput& input, const Version& version, InputSet* set) {
  set->classes = input.classes;
  if (!input.classes.empty()) return OkStatus();
  if (input.listing.Find(version.config) == nullptr) {
    return NotFoundError("there is no " + std::string(version.config) + " in " +
                         input.listing.root + "; give the class table with --classes FILE");
  }
  ASSIGN_OR_RETURN(set->classes, ReadClassTable(JoinPath(input.listing.root, version.config),
                                                DoubledColors::kAllow));
  set->labels.index_first = AllHaveColors(set->classes);
  const ClassInfo last = set->classes.back();
  if (LowerCase(last.name).find("unlabel") == std::string::npos) {
    set->notes.push_back("the last class of " + std::string(version.config) + ", " + last.name +
                         ", is not taken for 'unlabelled'; --ignore N says what is ignored");
    return OkStatus();
  }
  set->classes.pop_back();
  set->labels.ignore = last.id;
  if (last.color.has_value()) {
    set->labels.map.emplace();
    set->labels.map->ids[*last.color | kLabelColorFlag] = ValueMap::kToIgnore;
  }
  return OkStatus();
}

Status Read(const LayoutInput& input, const Version& version, InputSet* set) {
  RETURN_IF_ERROR(ReadClasses(input, version, set));
  for (const std::string& folder : input.listing.FoldersIn("")) {
    PairRules rules;
    rules.images.folder = folder + "/images";
    rules.labels.folder = folder + "/" + version.labels;
    if (!input.listing.HasFolder(rules.images.folder)) continue;
    if (!input.listing.HasFolder(rules.labels.folder)) {
      RETURN_IF_ERROR(LeaveOutUnlabelled(input, folder, std::string("it has no ") + version.labels,
                                         set, rules.images.folder));
      continue;
    }
    ASSIGN_OR_RETURN(InputSplit pairs, PairByStem(input.listing, folder, rules, &set->notes));
    RETURN_IF_ERROR(AddSplit(folder, std::move(pairs), set));
  }
  return OkStatus();
}

const Version& FirstVersion(const FolderListing& listing) {
  return Holds(listing, kOneTwo) ? kOneTwo : kFirst;
}

}  // namespace

std::string RecognizeMapillary(const FolderListing& listing) {
  const Version& version = FirstVersion(listing);
  // Other sets have images and labels too; the config file tells Mapillary from them.
  return listing.Find(version.config) == nullptr ? "" : Recognize(listing, version);
}

Status ReadMapillary(const LayoutInput& input, InputSet* set) {
  return Read(input, FirstVersion(input.listing), set);
}

std::string RecognizeMapillaryTwo(const FolderListing& listing) { return Recognize(listing, kTwo); }

Status ReadMapillaryTwo(const LayoutInput& input, InputSet* set) { return Read(input, kTwo, set); }

}  // namespace shardmill
