#include "tools/pack/layouts/list_choice.h"

#include <algorithm>
#include <set>
#include <utility>

#include "reader/base/file.h"
#include "reader/console/terminal.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/list_pairs.h"
#include "tools/pack/layouts/list_rows.h"
#include "tools/pack/layouts/listed_files.h"

namespace shardmill {
namespace {

// Other text files may lead to an image by chance, somewhere.
constexpr size_t kLinesTried = 20;

bool IsListName(const std::string& name) {
  for (const char* end : {".txt", ".csv", ".tsv", ".lst"}) {
    if (EndsWith(LowerCase(name), end)) return true;
  }
  return false;
}

std::string StemOf(const std::string& file) {
  const std::string name(NameOf(file));
  return name.substr(0, name.rfind('.'));
}

// "train.csv" and "train_labels.csv" are of train.
List MakeList(const std::string& file) {
  const std::string stem = StemOf(file);
  return {file, UsualSplitName(stem.substr(0, stem.find_first_of("_-")))};
}

// The split whose list has this very name, as "val.txt"; empty: there is none.
std::string SplitOfName(const std::string& file) {
  return IsListName(file) ? UsualSplitName(StemOf(file)) : "";
}

// Decides by the first row that leads anywhere.
void LookIntoRow(const ListRow& row, ListedFileFinder* finder, ListContent* content) {
  for (const ListedPair& pair : row.cuts) {
    content->pairs |= finder->Find(pair.image) != nullptr && finder->Find(pair.label) != nullptr;
  }
  if (content->pairs) return;
  const ListedPair& pair = row.cuts.back();
  const ListedFile* image = finder->FindImage(pair.image);
  if (image == nullptr || !HasImageExtension(image->path)) return;
  // The path of a label that is missing is no class.
  (HasImageExtension(pair.label) ? content->pairs : content->classes) = true;
}

bool Holds(const ListContent& content, ListKind kind) {
  return kind == ListKind::kPairs ? content.pairs : content.classes;
}

bool HasSplit(const std::vector<List>& lists, const std::string& split) {
  return std::any_of(lists.begin(), lists.end(),
                     [&](const List& list) { return list.split == split; });
}

}  // namespace

Result<bool> WantsImageList(const LayoutInput& input, const std::string& file, InputSet* set) {
  ASSIGN_OR_RETURN(const InputSplit images, ReadImageList(input.listing, file));
  std::set<std::string> files;
  for (const Problem& image : images.problems) {
    if (image.lacks_label) files.insert(image.key);
  }
  return WantsUnlabelled(input, "test", file + " names images alone", "", std::move(files), set);
}

namespace {

// Lists of further splits, which look like none.
Status AddCompanions(const LayoutInput& input, InputSet* set, std::vector<List>* lists) {
  const std::vector<List> found = *lists;
  for (const std::string& name : input.listing.FilesIn("")) {
    const std::string split = SplitOfName(name);
    if (split.empty() || HasSplit(found, split)) continue;
    set->lists.push_back(name);
    const bool unlabelled = split == "test" && LookIntoList(input.listing, name).images_alone;
    if (unlabelled) {
      ASSIGN_OR_RETURN(const bool wanted, WantsImageList(input, name, set));
      if (!wanted) continue;
    }
    lists->push_back({name, split, unlabelled});
  }
  return OkStatus();
}

}  // namespace

ListContent LookIntoList(const FolderListing& listing, const std::string& file) {
  ListLines lines = ReadListLines(JoinPath(listing.root, file));
  ListContent content;
  content.problem = std::move(lines.problem);
  content.any_row = !lines.rows.empty();
  ListedFileFinder finder(listing);
  const size_t tried = SplitOfName(file).empty() ? kLinesTried : SIZE_MAX;
  for (size_t i = 0; i < std::min(lines.rows.size(), tried); ++i) {
    LookIntoRow(lines.rows[i], &finder, &content);
    if (content.pairs || content.classes) return content;
  }
  // Paths may hold blanks, which cut a line in two elsewhere.
  const Result<std::vector<TextLine>> all = ReadLines(JoinPath(listing.root, file));
  for (size_t i = 0; all.ok() && i < std::min(all->size(), tried); ++i) {
    const ListedFile* image = finder.FindImage(ImageAlone((*all)[i].text, &finder));
    content.images_alone |= image != nullptr && HasImageExtension(image->path);
    if (content.images_alone) break;
    const std::string_view text = (*all)[i].text;
    const std::string_view word = text.substr(0, text.find_first_of(" \t,;"));
    if (content.missing.empty() && HasImageExtension(word)) content.missing = word;
  }
  return content;
}

std::vector<List> FindLists(const FolderListing& listing, ListKind kind) {
  std::vector<List> of_splits, others;
  for (const std::string& name : listing.FilesIn("")) {
    if (!IsListName(name) || !Holds(LookIntoList(listing, name), kind)) continue;
    List list = MakeList(name);
    (list.split.empty() ? others : of_splits).push_back(std::move(list));
  }
  return of_splits.empty() ? others : of_splits;
}

Result<std::vector<List>> ChooseLists(const LayoutInput& input, ListKind kind, InputSet* set) {
  const std::string& file = input.options.list;
  if (!file.empty()) {
    set->lists.push_back(file);
    if (input.listing.Find(file) != nullptr) return std::vector<List>{{file, ""}};
    return NotFoundError("there is no list file " + file + " in " + input.listing.root);
  }
  std::vector<List> lists = FindLists(input.listing, kind);
  if (lists.empty()) {
    return NotFoundError("there is no list file at the top of " + input.listing.root +
                         " whose lines lead to images; name one with --list FILE");
  }
  for (const List& list : lists) set->lists.push_back(list.file);
  if (!lists.front().split.empty()) RETURN_IF_ERROR(AddCompanions(input, set, &lists));
  return lists;
}

Status CheckUnreadLists(const LayoutInput& input, InputSet* set) {
  for (const std::string& name : input.listing.FilesIn("")) {
    const std::string split = SplitOfName(name);
    const bool is_read = std::count(set->lists.begin(), set->lists.end(), name) > 0;
    if (split.empty() || is_read || input.options.LeavesOut(split)) continue;
    const ListContent content = LookIntoList(input.listing, name);
    const bool may_count = content.pairs || content.classes || content.images_alone;
    const bool is_damaged = !content.any_row && !content.problem.ok();
    const bool is_chosen = input.options.layout != "auto" || !input.options.list.empty();
    if (is_chosen || !(may_count || is_damaged || !content.missing.empty())) {
      set->notes.push_back("layout " + set->layout + " does not read " + name);
      continue;
    }
    if (!may_count && !is_damaged) {
      return InvalidArgumentError(
          name + " lists images that are not in this folder, such as " +
          EscapeControl(content.missing) + ", and the folder looks like layout " + set->layout +
          ", which does not read it. Correct its paths if it counts; --layout " + set->layout +
          " packs without it");
    }
    if (content.images_alone && !content.pairs && !content.classes) {
      return InvalidArgumentError(
          name + " lists images of this folder, and the folder looks like layout " + set->layout +
          ", which does not read it. It names images alone: to have the splits that it gives, "
          "write lists with a label behind each image (train.csv, val.csv, …) for --layout list; "
          "--layout " +
          set->layout + " packs without it");
    }
    return InvalidArgumentError(
        (may_count ? name + " lists images of this folder"
                   : name + " may be the list of a split (" +
                         std::string(content.problem.message()) + ")") +
        ", and the folder looks like layout " + set->layout +
        ", which does not read it. Say what counts: --layout list or csv for the list, --layout " +
        set->layout + " for the folders");
  }
  return OkStatus();
}

}  // namespace shardmill
