#include "tools/pack/decode/png_unfilter.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

namespace shardmill {
namespace {

constexpr int kMixed = 5;  // another filter in each row
constexpr uint8_t kGuard = 0xa5;

// How the filtered bytes are spread: each reaches other branches of the predictors.
enum class Noise { kFull, kSmall, kMostlyZero };

uint8_t NextByte(std::mt19937* random, Noise noise) {
  const uint32_t bits = (*random)();
  if (noise == Noise::kFull) return static_cast<uint8_t>(bits);
  if (noise == Noise::kSmall) return static_cast<uint8_t>(bits % 5 - 2);
  return bits % 8 == 0 ? static_cast<uint8_t>(bits >> 8 & 3) : 0;
}

struct Filtered {
  std::vector<uint8_t> bytes;
  PngFilteredRows rows;
};

Filtered MakeFiltered(int64_t width, int64_t height, int pixel_bytes, int filter, Noise noise) {
  std::mt19937 random(static_cast<uint32_t>(width * 1000 + height * 10 + filter));
  Filtered filtered;
  const int64_t row_bytes = width * pixel_bytes;
  filtered.bytes.resize(height * (row_bytes + 1) + kPngUnfilterSlack);
  for (uint8_t& byte : filtered.bytes) byte = NextByte(&random, noise);
  for (int64_t y = 0; y < height; ++y) {
    const int chosen = filter == kMixed ? static_cast<int>(random() % 5) : filter;
    filtered.bytes[y * (row_bytes + 1)] = static_cast<uint8_t>(chosen);
  }
  filtered.rows = {filtered.bytes.data(), height, row_bytes, pixel_bytes};
  return filtered;
}

// The image between guard bytes; fails when the guards change.
template <typename Function>
std::vector<uint8_t> RunGuarded(Function unfilter, const PngFilteredRows& rows) {
  const size_t bytes = rows.rows * rows.row_bytes;
  std::vector<uint8_t> guarded(bytes + 64, kGuard);
  unfilter(rows, guarded.data() + 32);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(guarded[i], kGuard);
    EXPECT_EQ(guarded[32 + bytes + i], kGuard);
  }
  return std::vector<uint8_t>(guarded.begin() + 32, guarded.end() - 32);
}

void ExpectEqual(int64_t width, int64_t height, int pixel_bytes, int filter, Noise noise) {
  const Filtered filtered = MakeFiltered(width, height, pixel_bytes, filter, noise);
  ASSERT_EQ(RunGuarded(UnfilterPng, filtered.rows), RunGuarded(UnfilterPngPlainly, filtered.rows))
      << width << " wide, " << height << " high, " << pixel_bytes << " bytes per pixel, filter "
      << filter;
}

class PngUnfilter : public testing::TestWithParam<int> {};

TEST_P(PngUnfilter, VectorsEqualPlainForAllFiltersAndWidths) {
  for (int filter = 0; filter <= kMixed; ++filter) {
    for (int64_t width = 1; width <= 70; width += width < 40 ? 1 : 3) {
      for (const int64_t height : {1, 2, 5, 9}) {
        for (const Noise noise : {Noise::kFull, Noise::kSmall, Noise::kMostlyZero}) {
          ExpectEqual(width, height, GetParam(), filter, noise);
        }
      }
    }
  }
}

TEST_P(PngUnfilter, VectorsEqualPlainOnALargeImage) {
  ExpectEqual(641, 203, GetParam(), kMixed, Noise::kFull);
  ExpectEqual(641, 203, GetParam(), kMixed, Noise::kMostlyZero);
}

// Makes UnfilterPng() use one instruction set while it lives.
class InstructionSet {
 public:
  explicit InstructionSet(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~InstructionSet() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

TEST_P(PngUnfilter, EveryInstructionSetEqualsPlain) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const InstructionSet chosen(target);
    for (int64_t width = 1; width <= 70; width += 3) {
      ExpectEqual(width, 9, GetParam(), kMixed, Noise::kFull);
      ExpectEqual(width, 9, GetParam(), kMixed, Noise::kMostlyZero);
    }
    if (HasFatalFailure()) FAIL() << hwy::TargetName(target);
  }
}

INSTANTIATE_TEST_SUITE_P(BytesPerPixel, PngUnfilter, testing::Values(1, 2, 3, 4, 6, 8));

// Images of two columns. Even rows hold up-left and up as they are; the Paeth rows below them
// begin with `left` and then ask for one prediction. Four bytes per pixel: four `left` at once.
std::vector<uint8_t> RowsOfTriples(int up_left, int up) {
  std::vector<uint8_t> bytes(64 * 18 + kPngUnfilterSlack, 0);
  for (int left = 0; left < 256; left += 4) {
    uint8_t* rows = bytes.data() + left / 4 * 18;
    std::memset(rows + 1, up_left, 4);
    std::memset(rows + 5, up, 4);
    rows[9] = 4;
    for (int i = 0; i < 4; ++i) rows[10 + i] = static_cast<uint8_t>(left + i - up_left);
  }
  return bytes;
}

// The rule in the words of the format: that neighbour which is nearest to left + up - up-left,
// left before up before up-left where two are equally near.
int Paeth(int left, int up, int up_left) {
  const int estimate = left + up - up_left;
  const int to_left = std::abs(estimate - left);
  const int to_up = std::abs(estimate - up);
  const int to_up_left = std::abs(estimate - up_left);
  if (to_left <= to_up && to_left <= to_up_left) return left;
  return to_up <= to_up_left ? up : up_left;
}

TEST(PngUnfilterPaeth, EveryTripleOfNeighboursFollowsTheRule) {
  for (int up_left = 0; up_left < 256; ++up_left) {
    for (int up = 0; up < 256; ++up) {
      const std::vector<uint8_t> bytes = RowsOfTriples(up_left, up);
      uint8_t pixels[128 * 8];
      UnfilterPng({bytes.data(), 128, 8, 4}, pixels);
      for (int left = 0; left < 256; ++left) {
        const int predicted = pixels[(left / 4 * 2 + 1) * 8 + 4 + left % 4];
        if (predicted != Paeth(left, up, up_left)) {
          FAIL() << predicted << " from " << left << ", " << up << ", " << up_left;
        }
      }
    }
  }
}

TEST(CheckPngFilters, FilterOutsideTheFiveIsDataLossThatNamesTheRow) {
  Filtered filtered = MakeFiltered(3, 4, 1, kMixed, Noise::kFull);
  EXPECT_TRUE(CheckPngFilters(filtered.rows).ok());
  filtered.bytes[2 * 4] = 5;
  const Status status = CheckPngFilters(filtered.rows);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("row 2"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace shardmill
