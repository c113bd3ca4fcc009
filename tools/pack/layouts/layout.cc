#include "tools/pack/layouts/layout.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "reader/console/terminal.h"
#include "reader/names.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/labels/class_table.h"
#include "tools/pack/labels/label_tolerance.h"
#include "tools/pack/labels/value_map.h"
#include "tools/pack/layouts/class_doubts.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"
#include "tools/pack/layouts/left_out.h"
#include "tools/pack/layouts/list_choice.h"
#include "tools/pack/layouts/list_doubts.h"
#include "tools/pack/layouts/unlabelled.h"

namespace shardmill {
namespace {

constexpr size_t kNamesShown = 12;
constexpr int kLastRank = 2;
constexpr uint32_t kIgnoreU8 = 255, kIgnoreU16 = 65535;

std::string JoinNames(const std::vector<std::string>& names, size_t at_most) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), at_most); ++i) {
    text += (i == 0 ? "" : ", ") + EscapeControl(names[i]);
  }
  if (names.size() > at_most) text += ", … (" + std::to_string(names.size()) + " in all)";
  return text;
}

// What lies in the folder: its sub-folders, its files, the extensions below.
std::string DescribeListing(const FolderListing& listing) {
  std::map<std::string, uint64_t> extensions;
  for (const ListedFile& file : listing.files) {
    size_t dot = file.path.rfind('.'), slash = file.path.rfind('/');
    bool has_extension = dot != std::string::npos && (slash == std::string::npos || dot > slash);
    ++extensions[has_extension ? LowerCase(file.path.substr(dot)) : "(none)"];
  }
  std::vector<std::string> counts;
  for (const auto& [extension, count] : extensions) {
    counts.push_back(std::to_string(count) + " " + extension);
  }
  std::vector<std::string> folders = listing.FoldersIn(""), files = listing.FilesIn("");
  std::string text;
  text += "\n  folders: " + (folders.empty() ? "none" : JoinNames(folders, kNamesShown));
  text += "\n  files: " + (files.empty() ? "none" : JoinNames(files, kNamesShown));
  text += "\n  below it: " + (counts.empty() ? "no files" : JoinNames(counts, kNamesShown));
  if (listing.hidden > 0) text += "\n  hidden: " + std::to_string(listing.hidden);
  return text;
}

// "NAME: WHY" of each layout of the lowest rank that the folder fits.
std::vector<std::pair<const Layout*, std::string>> FittingLayouts(const FolderListing& listing) {
  std::vector<std::pair<const Layout*, std::string>> fitting;
  for (int rank = 0; rank <= kLastRank; ++rank) {
    for (const Layout& layout : Layouts()) {
      if (layout.rank != rank) continue;
      const std::string reason = layout.recognize(listing);
      if (!reason.empty()) fitting.emplace_back(&layout, std::string(layout.name) + ": " + reason);
    }
    if (!fitting.empty()) break;
  }
  return fitting;
}

const Layout* LayoutOfName(std::string_view name) {
  for (const Layout& layout : Layouts()) {
    if (name == layout.name) return &layout;
  }
  return nullptr;
}

// The layout that reads the list which the user names.
Result<const Layout*> LayoutOfList(const FolderListing& listing, const LayoutOptions& options) {
  const bool reads_lists = options.layout == "list" || options.layout == "csv";
  if (reads_lists) return LayoutOfName(options.layout);
  if (options.layout != "auto") {
    return InvalidArgumentError("--list is for the layouts list and csv, not " + options.layout);
  }
  const bool has_classes =
      listing.Find(options.list) != nullptr && LookIntoList(listing, options.list).classes;
  return LayoutOfName(has_classes ? "csv" : "list");
}

