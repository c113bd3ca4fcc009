// What several layouts need.
//
// Free functions without state.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/layouts/layout.h"

namespace shardmill {

// Where a table may name what has no class and still mean the layout's own classes: also in the
// first row, where the published numbers count that and the layout leaves it out.
enum class NoClassRow { kLast, kFirstOrLast };

// The user's class table, or else one that lies at the top of the folder and names other classes
// than the layout has, or else the layout's own. Where the layout has a map of label values, which
// nobody can apply to other classes, InvalidArgument for a table at the top, and for a user's of
// another length than the layout's, unless the user gave a map. The layout's rules that hold for
// its own classes alone are dropped with them: `index_first`, and for colours that are a class's.
// A table at the top without colours must keep to CheckNumbering().
Status UseClasses(const LayoutInput& input, std::vector<ClassInfo> own, InputSet* set,
                  NoClassRow row = NoClassRow::kLast);

// Whether labels that hold numbers may be read by `classes`, which nobody asked for but the file
// `table` at the top: InvalidArgument when it gives a class of the layout another number, or the
// number of the layout's background to another class, unless it begins with the class that the
// layout begins with.
Status CheckNumbering(const LayoutInput& input, const std::vector<ClassInfo>& own,
                      const std::vector<ClassInfo>& classes, const std::string& table,
                      const InputSet& set);

// The class table at the top of the folder under a usual name; empty: there is none. A file that
// lists images is none.
std::string ClassTableAtTop(const FolderListing& listing);

// The user's class table, or else one that lies at the top of the folder under a usual name.
// NotFound when there is neither.
Status FindClasses(const LayoutInput& input, InputSet* set);

// The first file below `folder` for which `fits` holds; nullptr: there is none.
const ListedFile* FindBelow(const FolderListing& listing, std::string_view folder,
                            const std::function<bool(std::string_view path)>& fits);

// The name of a path's last part, and whether it ends in `end`.
std::string_view NameOf(std::string_view path);
// The folder of a path below the root; "" is the root.
std::string FolderAbove(std::string_view path);
bool EndsWith(std::string_view text, std::string_view end);
bool BeginsWith(std::string_view text, std::string_view begin);

// Adds a split that may not have a usual name; InvalidArgument when it cannot be a name.
Status AddSplit(const std::string& folder_name, InputSplit pairs, InputSet* set);
// The same; where there is no name the inputs are divided into train and val by their keys.
Status AddOrDivide(const std::string& folder_name, InputSplit pairs, InputSet* set);

// For splits whose labels are not public. True when the split was asked for by name; else notes
// that it is left out, and its images become inputs that are left out: those of `tree`, and
// `files`.
bool WantsUnlabelled(const LayoutInput& input, const std::string& split, const std::string& why,
                     const std::string& tree, std::set<std::string> files, InputSet* set);

// For a folder whose images have no labels. Notes that it is left out, as above; the split test,
// when it was asked for by name and its images lie in `images`, is added with them. InvalidArgument
// for the train and val splits, and for others that were asked for.
Status LeaveOutUnlabelled(const LayoutInput& input, const std::string& folder,
                          const std::string& why, InputSet* set, const std::string& images = "");

// The same for layouts in which annotation files name the images: whatever split the folder is of,
// it is left out, unless it is test and was asked for.
Status LeaveOutUnnamed(const LayoutInput& input, const std::string& folder, const std::string& why,
                       InputSet* set);

}  // namespace shardmill
