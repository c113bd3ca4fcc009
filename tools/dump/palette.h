// The colours in which classes are shown.
//
// A class has the colour of the class table, or, where the table has none, a generated one that
// is as far as possible from all the others. Pixels of no class are hatched in two grays and ids
// outside the class table are a magenta and black checkerboard: neither can be taken for a class.
// Immutable; safe for concurrent use.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/schema.h"
#include "tools/dump/picture.h"

namespace shardmill {

class ClassPalette {
 public:
  explicit ClassPalette(const std::vector<ClassInfo>& classes);

  int class_count() const { return static_cast<int>(colors_.size()); }
  // Requires 0 <= id < class_count().
  Rgb color(int32_t id) const { return colors_[id]; }
  // The same for any id of a LabelMap; the place in the picture decides where a pattern is light
  // or dark.
  Rgb ColorAt(int32_t id, int y, int x) const;

 private:
  std::vector<Rgb> colors_;
};

// Fills in the missing colours: well distinguishable from each other and from those given, the
// same ones for the same input. Beyond some hundred classes colours repeat.
std::vector<Rgb> CompleteColors(const std::vector<ClassInfo>& classes);

}  // namespace shardmill
