// Finds the class of a colour.
//
// Immutable after the last Insert(): then one object serves all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shardmill {

class ColorTable {
 public:
  static constexpr int32_t kNone = -1;

  // With room for `colors` colours.
  explicit ColorTable(size_t colors);

  // 0xRRGGBB. A colour that is there already keeps its first id.
  void Insert(uint32_t color, int32_t id);
  bool empty() const { return entries_.empty(); }

  int32_t Find(uint32_t color) const;  // kNone: no class
  // The class whose colour differs by at most `tolerance` in every channel, the first if several.
  int32_t FindNear(uint32_t color, uint32_t tolerance) const;

 private:
  struct Entry {
    uint32_t color;
    int32_t id;
  };
  size_t SlotOf(uint32_t color) const { return (color * 0x9E3779B1u) >> slot_shift_; }

  std::vector<Entry> slots_;  // open addressing; the size is a power of two
  std::vector<Entry> entries_;
  int slot_shift_ = 0;
};

// The largest difference of a channel.
uint32_t ColorDistance(uint32_t a, uint32_t b);

}  // namespace shardmill
