#include "tools/pack/layouts/list_doubts.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <unordered_set>
#include <vector>

#include "reader/base/file.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/layouts/class_folders.h"
#include "tools/pack/layouts/list_choice.h"
#include "tools/pack/layouts/list_rows.h"

namespace shardmill {
namespace {

// So few images may well be of a class each.
constexpr size_t kFewLabels = 12;

// "1 40 95 20": where the pixels of a mask begin, and how many there are.
bool IsRunLengths(const std::string& label) {
  if (label.find_first_not_of("0123456789 ") != std::string::npos) return false;
  std::istringstream words(label);
  const auto count = std::distance(std::istream_iterator<std::string>(words),
                                   std::istream_iterator<std::string>());
  return count >= 2 && count % 2 == 0;
}

// Labels that are no classes.
std::string DoubtLabelsOfList(const FolderListing& listing, const std::string& file) {
  const ListLines lines = ReadListLines(JoinPath(listing.root, file));
  std::unordered_set<std::string> labels;
  for (const ListRow& row : lines.rows) {
    const std::string& label = row.cuts.front().label;
    labels.insert(label);
    if (!IsRunLengths(label)) continue;
    return "line " + std::to_string(row.line) + " of " + file + " has '" + label.substr(0, 24) +
           (label.size() > 24 ? "…" : "") +
           "', run lengths of a mask and not a class; draw the masks into label images and say "
           "--layout pairs, or, if these are classes all the same, --layout csv";
  }
  if (lines.rows.size() < kFewLabels || labels.size() < lines.rows.size()) return "";
  return "each of the " + std::to_string(lines.rows.size()) + " lines of " + file +
         " has a label of its own, as '" + lines.rows.front().cuts.front().label.substr(0, 24) +
         "', and no two images are of one class; if these are classes all the same, say --layout "
         "csv";
}

}  // namespace

std::string DoubtClassLists(const FolderListing& listing, const LayoutOptions& options) {
  const std::vector<List> lists = FindLists(listing, ListKind::kClasses);
  for (const List& list : lists) {
    std::string doubt = DoubtLabelsOfList(listing, list.file);
    if (!doubt.empty()) return doubt;
  }
  if (lists.empty() || lists.front().split.empty() || !options.splits.empty()) return "";
  for (const std::string& folder : SplitFoldersAtTop(listing)) {
    const std::string split = UsualSplitName(folder);
    const bool is_listed = std::any_of(lists.begin(), lists.end(),
                                       [&](const List& list) { return list.split == split; });
    const std::vector<std::string> classes = listing.FoldersIn(folder);
    if (is_listed || classes.empty()) continue;
    const List& list = lists.front();
    return "folder " + folder + " holds folders of classes (" + classes.front() +
           ", …), and no list is of " + split + ", so that it would be left out. Say --layout " +
           "imagefolder --split " + split + " for its folders alone; or move each image of " +
           list.file + " into a folder of its class (" + list.split +
           "/CLASS/…) and say --layout " + "imagefolder; or say --layout csv for " + list.file +
           " alone";
  }
  return "";
}

}  // namespace shardmill
