#include "tools/sample/scene.h"

#include <cstddef>

#include "tools/random_stream.h"

namespace shardmill {

const std::array<SceneClassInfo, kSceneClassCount> kSceneClasses = {{
    {"sky", 0x808080},
    {"building", 0x800000},
    {"road", 0x804080},
    {"sidewalk", 0x0000C0},
    {"tree", 0x808000},
    {"car", 0x400080},
}};

namespace {

constexpr float kStreetLength = 110;
constexpr float kNearest = 2;

float Between(RandomStream* random, float low, float high) {
  return static_cast<float>(random->Between(low, high));
}

Color Vary(RandomStream* random, Color color, float amount) {
  float all = Between(random, -amount, amount);
  auto channel = [&](float value) {
    float varied = value + all + Between(random, -amount, amount) * 0.4f;
    return varied < 0 ? 0 : varied > 255 ? 255 : varied;
  };
  return {channel(color.r), channel(color.g), channel(color.b)};
}

template <size_t N>
Color Pick(RandomStream* random, const Color (&colors)[N]) {
  return colors[random->Below(N)];
}

void SetLight(RandomStream* random, Scene* scene) {
  static constexpr Color kTops[] = {{70, 120, 205}, {95, 145, 220}, {150, 175, 210}};
  scene->sky_top = Vary(random, Pick(random, kTops), 14);
  scene->sky_low = Vary(random, {205, 220, 238}, 12);
  scene->road = Vary(random, {88, 88, 94}, 12);
  scene->sidewalk = Vary(random, {172, 164, 152}, 12);
  scene->light = Between(random, 0.72f, 1.1f);
  scene->sun_side = random->Chance(0.5) ? 1.0f : -1.0f;
  scene->haze_metres = Between(random, 90, 240);
  scene->cloud_cover = Between(random, 0.1f, 0.8f);
}

void SetCamera(RandomStream* random, Scene* scene) {
  scene->focal = Between(random, 0.68f, 0.85f);
  scene->horizon = Between(random, 0.40f, 0.54f);
  scene->vanishing_x = Between(random, 0.40f, 0.60f);
  scene->camera_height = Between(random, 1.4f, 2.2f);
  scene->camera_x = Between(random, -1.6f, 1.6f);
  scene->road_half_width = Between(random, 3.6f, 5.0f);
}

void AddBuildings(RandomStream* random, float side, float front, Scene* scene) {
  static constexpr Color kWalls[] = {{158, 82, 62},  {186, 140, 98}, {206, 178, 130},
                                     {142, 100, 74}, {196, 112, 84}, {176, 152, 118}};
  float z = kNearest + Between(random, -6, 4);
  while (z < kStreetLength) {
    float length = Between(random, 7, 16);
    float depth = Between(random, 8, 14);
    float near_x = side * front;
    float far_x = side * (front + depth);
    Building building;
    building.box = {side < 0 ? far_x : near_x,
                    side < 0 ? near_x : far_x,
                    0,
                    Between(random, 4.5f, 13),
                    z,
                    z + length};
    building.wall = Vary(random, Pick(random, kWalls), 16);
    building.storey = Between(random, 2.6f, 3.6f);
    building.window_pitch = Between(random, 1.9f, 3.2f);
    building.lit_windows = random->Chance(0.3);
    scene->buildings.push_back(building);
    z += length + (random->Chance(0.35) ? Between(random, 3, 9) : 0);
  }
}

void AddTrees(RandomStream* random, float side, float kerb, Scene* scene) {
  static constexpr Color kLeaves[] = {{58, 110, 44}, {82, 128, 48}, {44, 92, 52}, {104, 132, 54}};
  float spacing = Between(random, 6, 16);
  for (float z = Between(random, 5, 14); z < kStreetLength; z += spacing) {
    if (random->Chance(0.25)) continue;
    Tree tree;
    tree.x = side * (kerb + Between(random, 0.7f, 1.4f));
    tree.z = z;
    tree.trunk_height = Between(random, 2.2f, 3.2f);
    tree.trunk_radius = Between(random, 0.14f, 0.24f);
    tree.leaves = Vary(random, Pick(random, kLeaves), 12);
    float radius = Between(random, 1.1f, 1.9f);
    for (int i = 0; i < 7; ++i) {
      tree.crown.push_back({tree.x + Between(random, -0.8f, 0.8f) * radius,
                            tree.trunk_height + Between(random, 0.1f, 1.5f) * radius,
                            radius * Between(random, 0.5f, 0.8f)});
    }
    scene->trees.push_back(tree);
  }
}

Car MakeCar(RandomStream* random, float x, float z, bool shows_back) {
  static constexpr Color kPaints[] = {{196, 28, 30}, {28, 58, 168},  {236, 238, 240},
                                      {22, 22, 26},  {232, 184, 24}, {24, 128, 140}};
  float half = Between(random, 0.85f, 0.98f);
  float length = Between(random, 3.8f, 4.6f);
  float waist = Between(random, 0.85f, 1.0f);
  Car car;
  car.body = {x - half, x + half, 0.18f, waist, z, z + length};
  car.cabin = {x - half * 0.86f,   x + half * 0.86f,  waist, waist + Between(random, 0.5f, 0.75f),
               z + length * 0.12f, z + length * 0.72f};
  car.paint = Vary(random, Pick(random, kPaints), 10);
  car.shows_back = shows_back;
  return car;
}

void AddCars(RandomStream* random, Scene* scene) {
  float half = scene->road_half_width;
  for (float side : {-1.0f, 1.0f}) {
    // Driving: one to two per lane, then parked ones along the kerb.
    float z = Between(random, 6.5f, 20);
    for (uint64_t i = random->Below(2) + 1; i > 0; --i) {
      scene->cars.push_back(
          MakeCar(random, side * half * Between(random, 0.32f, 0.42f), z, side > 0));
      z += Between(random, 9, 24);
    }
    z = Between(random, 7, 16);
    for (uint64_t i = random->Below(4); i > 0; --i) {
      scene->cars.push_back(MakeCar(random, side * (half - 0.95f), z + 1.5f, side > 0));
      z += Between(random, 5.6f, 9);
    }
  }
}

}  // namespace

Scene MakeScene(uint64_t seed, uint64_t index) {
  RandomStream random(MixBits(seed) ^ MixBits(index + 0x5CE9E));
  Scene scene;
  SetLight(&random, &scene);
  SetCamera(&random, &scene);
  float sidewalk_width = Between(&random, 2.2f, 3.6f);
  for (float side : {-1.0f, 1.0f}) {
    AddBuildings(&random, side, scene.road_half_width + sidewalk_width, &scene);
    AddTrees(&random, side, scene.road_half_width, &scene);
  }
  AddCars(&random, &scene);
  scene.texture_seed = random.Next();
  return scene;
}

}  // namespace shardmill
