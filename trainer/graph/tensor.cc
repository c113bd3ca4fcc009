#include "trainer/graph/tensor.h"

namespace shardmill {

std::string ShapeText(const Shape& shape) {
  return std::to_string(shape.n) + " × " + std::to_string(shape.h) + " high × " +
         std::to_string(shape.w) + " wide × " + std::to_string(shape.c) + " channels";
}

}  // namespace shardmill
