// What fuzzers of annotation files do with a label that was read: it can be drawn, and holds the
// class ids alone that its names or categories stand for.
#pragma once

#include <cstdint>
#include <utility>

#include "reader/base/status.h"
#include "tools/pack/annotations/annotation_label.h"

namespace shardmill {

// Class ids of the fuzzers' tables are below this, and the background is 0.
constexpr uint32_t kFuzzedClasses = 4;
constexpr uint64_t kFuzzedPixels = 1 << 16;

inline void DrawLabel(Result<ShapeLabel> label) {
  if (!label.ok()) return;
  const uint64_t pixels = label->size.pixels();
  SHARDMILL_CHECK(pixels > 0 && pixels <= kFuzzedPixels);
  ClassIdMap map;
  DrawShapes(std::move(label->shapes), 0, label->size, &map);
  SHARDMILL_CHECK(map.bytes.size() == pixels);
  for (uint8_t id : map.bytes) SHARDMILL_CHECK(id < kFuzzedClasses || id == 255);
}

// Names of the corpus.
inline ShapeNames FuzzedNames() {
  ShapeNames names;
  names.ids = {{"road", 1}, {"car", 2}, {"3", 3}};
  names.ignore = 255;
  return names;
}

}  // namespace shardmill
