// Whether a manifest is that of the shards beside it, and still is. Part of manifest.h.
#pragma once

#include <string>
#include <string_view>

#include "reader/base/status.h"

namespace shardmill {

namespace proto {
class Manifest;
}  // namespace proto

// Whether there are shards in the folder, and the manifest names none of them: it is one of another
// packing, of which no shard is left.
bool NamesNoneOfTheShards(const std::string& folder, const proto::Manifest& manifest);
// What to say then.
inline constexpr std::string_view kNamesNone =
    "the manifest names none of the shards that are there: was the set packed again into shards of "
    "another size?";

// An error that came of reading the shards of a manifest says what is wrong with them, unless the
// set was not the same any more: then the result is NotFound or Io and says that a pack took its
// place, or does so now, and what to do.
Status ExplainByReplacement(const std::string& folder, const proto::Manifest& manifest,
                            const Status& status);

}  // namespace shardmill
