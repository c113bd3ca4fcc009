// Class ids that no class has, where a class table or an annotation file gives ids with gaps: they
// keep their place in the class table, so that every class keeps its id.
//
// Free functions without state.
#pragma once

#include <cstdint>
#include <string>

#include "reader/schema.h"

namespace shardmill {

inline ClassInfo UnusedClass(uint32_t id) {
  return {id, "unused " + std::to_string(id), std::nullopt};
}

inline bool IsUnusedClass(const ClassInfo& info) {
  return !info.color.has_value() && info.name == UnusedClass(info.id).name;
}

}  // namespace shardmill