Result<const Layout*> FindLayout(const FolderListing& listing, const LayoutOptions& options,
                                 InputSet* set) {
  if (!options.list.empty()) return LayoutOfList(listing, options);
  if (const Layout* layout = LayoutOfName(options.layout)) return layout;
  const auto fitting = FittingLayouts(listing);
  if (fitting.size() == 1) {
    const Layout& layout = *fitting.front().first;
    const std::string doubt = layout.doubt == nullptr ? "" : layout.doubt(listing, options);
    if (!doubt.empty()) {
      return InvalidArgumentError(listing.root + " looks like layout " + fitting.front().second +
                                  "\nBut " + doubt);
    }
    set->notes.push_back("taken for layout " + fitting.front().second);
    return fitting.front().first;
  }
  if (fitting.size() > 1) {
    std::string reasons;
    for (const auto& [layout, reason] : fitting) reasons += "\n  " + reason;
    return InvalidArgumentError(listing.root + " fits more than one layout:" + reasons +
                                "\nSay which with --layout NAME.");
  }
  const std::string near = NearLayouts(listing);
  return InvalidArgumentError(
      "no known layout fits " + listing.root + (near.empty() ? "" : ". Near is:" + near) +
      "\nIt holds:" + DescribeListing(listing) + "\nExpected is one of:\n" + DescribeLayouts());
}

// Keeps the splits that were asked for. NotFound when one is empty, unless the packer made it.
Status ChooseSplits(const std::vector<std::string>& wanted, InputSet* set) {
  std::vector<std::string> names;
  for (const InputSplit& split : set->splits) names.push_back(split.name);
  for (const std::string& name : wanted) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return InvalidArgumentError("there is no split '" + name +
                                "'; there are: " + JoinNames(names, kNamesShown));
  }
  auto is_chosen = [&](const InputSplit& split) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), split.name) != wanted.end();
  };
  for (const InputSplit& split : set->splits) {
    if (!is_chosen(split) || split.inputs() > 0) continue;
    if (!split.made) {
      return NotFoundError("split " + split.name +
                           " has no input: its folder or list is empty. Fill or remove it, or "
                           "choose other splits with --split NAME,…");
    }
    set->notes.push_back("split " + split.name + " is empty");
  }
  auto unwanted = [&](const InputSplit& split) { return !is_chosen(split) || split.inputs() == 0; };
  set->splits.erase(std::remove_if(set->splits.begin(), set->splits.end(), unwanted),
                    set->splits.end());
  return OkStatus();
}

Status NothingToRead(const FolderListing& listing) {
  std::string text = "there are no files in " + listing.root;
  if (listing.hidden > 0) text += " but hidden ones";
  if (!listing.unreadable.empty()) {
    const UnreadableEntry& first = listing.unreadable.front();
    text += "; of " + std::to_string(listing.unreadable.size()) +
            " entries that cannot be read the first is " + EscapeControl(first.path) + ": " +
            first.reason;
  }
  return NotFoundError(text);
}

// Where only some inputs are of splits by name, the rest was to be divided.
Status CheckSplitNames(const InputSet& set) {
  std::set<std::string> seen;
  const InputSplit* made = nullptr;
  for (const InputSplit& split : set.splits) {
    if (split.made && !split.samples.empty()) made = &split;
  }
  for (const InputSplit& split : set.splits) {
    if (seen.insert(split.name).second) continue;
    if (made == nullptr) {
      return InvalidArgumentError("two folders or lists make the split '" + split.name +
                                  "'; rename one of them");
    }
    return InvalidArgumentError("some inputs are of the split '" + split.name +
                                "' by name, and others are of none, as " + made->samples[0].key +
                                ": give all of them a split, or none");
  }
  return OkStatus();
}

int SplitRank(const std::string& name) {
  return name == "train" ? 0 : name == "val" ? 1 : name == "test" ? 2 : 3;
}

