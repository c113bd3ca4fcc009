#include "trainer/cuda/dnn/weight_kernels.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace shardmill {
namespace {

ConvolutionShape Transposed() {
  ConvolutionShape shape;
  shape.input = {1, 4, 4, 6};
  shape.out_channels = 4;
  shape.window = SquareWindow(3, 2, 1);
  shape.window.kernel_w = 2;
  shape.groups = 2;
  shape.transposed = true;
  return shape;
}

TEST(WeightOrder, OfAPlainConvolutionIsThatOfTheOpTable) {
  ConvolutionShape shape = Transposed();
  shape.transposed = false;
  const WeightOrder order(shape);
  for (int64_t i = 0; i < shape.WeightElements(); ++i) EXPECT_EQ(order.DnnIndex(i), i);
}

// Spelled out over the four axes, with the groups of both sides apart.
TEST(WeightOrder, OfATransposedOneHasTheInputChannelsFirst) {
  const ConvolutionShape shape = Transposed();
  const WeightOrder order(shape);
  const int64_t taps = 3 * 2, in_per_group = 3, out_per_group = 2;
  std::set<int64_t> places;
  for (int64_t group = 0; group < 2; ++group) {
    for (int64_t out = 0; out < out_per_group; ++out) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        for (int64_t in = 0; in < in_per_group; ++in) {
          const int64_t out_channel = group * out_per_group + out;
          const int64_t in_channel = group * in_per_group + in;
          const int64_t here = (out_channel * taps + tap) * in_per_group + in;
          EXPECT_EQ(order.DnnIndex(here), (in_channel * taps + tap) * out_per_group + out);
          places.insert(order.DnnIndex(here));
        }
      }
    }
  }
  EXPECT_EQ(static_cast<int64_t>(places.size()), shape.WeightElements());
}

// Of padded images: zeros stand where there are no weights, and gradients there are not counted.
TEST(WeightKernels, PaddedWeightsAreSpreadAndTheirGradientsGathered) {
  ConvolutionShape shape;
  shape.input = {1, 4, 4, 8};
  shape.out_channels = 2;
  shape.window = SquareWindow(3, 1, 1);
  shape.zero_channels = 5;
  const WeightOrder order(shape);
  EXPECT_TRUE(order.ChangesPlaces());
  std::vector<float> weights(shape.WeightElements()), spread(2 * 9 * 8, 0.0f);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i + 1);
  const WeightsToDnnKernel<float, float> there = {order, weights.data(), spread.data()};
  for (int64_t i = 0; i < shape.WeightElements(); ++i) there(i);
  for (int64_t i = 0; i < 2 * 9 * 8; ++i) {
    const int64_t channel = i % 8, tap = i / 8;
    EXPECT_EQ(spread[i], channel < 3 ? static_cast<float>(tap * 3 + channel + 1) : 0.0f) << i;
    if (channel >= 3) spread[i] = 77;
  }
  std::vector<float> gradients(weights.size());
  const WeightsFromDnnKernel<float, float> back = {order, spread.data(), gradients.data()};
  for (int64_t i = 0; i < shape.WeightElements(); ++i) back(i);
  EXPECT_EQ(gradients, weights);
}

TEST(WeightKernels, ThereAndBackIsTheSameButForRounding) {
  const ConvolutionShape shape = Transposed();
  const int64_t count = shape.WeightElements();
  std::vector<float> weights(count), back(count);
  std::vector<Bfloat16> dnn(count);
  for (int64_t i = 0; i < count; ++i) weights[i] = static_cast<float>(i - 20) / 4;
  const WeightsToDnnKernel<float, Bfloat16> there = {WeightOrder(shape), weights.data(),
                                                     dnn.data()};
  const WeightsFromDnnKernel<Bfloat16, float> again = {WeightOrder(shape), dnn.data(), back.data()};
  for (int64_t i = 0; i < count; ++i) there(i);
  for (int64_t i = 0; i < count; ++i) again(i);
  EXPECT_EQ(back, weights);  // quarters below 64 are exact in bf16
}

}  // namespace
}  // namespace shardmill
