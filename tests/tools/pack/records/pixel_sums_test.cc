#include "tools/pack/records/pixel_sums.h"

#include <gtest/gtest.h>

#include <vector>

#include <hwy/targets.h>

#include "tools/random_stream.h"

namespace shardmill {
namespace {

void ExpectSame(const std::vector<uint8_t>& rgb, uint64_t pixels) {
  RgbSums fast, plain;
  fast.sum[1] = plain.sum[1] = 5;  // sums go on from what is there
  AddRgbSums(rgb.data(), pixels, &fast);
  AddRgbSumsPlainly(rgb.data(), pixels, &plain);
  for (int c = 0; c < 3; ++c) {
    ASSERT_EQ(fast.sum[c], plain.sum[c]) << pixels;
    ASSERT_EQ(fast.sum_sq[c], plain.sum_sq[c]) << pixels;
  }
}

// Runs `test` once per instruction set that this processor has.
template <typename Test>
void OnEveryTarget(Test test) {
  for (int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    hwy::SetSupportedTargetsForTest(left & -left);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

TEST(PixelSums, AgreeForAllLengths) {
  RandomStream random(3);
  std::vector<uint8_t> rgb;
  for (int i = 0; i < 3 * 200; ++i) rgb.push_back(static_cast<uint8_t>(random.Below(256)));
  OnEveryTarget([&] {
    for (uint64_t pixels = 0; pixels <= 200; ++pixels) ExpectSame(rgb, pixels);
  });
}

TEST(PixelSums, LongWhiteRowsDoNotOverflow) {
  const std::vector<uint8_t> rgb(3 * 3'000'000, 255);
  OnEveryTarget([&] { ExpectSame(rgb, 3'000'000); });
}

}  // namespace
}  // namespace shardmill