// Shapes have no values that a map or a tolerance could change; categories are numbers, which need
// their map.
Status CheckAnnotationOptions(const LayoutOptions& options, const InputSet& set) {
  const LabelForm form = set.labels.form;
  if (form == LabelForm::kImage) return OkStatus();
  const bool by_category = form == LabelForm::kCoco || form == LabelForm::kPanoptic;
  const bool useless = options.label_tolerance || options.palette != PaletteReading::kAuto ||
                       options.gray != GrayReading::kAuto;
  const bool has_map = set.labels.map.has_value() && !set.labels.map->MapsColors();
  const bool bad_map = options.map.has_value() && (!by_category || !has_map);
  if (!useless && !bad_map) return OkStatus();
  return InvalidArgumentError("the labels of layout " + set.layout + " are annotations: " +
                              (by_category ? "--map FILE may give each category id, a number, a "
                                             "class, but --map none, "
                                           : "--map, ") +
                              "--palette, --gray and --label-tolerance have no meaning for them");
}

// What the user says of labels, in the place of what the layout says.
Status ApplyLabelOptions(const LayoutOptions& options, const std::vector<ClassInfo>& classes,
                         InputSet* set) {
  LabelRules& rules = set->labels;
  if (AllHaveColors(classes)) rules.colors_in_files = true;
  if (options.ignore.has_value()) rules.ignore = options.ignore;
  rules.palette = options.palette;
  rules.gray = options.gray;
  rules.tolerance = options.label_tolerance;
  if (options.map == "none") rules.map.reset();
  if (options.map.has_value() && options.map != "none") {
    ASSIGN_OR_RETURN(rules.map, ReadValueMap(*options.map, set->classes));
    rules.map_is_given = true;
  }
  RETURN_IF_ERROR(CheckAnnotationOptions(options, *set));
  const bool for_labels = rules.map || rules.tolerance || rules.palette != PaletteReading::kAuto ||
                          rules.gray != GrayReading::kAuto;
  if (set->task != Task::kSegmentation && for_labels) {
    return InvalidArgumentError(
        "--map, --palette, --gray and --label-tolerance are for label images; layout " +
        set->layout + " has none");
  }
  const LabelForm form = rules.form;
  if (options.keep_category_ids && form != LabelForm::kCoco && form != LabelForm::kPanoptic) {
    return InvalidArgumentError("--category-ids is for the layouts coco and coco-panoptic, not " +
                                set->layout);
  }
  return OkStatus();
}

Status CheckIgnore(const InputSet& set) {
  const std::optional<uint32_t> ignore = set.labels.ignore;
  if (!ignore.has_value() || *ignore >= set.classes.size()) return OkStatus();
  const ClassInfo& info = set.classes[*ignore];
  return InvalidArgumentError("value " + std::to_string(*ignore) + " is both the class '" +
                              info.name + "' and the ignore value; choose another with --ignore N");
}

// Two classes of one name are one in every report, and nobody can tell which is which.
Status CheckClassNames(const std::vector<ClassInfo>& classes) {
  std::map<std::string_view, uint32_t> ids;
  for (const ClassInfo& info : classes) {
    if (!IsRecordKey(info.name)) {
      return InvalidArgumentError("class " + std::to_string(info.id) + ": '" +
                                  EscapeControl(info.name) +
                                  "' is no usable name; give the class table with --classes FILE");
    }
    const auto [other, is_new] = ids.emplace(info.name, info.id);
    if (is_new) continue;
    return InvalidArgumentError("classes " + std::to_string(other->second) + " and " +
                                std::to_string(info.id) + " have one name, '" + info.name +
                                "'; give the class table with --classes FILE");
  }
  return OkStatus();
}

// What Cityscapes' raw ids become nobody has said, and most of them look like training ids.
Status CheckRawIds(const LayoutOptions& options, const InputSet& set) {
  constexpr std::string_view kRawIds = "_labelIds";
  constexpr size_t kRawClasses = 34;
  const bool decided = options.map.has_value() || set.labels.map.has_value();
  if (decided || set.labels.form != LabelForm::kImage || set.classes.size() >= kRawClasses) {
    return OkStatus();
  }
  for (const InputSplit& split : set.splits) {
    for (const Sample& sample : split.samples) {
      if (!EndsWith(WithoutImageExtension(sample.label.path), kRawIds)) continue;
      return InvalidArgumentError(
          "label " + sample.label.path + " is named like those of Cityscapes' raw ids, 0 to 33, " +
          "and the class table has " + std::to_string(set.classes.size()) +
          " classes; give --map cityscapes, or --map none if the values are the class ids");
    }
  }
  return OkStatus();
}

