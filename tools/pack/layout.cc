#include "tools/pack/layout.h"

#include <algorithm>
#include <map>
#include <utility>

#include "reader/console/terminal.h"
#include "tools/pack/class_table.h"
#include "tools/pack/file_format.h"
#include "tools/pack/layouts.h"
#include "tools/pack/pairing.h"
#include "tools/pack/text_lines.h"

namespace shardmill {
namespace {

constexpr size_t kNamesShown = 12;

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

Result<const Layout*> FindLayout(const FolderListing& listing, const std::string& name,
                                 InputSet* set) {
  std::vector<const Layout*> fitting;
  std::string reasons, expected;
  for (const Layout& layout : Layouts()) {
    if (name == layout.name) return &layout;
    std::string reason = layout.recognize(listing);
    expected += "\n  " + std::string(layout.name) + ": " + layout.expects;
    if (reason.empty()) continue;
    fitting.push_back(&layout);
    reasons += "\n  " + std::string(layout.name) + ": " + reason;
  }
  if (fitting.size() == 1) {
    set->notes.push_back("taken for layout " + reasons.substr(reasons.find_first_not_of("\n ")));
    return fitting.front();
  }
  if (fitting.size() > 1) {
    return InvalidArgumentError(listing.root + " fits more than one layout:" + reasons +
                                "\nSay which with --layout NAME.");
  }
  return InvalidArgumentError("no known layout fits " + listing.root + ". It holds:" +
                              DescribeListing(listing) + "\nExpected is one of:" + expected);
}

// Keeps the splits that were asked for and drops empty ones.
Status ChooseSplits(const std::vector<std::string>& wanted, InputSet* set) {
  std::vector<std::string> names;
  for (const InputSplit& split : set->splits) names.push_back(split.name);
  for (const std::string& name : wanted) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return InvalidArgumentError("there is no split '" + name +
                                "'; there are: " + JoinNames(names, kNamesShown));
  }
  auto unwanted = [&](const InputSplit& split) {
    bool chosen =
        wanted.empty() || std::find(wanted.begin(), wanted.end(), split.name) != wanted.end();
    if (chosen && split.inputs() == 0) set->notes.push_back("split " + split.name + " is empty");
    return !chosen || split.inputs() == 0;
  };
  set->splits.erase(std::remove_if(set->splits.begin(), set->splits.end(), unwanted),
                    set->splits.end());
  return OkStatus();
}

Status CheckSplitNames(const InputSet& set) {
  std::map<std::string, int> seen;
  for (const InputSplit& split : set.splits) {
    if (++seen[split.name] > 1) {
      return InvalidArgumentError("two folders make the split '" + split.name +
                                  "'; rename one of them");
    }
  }
  return OkStatus();
}

int SplitRank(const std::string& name) {
  return name == "train" ? 0 : name == "val" ? 1 : name == "test" ? 2 : 3;
}

Status CheckIgnore(const InputSet& set) {
  if (!set.ignore.has_value() || *set.ignore >= set.classes.size()) return OkStatus();
  const ClassInfo& info = set.classes[*set.ignore];
  return InvalidArgumentError("value " + std::to_string(*set.ignore) + " is both the class '" +
                              info.name + "' and the ignore value; choose another with --ignore N");
}

}  // namespace

const std::vector<Layout>& Layouts() {
  static const std::vector<Layout> layouts = {
      {"camvid", "train.txt, val.txt, test.txt with an image path and a label path per line",
       RecognizeCamvid, ReadCamvid},
      {"suite", "train and train_labels (val, test likewise) with class_dict.csv", RecognizeSuite,
       ReadSuite},
      {"imagefolder", "train/CLASS/… and val/CLASS/…, or CLASS/…, for classification",
       RecognizeImageFolder, ReadImageFolder},
  };
  return layouts;
}

std::vector<std::string> LayoutNames() {
  std::vector<std::string> names = {"auto"};
  for (const Layout& layout : Layouts()) names.push_back(layout.name);
  return names;
}

std::string UsualSplitName(const std::string& name) {
  std::string lower = LowerCase(name);
  if (lower == "train" || lower == "training") return "train";
  if (lower == "val" || lower == "valid" || lower == "validation") return "val";
  if (lower == "test" || lower == "testing") return "test";
  return "";
}

Result<InputSet> ReadInputSet(const std::string& source, const LayoutOptions& options) {
  ASSIGN_OR_RETURN(FolderListing listing, ScanFolder(source));
  if (listing.files.empty()) {
    return NotFoundError("there are no files in " + source +
                         (listing.hidden > 0 ? " but hidden ones" : ""));
  }
  std::vector<ClassInfo> classes;
  if (options.classes_file.has_value()) {
    ASSIGN_OR_RETURN(classes, ReadClassTable(*options.classes_file));
  }
  InputSet set;
  set.root = source;
  set.hidden_files = listing.hidden;
  set.notes = listing.notes;
  ASSIGN_OR_RETURN(const Layout* layout, FindLayout(listing, options.layout, &set));
  set.layout = layout->name;
  RETURN_IF_ERROR(layout->read(listing, classes, &set));
  if (AllHaveColors(classes)) set.colors_in_files = true;
  if (options.ignore.has_value()) set.ignore = options.ignore;
  RETURN_IF_ERROR(CheckIgnore(set));
  RETURN_IF_ERROR(CheckSplitNames(set));
  RETURN_IF_ERROR(ChooseSplits(options.splits, &set));
  if (set.splits.empty()) {
    return NotFoundError("layout " + set.layout + ": there is nothing to pack in " + source +
                         ". It holds:" + DescribeListing(listing));
  }
  std::stable_sort(set.splits.begin(), set.splits.end(),
                   [](const InputSplit& a, const InputSplit& b) {
                     return SplitRank(a.name) < SplitRank(b.name);
                   });
  RETURN_IF_ERROR(SortAndCheckKeys(&set));
  return set;
}

}  // namespace shardmill
