#include "tools/pack/records/measure.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "proto/manifest.pb.h"
#include "tools/pack/labels/id_runs.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

TEST(Measure, ImageSumsOverTheRegion) {
  const ImageSize size = {9, 70};
  RandomStream random(1);
  std::vector<uint8_t> pixels;
  for (uint64_t i = 0; i < size.pixels() * 3; ++i) {
    pixels.push_back(static_cast<uint8_t>(random.Below(256)));
  }
  const Region region = {2, 3, {5, 61}};
  uint64_t sum[3] = {}, sum_sq[3] = {};
  for (uint32_t y = 2; y < 7; ++y) {
    for (uint32_t x = 3; x < 64; ++x) {
      for (uint32_t c = 0; c < 3; ++c) {
        uint64_t value = pixels[3 * (y * size.width + x) + c];
        sum[c] += value;
        sum_sq[c] += value * value;
      }
    }
  }
  proto::Statistics statistics;
  MeasureImage({size, pixels.data()}, region, &statistics);
  EXPECT_EQ(statistics.image_pixels(), 5u * 61);
  for (int c = 0; c < 3; ++c) {
    EXPECT_EQ(statistics.channel_sum(c).low(), sum[c]);
    EXPECT_EQ(statistics.channel_sum_sq(c).low(), sum_sq[c]);
    EXPECT_EQ(statistics.channel_sum(c).high(), 0u);
  }
}

TEST(Measure, WhiteImagesDoNotOverflow) {
  const ImageSize size = {3, 70000};
  std::vector<uint8_t> pixels(size.pixels() * 3, 255);
  proto::Statistics statistics;
  MeasureImage({size, pixels.data()}, {0, 0, size}, &statistics);
  EXPECT_EQ(statistics.channel_sum_sq(2).low(), uint64_t{255} * 255 * size.pixels());
}

TEST(Measure, ClassPixelsAndIgnore) {
  ClassIdMap map = {{2, 4}, DType::kU8, {0, 0, 2, 255, 2, 2, 2, 255}};
  proto::Statistics statistics;
  MeasureLabels(map, {0, 0, map.size}, 3, &statistics);
  EXPECT_EQ(statistics.class_pixels(0), 2u);
  EXPECT_EQ(statistics.class_pixels(1), 0u);
  EXPECT_EQ(statistics.class_pixels(2), 4u);
  EXPECT_EQ(statistics.class_images(1), 0u);
  EXPECT_EQ(statistics.class_images(2), 1u);
  EXPECT_EQ(statistics.class_image_pixels(2), 6u);
  EXPECT_EQ(statistics.class_image_pixels(1), 0u);
  EXPECT_EQ(statistics.ignore_pixels(), 2u);
}

template <typename Id>
void ExpectRunsCounted() {
  RandomStream random(5);
  for (const uint32_t longest : {1u, 3u, 20u, 300u}) {
    ClassIdMap labels = {{1, static_cast<uint32_t>(random.Below(1000) + 1)},
                         sizeof(Id) == 1 ? DType::kU8 : DType::kU16,
                         {}};
    labels.bytes.resize(labels.size.pixels() * sizeof(Id));
    auto* ids = reinterpret_cast<Id*>(labels.bytes.data());
    std::vector<uint64_t> counts(7);
    size_t run_end = 0;
    for (size_t i = 0; i < labels.size.width; ++i) {
      if (i == run_end) run_end += 1 + random.Below(longest);
      ids[i] = i + 1 == run_end || i == 0 ? static_cast<Id>(random.Below(7)) : ids[i - 1];
      ++counts[ids[i]];
    }
    for (size_t begin = 0; begin < labels.size.width;
         begin = RunEnd(ids, begin, labels.size.width)) {
      const size_t end = RunEnd(ids, begin, labels.size.width);
      const Id* last = std::find_if(ids + begin, ids + labels.size.width,
                                    [&](Id id) { return id != ids[begin]; });
      ASSERT_EQ(ids + end, last);
    }
    proto::Statistics statistics;
    MeasureLabels(labels, {0, 0, labels.size}, 7, &statistics);
    for (int id = 0; id < 7; ++id) {
      EXPECT_EQ(statistics.class_pixels(id), counts[static_cast<size_t>(id)]);
    }
  }
}

TEST(Measure, RunsOfAnyLengthAreCountedWhole) {
  ExpectRunsCounted<uint8_t>();
  ExpectRunsCounted<uint16_t>();
}

TEST(Measure, PaddingOutsideTheRegionIsNotCounted) {
  ClassIdMap map = {{2, 3}, DType::kU16, {255, 0, 1, 0, 1, 0, 255, 0, 1, 0, 0, 1}};
  proto::Statistics statistics;
  MeasureLabels(map, {0, 1, {2, 2}}, 2, &statistics);
  EXPECT_EQ(statistics.class_pixels(0), 0u);
  EXPECT_EQ(statistics.class_pixels(1), 3u);
  EXPECT_EQ(statistics.ignore_pixels(), 1u);
}

TEST(Measure, ClassIdCountsOneImage) {
  proto::Statistics statistics;
  MeasureClassId(1, 3, &statistics);
  EXPECT_EQ(statistics.class_pixels(1), 1u);
  EXPECT_EQ(statistics.class_images(0), 0u);
}

}  // namespace
}  // namespace shardmill
