// Convolutions that are unlike those of the models: odd sizes, groups, uneven windows.
#pragma once

#include <string>
#include <vector>

#include "trainer/ops/op_shapes.h"

namespace shardmill {

struct OddConvolution {
  std::string name;
  ConvolutionShape shape;
};

inline std::vector<OddConvolution> OddConvolutions() {
  constexpr Window kUneven = {3, 2, 2, 1, 1, 0, 2, 1, 1, 2};
  const auto make = [](const char* name, const Shape& input, int64_t channels, const Window& window,
                       int64_t groups, bool transposed) {
    OddConvolution odd = {name, {input, channels, window, groups, transposed, true}};
    return odd;
  };
  return {
      make("FirstLayer", {2, 19, 23, 3}, 8, SquareWindow(3, 1, 1), 1, false),
      make("Wide", {1, 9, 11, 32}, 48, SquareWindow(3, 1, 1), 1, false),
      make("OnePixel", {1, 1, 1, 16}, 5, SquareWindow(1, 1, 0), 1, false),
      make("Linear", {7, 1, 1, 33}, 10, SquareWindow(1, 1, 0), 1, false),
      make("Stride2", {2, 15, 18, 8}, 16, SquareWindow(3, 2, 1), 1, false),
      make("Dilation2", {1, 17, 19, 8}, 8, SquareWindow(3, 1, 2, 2), 1, false),
      make("Groups", {2, 9, 9, 16}, 32, SquareWindow(3, 1, 1), 4, false),
      make("GroupsOfOddSize", {1, 8, 7, 6}, 9, SquareWindow(3, 1, 1), 3, false),
      make("Depthwise", {2, 11, 9, 24}, 24, SquareWindow(3, 1, 1), 24, false),
      make("Uneven", {2, 12, 11, 4}, 6, kUneven, 2, false),
      make("TransposedDoubling", {2, 7, 9, 16}, 8, SquareWindow(2, 2, 0), 1, true),
      make("TransposedOnePixel", {1, 1, 1, 8}, 3, SquareWindow(2, 2, 0), 1, true),
      make("TransposedOverlapping", {1, 6, 5, 8}, 8, SquareWindow(4, 2, 1), 1, true),
      make("TransposedGroups", {2, 5, 6, 8}, 4, SquareWindow(3, 2, 1), 2, true),
      make("TransposedUneven", {2, 7, 6, 4}, 6, kUneven, 2, true),
  };
}

}  // namespace shardmill