Status CheckLabelRules(InputSet* set) {
  LabelRules& rules = set->labels;
  if (rules.map.has_value()) {
    RETURN_IF_ERROR(CheckValueMap(*rules.map, set->classes));
    // A map may say "ignore" where the files have no value for it.
    if (!rules.ignore.has_value() && MapsToIgnore(*rules.map)) {
      rules.ignore = set->classes.size() <= kIgnoreU8 ? kIgnoreU8 : kIgnoreU16;
    }
  }
  RETURN_IF_ERROR(CheckIgnore(*set));
  return CheckTolerance(set->classes, rules);
}

bool Holds(const FolderListing& listing, const std::string& path) {
  return listing.Find(path) != nullptr || listing.HasFolder(path);
}

// A path below the source as the shell completes it: "./images/", or from where the user is.
std::string BelowSource(const FolderListing& listing, const std::string& given) {
  std::string path = given;
  while (path.compare(0, 2, "./") == 0) path.erase(0, 2);
  while (!path.empty() && path.back() == '/') path.pop_back();
  if (given.empty() || Holds(listing, path)) return path;
  if (path.empty() || path == ".") return given.front() == '/' ? given : ".";
  std::error_code root_error, path_error;
  const std::filesystem::path root = std::filesystem::canonical(listing.root, root_error);
  const std::filesystem::path file = std::filesystem::canonical(path, path_error);
  if (root_error || path_error) return given;
  path = file.lexically_relative(root).generic_string();
  return path == "." || Holds(listing, path) ? path : given;
}

}  // namespace

const std::vector<Layout>& Layouts() {
  static const std::vector<Layout> layouts = {
      {"suite", "train and train_labels (val, test likewise) with class_dict.csv", 0,
       RecognizeSuite, ReadSuite},
      {"camvid",
       "train.txt, val.txt, test.txt with an image path and a label path per line; or X.png, "
       "X_L.png and label_colors.txt",
       0, RecognizeCamvid, ReadCamvid},
      {"voc", "JPEGImages, SegmentationClass, lists in ImageSets/Segmentation; 255 is ignored", 0,
       RecognizeVoc, ReadVoc},
      {"cityscapes", "leftImg8bit and gtFine (or gtCoarse); raw ids become the 19 training ids", 0,
       RecognizeCityscapes, ReadCityscapes},
      {"kitti", "training/image_2 and training/semantic, with the ids of cityscapes", 0,
       RecognizeKitti, ReadKitti},
      {"ade20k", "images/training and annotations/training of SceneParsing; 0 is ignored", 0,
       RecognizeAde20k, ReadAde20k},
      {"ade20k-full", "X.jpg beside X_seg.png, whose red and green hold the id", 0,
       RecognizeAde20kFull, ReadAde20kFull},
      {"coco-stuff", "images/train2017 and PNG files in annotations/train2017", 0,
       RecognizeCocoStuff, ReadCocoStuff},
      {"mapillary", "training/images and training/labels or training/v1.2/labels, config*.json", 0,
       RecognizeMapillary, ReadMapillary},
      {"mapillary-v2", "the same with training/v2.0/labels", 0, RecognizeMapillaryTwo,
       ReadMapillaryTwo},
      {"deepglobe", "N_sat.jpg and N_mask.png in a folder; colours by thresholds", 0,
       RecognizeDeepGlobe, ReadDeepGlobe, DoubtDeepGlobe},
      {"synthia", "RGB and GT/LABELS, with the class in the red channel", 0, RecognizeSynthia,
       ReadSynthia},
      {"coco",
       "annotations/instances_*.json and images; areas are drawn, smaller ones above larger ones, "
       "crowds lowest",
       0, RecognizeCoco, ReadCoco},
      {"coco-panoptic", "annotations/panoptic_*.json, PNG files in panoptic_*, and images", 0,
       RecognizeCocoPanoptic, ReadCocoPanoptic},
      {"cvat", "annotations.xml of 'CVAT for images', and images; drawn by z_order", 0,
       RecognizeCvat, ReadCvat},
      {"labelme", "X.json with shapes beside each image; later shapes lie above", 0,
       RecognizeLabelme, ReadLabelme},
      {"list", "train.csv, val.txt, … or --list FILE, with an image and a label path per line", 1,
       RecognizeList, ReadList},
      {"csv", "the same with a class name or id in place of the label path, for classification", 1,
       RecognizeCsv, ReadCsv, DoubtClassLists},
      {"pairs",
       "a folder of images and one of label images, as named with --images and --labels, and a "
       "class table",
       1, RecognizePairs, ReadPairs},
      {"imagefolder", "train/CLASS/… and val/CLASS/…, or CLASS/…, for classification", 2,
       RecognizeImageFolder, ReadImageFolder, DoubtClassFolders},
      {"npy", "the same with .npy arrays; or labels.csv (or train.csv, val.csv) with FILE,LABEL", 2,
       RecognizeNpy, ReadNpy, DoubtNpy},
  };
  return layouts;
}

