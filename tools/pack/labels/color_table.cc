#include "tools/pack/labels/color_table.h"

#include <algorithm>

namespace shardmill {

ColorTable::ColorTable(size_t colors) {
  // At most a quarter full, so that a look-up seldom needs a second step.
  int bits = 4;
  while ((size_t{1} << bits) < 4 * colors) ++bits;
  slots_.assign(size_t{1} << bits, {0, kNone});
  slot_shift_ = 32 - bits;
}

void ColorTable::Insert(uint32_t color, int32_t id) {
  if (Find(color) != kNone) return;
  size_t slot = SlotOf(color);
  while (slots_[slot].id != kNone) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = {color, id};
  entries_.push_back({color, id});
}

int32_t ColorTable::Find(uint32_t color) const {
  size_t slot = SlotOf(color);
  while (slots_[slot].id != kNone) {
    if (slots_[slot].color == color) return slots_[slot].id;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return kNone;
}

int32_t ColorTable::FindNear(uint32_t color, uint32_t tolerance) const {
  for (const Entry& entry : entries_) {
    if (ColorDistance(entry.color, color) <= tolerance) return entry.id;
  }
  return kNone;
}

uint32_t ColorDistance(uint32_t a, uint32_t b) {
  uint32_t distance = 0;
  for (int shift = 0; shift <= 16; shift += 8) {
    const uint32_t x = (a >> shift) & 255, y = (b >> shift) & 255;
    distance = std::max(distance, x > y ? x - y : y - x);
  }
  return distance;
}

}  // namespace shardmill
