// Whether a manifest is that of the shards beside it. Part of manifest.h.
#pragma once

#include <string>
#include <string_view>

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

}  // namespace shardmill
