#include "trainer/comm/call_position.h"

#include <algorithm>
#include <cstring>

namespace shardmill {

void CallPosition::set_name(std::string_view text) {
  const size_t length = std::min<size_t>(text.size(), kMaxName);
  std::memcpy(name, text.data(), length);
  std::memset(name + length, 0, sizeof name - length);
}

std::string PositionText(const CallPosition& position, CallState state) {
  std::string text = position.step < 0 ? "the start" : "step " + std::to_string(position.step);
  if (position.sequence == 0) return text;
  // The name may come from another process: no terminator is taken for granted.
  const std::string name(position.name, strnlen(position.name, sizeof position.name));
  return text + (state == CallState::kStarted ? ", in '" : ", after '") + name + "'";
}

}  // namespace shardmill
