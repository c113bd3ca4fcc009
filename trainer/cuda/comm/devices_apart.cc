#include "trainer/cuda/comm/devices_apart.h"

#include <map>

namespace shardmill {

Status CheckApart(const std::vector<std::string>& ids) {
  std::map<std::string, size_t> ranks;
  for (size_t rank = 0; rank < ids.size(); ++rank) {
    const auto [other, is_new] = ranks.emplace(ids[rank], rank);
    if (is_new) continue;
    return UnavailableError("ranks " + std::to_string(other->second) + " and " +
                            std::to_string(rank) +
                            " have the same GPU, but each needs one of its own; start one rank for "
                            "each GPU, or use --device cpu");
  }
  return OkStatus();
}

}  // namespace shardmill
