// Temporary files that writers of an AtomicFile leave behind when they are killed.
//
// Free functions without state.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace shardmill {

// What the temporary file was to be called: "a.json" for "a.json.tmp-4242" and "a.json.tmp-4242-1",
// as AtomicFile names them; empty for all else, which is somebody's own.
std::string_view NameWithoutTemporarySuffix(std::string_view name);

// Removes the temporary files of `path` that no process, of this host or another, is writing any
// more. Costs a look at all names in the folder. What cannot be removed stays.
void RemoveRemnants(const std::string& path);

// The same of all files of the folder whose final name `is_ours` takes; the folders in it are left
// out.
void RemoveRemnantsIn(const std::string& folder,
                      const std::function<bool(const std::string& final_name)>& is_ours);

}  // namespace shardmill
