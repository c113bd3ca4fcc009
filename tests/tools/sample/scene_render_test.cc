#include "tools/sample/scene_render.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace shardmill {
namespace {

constexpr ImageSize kSize = {96, 128};

std::array<uint64_t, kSceneClassCount> CountClasses(const std::vector<uint8_t>& labels) {
  std::array<uint64_t, kSceneClassCount> counts = {};
  for (uint8_t label : labels) ++counts.at(label);
  return counts;
}

TEST(SceneRender, SameSceneGivesSameBytes) {
  RenderedScene first = RenderScene(MakeScene(7, 3), kSize);
  RenderedScene second = RenderScene(MakeScene(7, 3), kSize);
  EXPECT_EQ(first.image, second.image);
  EXPECT_EQ(first.labels, second.labels);
}

TEST(SceneRender, SeedAndIndexChangeTheScene) {
  RenderedScene base = RenderScene(MakeScene(7, 3), kSize);
  EXPECT_NE(base.labels, RenderScene(MakeScene(7, 4), kSize).labels);
  EXPECT_NE(base.labels, RenderScene(MakeScene(8, 3), kSize).labels);
}

TEST(SceneRender, SizesAreAsAskedFor) {
  RenderedScene scene = RenderScene(MakeScene(1, 0), {3, 5});
  EXPECT_EQ(scene.image.size(), 3u * 5 * 3);
  EXPECT_EQ(scene.labels.size(), 3u * 5);
}

// A class that hardly ever occurs could not be learned within a quick start.
TEST(SceneRender, EveryClassHasAShareOfThePixels) {
  std::array<uint64_t, kSceneClassCount> total = {};
  constexpr uint64_t kScenes = 40;
  for (uint64_t index = 0; index < kScenes; ++index) {
    auto counts = CountClasses(RenderScene(MakeScene(1, index), kSize).labels);
    for (size_t i = 0; i < counts.size(); ++i) total[i] += counts[i];
  }
  for (size_t i = 0; i < total.size(); ++i) {
    double share = static_cast<double>(total[i]) / static_cast<double>(kScenes * kSize.pixels());
    EXPECT_GT(share, 0.03) << kSceneClasses[i].name;
    EXPECT_LT(share, 0.5) << kSceneClasses[i].name;
  }
}

TEST(SceneRender, SkyIsAboveAndGroundBelow) {
  RenderedScene scene = RenderScene(MakeScene(1, 0), kSize);
  for (uint32_t x = 0; x < kSize.width; ++x) {
    EXPECT_NE(scene.labels[(kSize.height - 1) * kSize.width + x], kSky);
    EXPECT_NE(scene.labels[x], kRoad);
  }
}

}  // namespace
}  // namespace shardmill