std::vector<std::string> LayoutNames() {
  std::vector<std::string> names = {"auto"};
  for (const Layout& layout : Layouts()) names.push_back(layout.name);
  return names;
}

std::string DescribeLayouts() {
  std::string text;
  for (const Layout& layout : Layouts()) {
    text += (text.empty() ? "  " : "\n  ") + std::string(layout.name) + ": " + layout.expects;
  }
  return text;
}

bool LayoutOptions::Wants(const std::string& split) const {
  return std::find(splits.begin(), splits.end(), split) != splits.end();
}

Result<InputSet> ReadInputSet(const std::string& source, const LayoutOptions& given) {
  ASSIGN_OR_RETURN(FolderListing listing, ScanFolder(source, given.threads, given.output));
  LayoutOptions options = given;
  for (std::string* path : {&options.list, &options.pairs.images, &options.pairs.labels}) {
    *path = BelowSource(listing, *path);
  }
  if (listing.files.empty()) return NothingToRead(listing);
  std::vector<ClassInfo> classes;
  if (options.classes_file.has_value()) {
    ASSIGN_OR_RETURN(classes, ReadClassTable(*options.classes_file));
  }
  InputSet set;
  set.root = source;
  set.hidden_files = listing.hidden;
  set.notes = listing.notes;
  ASSIGN_OR_RETURN(const Layout* layout, FindLayout(listing, options, &set));
  set.layout = layout->name;
  const LayoutInput input = {listing, classes, options};
  RETURN_IF_ERROR(layout->read(input, &set));
  RETURN_IF_ERROR(CheckUnreadLists(input, &set));
  RETURN_IF_ERROR(ApplyLabelOptions(options, classes, &set));
  RETURN_IF_ERROR(CheckClassNames(set.classes));
  RETURN_IF_ERROR(CheckRawIds(options, set));
  RETURN_IF_ERROR(CheckLabelRules(&set));
  RETURN_IF_ERROR(CheckSplitNames(set));
  RETURN_IF_ERROR(UseUnlabelled(listing, options, &set));
  RETURN_IF_ERROR(AddUnreadable(listing, options, &set));
  RETURN_IF_ERROR(ChooseSplits(options.splits, &set));
  if (set.splits.empty()) {
    return NotFoundError("layout " + set.layout + ": there is nothing to pack in " + source +
                         ". It holds:" + DescribeListing(listing));
  }
  std::stable_sort(set.splits.begin(), set.splits.end(),
                   [](const InputSplit& a, const InputSplit& b) {
                     return SplitRank(a.name) < SplitRank(b.name);
                   });
  // A choice of splits leaves the files of the others out.
  if (options.splits.empty()) RETURN_IF_ERROR(AddUnlisted(listing, &set));
  RETURN_IF_ERROR(SortAndCheckKeys(&set));
  return set;
}

}  // namespace shardmill
