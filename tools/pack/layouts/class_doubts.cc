#include "tools/pack/layouts/class_doubts.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "reader/base/file.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/file_start.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/labels/class_table.h"
#include "tools/pack/layouts/class_folders.h"
#include "tools/pack/layouts/folder_names.h"
#include "tools/pack/layouts/layout_parts.h"

namespace shardmill {
namespace {

// Of more folders than this, none is the data set itself or one half of it.
constexpr size_t kFewFolders = 8;
constexpr int kDeepest = 3;
// Layouts that look into every text file are not asked where there may be one for each image.
constexpr size_t kFewFiles = 64;
constexpr char kRoboflowTable[] = "_classes.csv";
constexpr char kClassesAllTheSame[] =
    "; if the folders are classes all the same, say --layout imagefolder";

std::string Join(const std::string& above, const std::string& name) {
  return above.empty() ? name : above + "/" + name;
}

// The folders whose sub-folders are the classes.
std::vector<std::string> ClassParents(const FolderListing& listing) {
  std::vector<std::string> parents = SplitFoldersAtTop(listing);
  return parents.empty() ? std::vector<std::string>{""} : parents;
}

// As a shell takes it.
std::string Quoted(const std::string& word) {
  return word.find_first_of(" \t&;()'\"$*?#") == std::string::npos ? word : "\"" + word + "\"";
}

std::string PairsAdvice(const std::string& images, const std::string& labels,
                        const std::string& classes = "FILE") {
  return "say --layout pairs --images " + Quoted(images) + " --labels " + Quoted(labels) +
         " --classes " + Quoted(classes);
}

// What lies below `folder`, as if it were the source.
FolderListing ListingBelow(const FolderListing& listing, const std::string& folder) {
  FolderListing below;
  below.root = JoinPath(listing.root, folder);
  const size_t cut = folder.size() + 1;
  auto [begin, end] = listing.FilesBelow(folder);
  for (size_t i = begin; i < end; ++i) {
    const ListedFile& file = listing.files[i];
    below.files.push_back({file.path.substr(cut), file.bytes, file.changed_ns});
  }
  for (const std::string& path : listing.folders) {
    if (BeginsWith(path, folder + "/")) below.folders.push_back(path.substr(cut));
  }
  return below;
}

// Why a folder is a data set of its own; empty: it is none.
std::string LayoutWithin(const FolderListing& listing) {
  const bool has_few_files = listing.FilesIn("").size() <= kFewFiles;
  for (const Layout& layout : Layouts()) {
    if (layout.rank > 1 || (layout.rank == 1 && !has_few_files)) continue;
    const std::string reason = layout.recognize(listing);
    if (!reason.empty()) return std::string(layout.name) + ": " + reason;
  }
  return "";
}

// A folder below the source that a known layout recognises.
std::string DoubtInnerSet(const FolderListing& listing, int depth = 1) {
  const std::vector<std::string> folders = listing.FoldersIn("");
  if (folders.size() > kFewFolders) return "";
  for (const std::string& folder : folders) {
    const FolderListing below = ListingBelow(listing, folder);
    const std::string reason = LayoutWithin(below);
    if (!reason.empty()) {
      return "folder " + folder + " fits layout " + reason + ". Pack that folder: shardmill pack " +
             below.root + " …";
    }
    const std::string deeper = depth < kDeepest ? DoubtInnerSet(below, depth + 1) : "";
    if (!deeper.empty()) return deeper;
  }
  return "";
}

// Two folders side by side, of which one names images and the other labels.
struct Halves {
  std::string images, labels;
};

// One for each folder above; those of the train split first.
std::vector<Halves> FindHalves(const FolderListing& listing) {
  std::map<std::string, Halves> by_folder;
  for (const std::string& path : listing.folders) {
    Halves& halves = by_folder[FolderAbove(path)];
    const std::string name(NameOf(path));
    if (NamesImages(name)) halves.images = path;
    if (NamesLabels(name)) halves.labels = path;
  }
  std::vector<Halves> found;
  for (auto& [above, halves] : by_folder) {
    if (!halves.images.empty() && !halves.labels.empty()) found.push_back(std::move(halves));
  }
  std::stable_partition(found.begin(), found.end(), [](const Halves& halves) {
    return UsualSplitName(halves.images.substr(0, halves.images.find('/'))) == "train";
  });
  return found;
}

std::string DoubtNames(const FolderListing& listing) {
  const std::vector<Halves> found = FindHalves(listing);
  if (found.empty()) return "";
  const auto& [images, labels] = found.front();
  const std::string text = "folder " + images + " is named like images and " + labels +
                           " like their labels; " + PairsAdvice(images, labels);
  if (found.size() == 1) return text;
  return text + " for these alone; there are " + std::to_string(found.size()) +
         " such folders, as " + found[1].images +
         ": to pack all of them give both halves the same names in each split (train/images, "
         "train/masks, val/images, …), or write a list of images, labels and splits";
}

// A class folder with the very name of one half of a data set.
std::string DoubtClassNames(const FolderListing& listing) {
  for (const std::string& parent : ClassParents(listing)) {
    for (const std::string& name : listing.FoldersIn(parent)) {
      const std::string lower = LowerCase(name);
      // Short words are names of people and things too.
      const bool is_word = lower.find_first_of("_- ") == std::string::npos &&
                           (lower.size() > 4 || lower == "mask" || lower == "gt");
      const bool is_half = lower == "jpegimages" || lower == "image" || lower == "images" ||
                           lower == "img" || lower == "imgs" || (is_word && NamesLabels(lower));
      if (!is_half) continue;
      return "folder " + Join(parent, name) +
             " is named like one half of images and labels, and not like a class; say --layout "
             "pairs --images FOLDER --labels FOLDER if there are both, name the folder itself if "
             "the classes lie in it, and take away what is no class";
    }
  }
  return "";
}

// Parts of one set of images: "images_part_1" beside "images_part_2", or "train_images" alone.
std::string DoubtPartsOfImages(const FolderListing& listing) {
  for (const std::string& parent : ClassParents(listing)) {
    const std::vector<std::string> names = listing.FoldersIn(parent);
    if (names.empty() || !std::all_of(names.begin(), names.end(),
                                      [](const std::string& name) { return NamesImages(name); })) {
      continue;
    }
    return "folder " + Join(parent, names.front()) + (names.size() > 1 ? ", as all others," : "") +
           " is named like images and not like a class; write their classes into a list "
           "(image,label) and say --layout csv, or sort the images into a folder for each class";
  }
  return "";
}

// "1_mask.png" beside "1.jpg".
std::string DoubtFileNames(const FolderListing& listing) {
  std::unordered_map<std::string, std::string> files;  // by path without extension
  for (const ListedFile& file : listing.files) {
    if (HasImageExtension(file.path)) {
      files.emplace(WithoutImageExtension(file.path), file.path);
    }
  }
  for (const auto& file : listing.files) {
    if (!HasImageExtension(file.path)) continue;
    const std::string stem(WithoutImageExtension(NameOf(file.path)));
    const std::string image = WithoutLabelWord(stem);
    if (image.empty()) continue;
    const std::string folder = FolderAbove(file.path);
    const auto found = files.find(Join(folder, image));
    if (found == files.end()) continue;
    const size_t cut = stem.size() - image.size();
    const bool is_suffix = BeginsWith(stem, image);
    const std::string rule = is_suffix ? " --label-suffix=" + stem.substr(image.size())
                                       : " --label-prefix=" + stem.substr(0, cut);
    // What lies in the folder of a split lies in those of the others too.
    const bool is_split = !UsualSplitName(std::string(NameOf(folder))).empty();
    const std::string above = is_split ? FolderAbove(folder) : folder;
    const std::string all = above.empty() ? "." : above;
    const ListedFile* table = listing.Find(Join(folder, kRoboflowTable));
    return file.path + " is named like the label of " + found->second + "; " +
           PairsAdvice(all, all, table == nullptr ? "FILE" : JoinPath(listing.root, table->path)) +
           rule;
  }
  return "";
}

// Gray or with a palette, as labels are and photographs are not.
bool IsIndexPng(const FolderListing& listing, const std::string& path) {
  constexpr size_t kColorTypeAt = 25;
  constexpr char kGray = 0, kPalette = 3;
  const Result<std::string> start = ReadFileStart(JoinPath(listing.root, path), kColorTypeAt + 1);
  if (!start.ok() || start->size() <= kColorTypeAt) return false;
  const char type = (*start)[kColorTypeAt];
  return SniffFormat(*start) == FileFormat::kPng && (type == kGray || type == kPalette);
}

// "1.png", gray or with a palette, beside "1.jpg".
std::string DoubtSameStems(const FolderListing& listing) {
  std::unordered_map<std::string_view, const std::string*> files;  // by path without extension
  for (const ListedFile& file : listing.files) {
    if (!HasImageExtension(file.path)) continue;
    const auto [found, is_new] = files.emplace(WithoutImageExtension(file.path), &file.path);
    if (is_new) continue;
    const bool is_label = IsIndexPng(listing, file.path);
    const std::string& label = is_label ? file.path : *found->second;
    const std::string& image = is_label ? *found->second : file.path;
    if (IsIndexPng(listing, image) || !IsIndexPng(listing, label)) continue;
    return label + " has the name of " + image +
           " and is gray or has a palette, as labels do; move the labels into a folder of their "
           "own and say --layout pairs --images FOLDER --labels FOLDER --classes FILE";
  }
  return "";
}

struct FolderImages {
  std::string folder;
  std::vector<std::string> paths;
  std::unordered_set<std::string> stems;  // below the folder
};

FolderImages ImagesIn(const FolderListing& listing, const std::string& folder) {
  FolderImages images = {folder, {}, {}};
  auto [begin, end] = listing.FilesBelow(folder);
  for (size_t i = begin; i < end; ++i) {
    const std::string& path = listing.files[i].path;
    if (!HasImageExtension(path)) continue;
    images.paths.push_back(path);
    images.stems.emplace(WithoutImageExtension(std::string_view(path).substr(folder.size() + 1)));
  }
  return images;
}

// The first, the middle and the last one all are, or all are not.
bool AllIndexPng(const FolderListing& listing, const FolderImages& images, bool wanted) {
  const size_t count = images.paths.size();
  for (size_t place : {size_t{0}, count / 2, count - 1}) {
    if (IsIndexPng(listing, images.paths[place]) != wanted) return false;
  }
  return true;
}

// At least half of the names in `labels` stand in `images` too.
bool ShareStems(const FolderImages& images, const FolderImages& labels) {
  if (images.paths.empty() || labels.paths.empty()) return false;
  const auto shared =
      std::count_if(labels.stems.begin(), labels.stems.end(),
                    [&](const std::string& stem) { return images.stems.count(stem) > 0; });
  return static_cast<size_t>(shared) * 2 >= labels.stems.size();
}

// What tells the labels of a pair of folders with the same names; empty: nothing does. Among more
// folders than two, "ann" and "seg" may be people.
std::string SignOfLabels(const FolderListing& listing, const FolderImages& images,
                         const FolderImages& labels, bool is_alone) {
  if (AllIndexPng(listing, labels, true) && AllIndexPng(listing, images, false)) {
    return "those in " + labels.folder + " are gray or have a palette, as labels do";
  }
  const bool is_named = NamesLabels(NameOf(labels.folder)) && !NamesLabels(NameOf(images.folder));
  return is_alone && is_named ? labels.folder + " is named like labels" : "";
}

std::string DoubtEqualStems(const FolderListing& listing) {
  std::vector<std::string> above = SplitFoldersAtTop(listing);
  above.emplace_back("");
  for (const std::string& parent : above) {
    const std::vector<std::string> names = listing.FoldersIn(parent);
    if (names.size() < 2 || names.size() > kFewFolders) continue;
    std::vector<FolderImages> folders;
    for (const std::string& name : names) folders.push_back(ImagesIn(listing, Join(parent, name)));
    for (const FolderImages& images : folders) {
      for (const FolderImages& labels : folders) {
        if (&images == &labels || !ShareStems(images, labels)) continue;
        const std::string sign = SignOfLabels(listing, images, labels, names.size() == 2);
        if (sign.empty()) continue;
        return "the files in " + images.folder + " and " + labels.folder +
               " have the same names, and " + sign + "; " +
               PairsAdvice(images.folder, labels.folder);
      }
    }
  }
  return "";
}

// Splits under names that are not the usual ones.
std::string DoubtSplits(const FolderListing& listing, const LayoutOptions& options) {
  const std::vector<std::string> folders = listing.FoldersIn("");
  const bool has_splits = !SplitFoldersAtTop(listing).empty();
  std::vector<std::string> splits;
  bool holds_folders = false;
  for (const std::string& folder : folders) {
    if (!UsualSplitName(folder).empty() || !NamesASplit(folder)) continue;
    splits.push_back(folder);
    holds_folders = holds_folders || !listing.FoldersIn(folder).empty();
  }
  constexpr char kRename[] =
      "; rename the folders of splits to train, val and test, with the classes in each";
  if (has_splits && holds_folders && options.splits.empty()) {
    return "folder " + splits.front() + " looks like a split and would be left out" + kRename +
           ", or choose those to pack with --split NAME,…";
  }
  if (has_splits) return "";
  if (splits.size() > 1 || holds_folders) {
    return "folder " + splits.front() + " looks like a split and not like a class" + kRename;
  }
  if (folders.size() < 2) return "";
  const std::vector<std::string> first = listing.FoldersIn(folders.front());
  const bool all_alike =
      first.size() > 1 && std::all_of(folders.begin(), folders.end(), [&](const std::string& name) {
        return listing.FoldersIn(name) == first;
      });
  if (!all_alike) return "";
  return "all folders hold the same sub-folders (" + first[0] + ", " + first[1] +
         (first.size() > 2 ? ", …" : "") + "), so that those may be the classes and " +
         folders.front() + " a split" + kRename;
}

// A class table whose order is not the one of the folders.
std::string DoubtTable(const FolderListing& listing, const LayoutOptions& options) {
  const std::string table = ClassTableAtTop(listing);
  if (table.empty() || options.classes_file.has_value()) return "";
  const std::vector<std::string> names = listing.FoldersIn(ClassParents(listing).front());
  const auto classes = ReadClassTable(JoinPath(listing.root, table));
  const bool is_same =
      classes.ok() &&
      std::equal(classes->begin(), classes->end(), names.begin(), names.end(),
                 [](const ClassInfo& info, const std::string& name) { return info.name == name; });
  if (is_same) return "";
  return table + " looks like a class table, whose classes are not the folders in their order (" +
         names.front() + (names.size() > 1 ? ", …" : "") + "); say --classes " +
         JoinPath(listing.root, table) + " if it has the classes";
}

// A file of labels that would not be read.
std::string DoubtAnnotationFiles(const FolderListing& listing) {
  std::vector<std::string> folders = SplitFoldersAtTop(listing);
  folders.emplace_back("");
  const std::string table = ClassTableAtTop(listing);
  for (const std::string& folder : folders) {
    for (const std::string& name : listing.FilesIn(folder)) {
      const std::string lower = LowerCase(name);
      const std::string stem = lower.substr(0, lower.rfind('.'));
      const bool may_hold = EndsWith(lower, ".json") || EndsWith(lower, ".xml") ||
                            EndsWith(lower, ".csv") || EndsWith(lower, ".tsv");
      const bool is_named =
          NamesLabels(stem) || BeginsWith(stem, "instances_") || BeginsWith(stem, "panoptic_");
      if (!may_hold || !is_named || (folder.empty() && name == table)) continue;
      return Join(folder, name) + " is named like labels and would not be read";
    }
  }
  return "";
}

// A loose image that keeps folders from being class folders.
std::string LooseImage(const FolderListing& listing) {
  for (const std::string& parent : ClassParents(listing)) {
    const std::vector<std::string> names = listing.FilesIn(parent);
    const auto loose = std::find_if(names.begin(), names.end(), [](const std::string& name) {
      return HasImageExtension(name);
    });
    if (loose == names.end()) continue;
    const std::string path = Join(parent, *loose);
    const std::vector<std::string> folders = listing.FoldersIn(parent);
    if (!folders.empty()) {
      return "imagefolder: " + path + " lies beside the folders of classes (" +
             Join(parent, folders.front()) + "), and in none of them; move it, or take it away";
    }
    if (parent.empty()) return "imagefolder: the images lie in no folders of classes";
    std::string text = "imagefolder: " + parent +
                       " is the name of a split, and its images lie in no folders of classes (" +
                       path + ")";
    for (const std::string& other : listing.FoldersIn("")) {
      if (!UsualSplitName(other).empty()) continue;
      text += "; if it is a class beside " + other + ", put both below a folder train";
      break;
    }
    return text;
  }
  return "";
}

// "train" beside "train_masks" or "trainannot".
std::string FolderWithLabels(const FolderListing& listing) {
  for (const std::string& folder : listing.folders) {
    for (const char* separator : {"_", "-", ""}) {
      for (const char* word :
           {"masks", "mask", "labels", "label", "annot", "annotations", "gt", "seg"}) {
        const std::string labels = folder + separator + word;
        if (!listing.HasFolder(labels)) continue;
        return "pairs: " + labels + " looks like the labels of " + folder + "; " +
               PairsAdvice(folder, labels) + ", once for each split";
      }
    }
  }
  return "";
}

}  // namespace

std::string DoubtClassFolders(const FolderListing& listing, const LayoutOptions& options) {
  std::string doubt = DoubtInnerSet(listing);
  if (doubt.empty()) doubt = DoubtNames(listing);
  if (doubt.empty()) doubt = FolderWithLabels(listing);
  if (doubt.empty()) doubt = DoubtFileNames(listing);
  if (doubt.empty()) doubt = DoubtSameStems(listing);
  if (doubt.empty()) doubt = DoubtClassNames(listing);
  if (doubt.empty()) doubt = DoubtSplits(listing, options);
  if (doubt.empty()) doubt = DoubtPartsOfImages(listing);
  if (doubt.empty()) doubt = DoubtEqualStems(listing);
  if (doubt.empty()) doubt = DoubtTable(listing, options);
  if (doubt.empty()) doubt = DoubtAnnotationFiles(listing);
  return doubt.empty() ? "" : doubt + kClassesAllTheSame;
}

std::string NearLayouts(const FolderListing& listing) {
  std::string text;
  for (const std::string& reason :
       {FolderWithLabels(listing), DoubtNames(listing), DoubtFileNames(listing),
        DoubtInnerSet(listing), LooseImage(listing)}) {
    if (!reason.empty()) text += "\n  " + reason;
  }
  return text;
}

}  // namespace shardmill
