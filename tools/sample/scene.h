// A made-up street: what stands where, in metres, and how it is lit.
//
// The camera looks along +z from height `camera_height` over the middle of a straight road;
// x points right, y up. Everything follows from one seed. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace shardmill {

enum SceneClass : uint8_t { kSky, kBuilding, kRoad, kSidewalk, kTree, kCar, kSceneClassCount };

struct SceneClassInfo {
  const char* name;
  uint32_t color;  // 0xRRGGBB in label images
};
extern const std::array<SceneClassInfo, kSceneClassCount> kSceneClasses;

struct Color {
  float r = 0, g = 0, b = 0;  // 0 … 255
};

struct Box {
  float x0, x1, y0, y1, z0, z1;
};

struct Building {
  Box box;
  Color wall;
  float storey = 3;  // height of one, metres
  float window_pitch = 2.5f;
  bool lit_windows = false;
};

struct Tree {
  float x, z;
  float trunk_height, trunk_radius;
  struct Puff {
    float x, y, radius;
  };
  std::vector<Puff> crown;  // discs that face the camera
  Color leaves;
};

struct Car {
  Box body, cabin;
  Color paint;
  bool shows_back = true;  // red lamps, else white ones
};

struct Scene {
  float focal = 1;        // of image widths
  float horizon = 0.45f;  // of image heights, from the top
  float vanishing_x = 0.5f;
  float camera_height = 1.5f;
  float camera_x = 0;
  float road_half_width = 4;
  Color sky_top, sky_low, road, sidewalk;
  float light = 1;     // of everything
  float sun_side = 1;  // -1: the left faces of things are lit, 1: the right ones
  float haze_metres = 120;
  float cloud_cover = 0.5f;
  uint64_t texture_seed = 0;
  std::vector<Building> buildings;
  std::vector<Tree> trees;
  std::vector<Car> cars;
};

// The scene number `index` of a set made from `seed`.
Scene MakeScene(uint64_t seed, uint64_t index);

}  // namespace shardmill
