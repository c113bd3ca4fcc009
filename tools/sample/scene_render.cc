#include "tools/sample/scene_render.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/random_stream.h"

namespace shardmill {
namespace {

struct Ray {
  float x, y;  // direction; its z is 1, so a distance along the ray is a depth in metres
};

struct Hit {
  float depth = 1e9f;
  SceneClass label = kSky;
  Color color;
};

Color Scale(Color color, float factor) {
  return {color.r * factor, color.g * factor, color.b * factor};
}

Color Mix(Color a, Color b, float share) {
  return {a.r + (b.r - a.r) * share, a.g + (b.g - a.g) * share, a.b + (b.b - a.b) * share};
}

float Floor(float value) { return std::floor(value); }

// A hash of a lattice point, in [0, 1).
float Lattice(uint64_t seed, int64_t x, int64_t y) {
  uint64_t bits = MixBits(
      seed ^ MixBits(static_cast<uint64_t>(x) * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(y)));
  return static_cast<float>(bits >> 40) * 0x1.0p-24f;
}

// Smooth noise in [0, 1) with features of size 1.
float SmoothNoise(uint64_t seed, float x, float y) {
  float fx = Floor(x), fy = Floor(y);
  auto ix = static_cast<int64_t>(fx), iy = static_cast<int64_t>(fy);
  auto ease = [](float t) { return t * t * (3 - 2 * t); };
  float u = ease(x - fx), v = ease(y - fy);
  float top = Lattice(seed, ix, iy) * (1 - u) + Lattice(seed, ix + 1, iy) * u;
  float low = Lattice(seed, ix, iy + 1) * (1 - u) + Lattice(seed, ix + 1, iy + 1) * u;
  return top * (1 - v) + low * v;
}

float Fraction(float value) { return value - Floor(value); }

class Renderer {
 public:
  Renderer(const Scene& scene, ImageSize size) : scene_(scene), size_(size) {}

  RenderedScene Render() const;

 private:
  Hit Cast(const Ray& ray) const;
  Hit CastSky(const Ray& ray) const;
  void CastGround(const Ray& ray, Hit* hit) const;
  Color RoadColor(float x, float z) const;
  Color SidewalkColor(float x, float z) const;
  float ShadowAt(float x, float z) const;
  void CastBuilding(const Building& building, const Ray& ray, Hit* hit) const;
  Color WallColor(const Building& building, float along, float y) const;
  void CastTree(const Tree& tree, const Ray& ray, Hit* hit) const;
  void CastCar(const Car& car, const Ray& ray, Hit* hit) const;
  // Depth at which the ray enters the box and the axis of the face it enters by (0 x, 1 y, 2 z);
  // false when it misses or when something nearer was hit.
  bool EnterBox(const Box& box, const Ray& ray, float limit, float* depth, int* axis) const;
  float FaceLight(const Ray& ray, int axis) const;
  Color Expose(const Hit& hit, float column, float row) const;

  const Scene& scene_;
  const ImageSize size_;
};

Hit Renderer::CastSky(const Ray& ray) const {
  Hit hit;
  float height = std::clamp(ray.y * 1.6f, 0.0f, 1.0f);
  hit.color = Mix(scene_.sky_low, scene_.sky_top, height);
  // Clouds lie on a plane far above, so that they shrink towards the horizon.
  float scale = 2.2f / (ray.y + 0.12f);
  float noise = 0.6f * SmoothNoise(scene_.texture_seed, ray.x * scale, scale) +
                0.4f * SmoothNoise(scene_.texture_seed + 1, ray.x * scale * 2.3f, scale * 2.3f);
  float cloud = std::clamp((noise - 0.75f + 0.45f * scene_.cloud_cover) * 3, 0.0f, 0.85f);
  hit.color = Mix(hit.color, {240, 242, 246}, cloud);
  return hit;
}

float Renderer::ShadowAt(float x, float z) const {
  float shadow = 1;
  for (const Car& car : scene_.cars) {
    const Box& box = car.body;
    if (x > box.x0 - 0.15f && x < box.x1 + 0.15f && z > box.z0 - 0.25f && z < box.z1 + 0.2f) {
      shadow = 0.45f;
    }
  }
  for (const Tree& tree : scene_.trees) {
    float dx = (x - (tree.x - scene_.sun_side * 1.8f)) / 2.2f;
    float dz = (z - tree.z) / 1.5f;
    if (dx * dx + dz * dz < 1) shadow = std::min(shadow, 0.72f);
  }
  return shadow;
}

Color Renderer::RoadColor(float x, float z) const {
  float grain = SmoothNoise(scene_.texture_seed + 2, x * 3, z * 1.2f);
  Color color = Scale(scene_.road, 0.9f + 0.2f * grain);
  bool center_line = std::abs(x) < 0.09f && Fraction(z / 6) < 0.5f;
  bool edge_line = std::abs(std::abs(x) - scene_.road_half_width + 0.25f) < 0.06f;
  return center_line || edge_line ? Color{222, 222, 216} : color;
}

Color Renderer::SidewalkColor(float x, float z) const {
  float beyond = std::abs(x) - scene_.road_half_width;
  if (beyond < 0.22f) return Scale(scene_.sidewalk, 1.14f);  // kerb stone
  float stone = Lattice(scene_.texture_seed + 3, static_cast<int64_t>(Floor(x)),
                        static_cast<int64_t>(Floor(z)));
  bool joint = Fraction(x) < 0.05f || Fraction(z) < 0.05f;
  return Scale(scene_.sidewalk, joint ? 0.8f : 0.94f + 0.12f * stone);
}

void Renderer::CastGround(const Ray& ray, Hit* hit) const {
  if (ray.y >= -1e-4f) return;
  float z = scene_.camera_height / -ray.y;
  float x = scene_.camera_x + ray.x * z;
  bool road = std::abs(x) < scene_.road_half_width;
  hit->depth = z;
  hit->label = road ? kRoad : kSidewalk;
  hit->color = Scale(road ? RoadColor(x, z) : SidewalkColor(x, z), ShadowAt(x, z));
}

bool Renderer::EnterBox(const Box& box, const Ray& ray, float limit, float* depth,
                        int* axis) const {
  const float origin[3] = {scene_.camera_x, scene_.camera_height, 0};
  const float direction[3] = {ray.x, ray.y, 1};
  const float low[3] = {box.x0, box.y0, box.z0};
  const float high[3] = {box.x1, box.y1, box.z1};
  float enter = 0.05f, leave = limit;
  *axis = 2;
  for (int i = 0; i < 3; ++i) {
    if (std::abs(direction[i]) < 1e-9f) {
      if (origin[i] < low[i] || origin[i] > high[i]) return false;
      continue;
    }
    float a = (low[i] - origin[i]) / direction[i];
    float b = (high[i] - origin[i]) / direction[i];
    if (a > b) std::swap(a, b);
    if (a > enter) {
      enter = a;
      *axis = i;
    }
    leave = std::min(leave, b);
  }
  *depth = enter;
  return enter < leave;
}

float Renderer::FaceLight(const Ray& ray, int axis) const {
  if (axis == 1) return 1.05f;
  if (axis == 2) return 0.82f;
  // A ray that enters through a side face sees the left face of what lies to its right.
  float face = ray.x > 0 ? -1.0f : 1.0f;
  return face == scene_.sun_side ? 1.08f : 0.68f;
}

Color Renderer::WallColor(const Building& building, float along, float y) const {
  float storey = Fraction(y / building.storey);
  float column = Fraction(along / building.window_pitch);
  bool below_roof = y < building.box.y1 - 0.5f;
  bool window = storey > 0.32f && storey < 0.78f && column > 0.28f && column < 0.74f && below_roof;
  if (!window) {
    float grain = SmoothNoise(scene_.texture_seed + 4, along * 1.7f, y * 1.7f);
    return Scale(building.wall, (storey < 0.06f ? 0.86f : 0.95f) + 0.1f * grain);
  }
  float pane =
      Lattice(scene_.texture_seed + 5, static_cast<int64_t>(Floor(along / building.window_pitch)),
              static_cast<int64_t>(Floor(y / building.storey)));
  if (building.lit_windows && pane > 0.7f) return {214, 186, 120};
  return Mix({48, 44, 46}, {112, 104, 104}, pane);
}

void Renderer::CastBuilding(const Building& building, const Ray& ray, Hit* hit) const {
  float depth = 0;
  int axis = 0;
  if (!EnterBox(building.box, ray, hit->depth, &depth, &axis)) return;
  float x = scene_.camera_x + ray.x * depth;
  float y = scene_.camera_height + ray.y * depth;
  hit->depth = depth;
  hit->label = kBuilding;
  Color wall = axis == 1 ? building.wall : WallColor(building, axis == 0 ? depth : x, y);
  hit->color = Scale(wall, FaceLight(ray, axis));
}

void Renderer::CastTree(const Tree& tree, const Ray& ray, Hit* hit) const {
  if (tree.z >= hit->depth) return;
  float x = scene_.camera_x + ray.x * tree.z;
  float y = scene_.camera_height + ray.y * tree.z;
  float ragged = SmoothNoise(scene_.texture_seed + 6, x * 5, y * 5 + tree.z);
  for (const Tree::Puff& puff : tree.crown) {
    float dx = x - puff.x, dy = y - puff.y;
    float radius = puff.radius * (0.82f + 0.3f * ragged);
    if (dx * dx + dy * dy > radius * radius) continue;
    float fine = SmoothNoise(scene_.texture_seed + 7, x * 9, y * 9 + tree.z);
    float sun = 0.1f * (dx * scene_.sun_side + dy) / puff.radius;
    hit->depth = tree.z;
    hit->label = kTree;
    hit->color = Scale(tree.leaves, 0.68f + 0.55f * fine + sun);
    return;
  }
  if (std::abs(x - tree.x) < tree.trunk_radius && y > 0 && y < tree.trunk_height + 0.6f) {
    hit->depth = tree.z;
    hit->label = kTree;
    hit->color = Scale({86, 66, 48}, 0.8f + 0.4f * ragged);
  }
}

void Renderer::CastCar(const Car& car, const Ray& ray, Hit* hit) const {
  float depth = 0;
  int axis = 0;
  if (EnterBox(car.body, ray, hit->depth, &depth, &axis)) {
    float y = scene_.camera_height + ray.y * depth;
    float across = (scene_.camera_x + ray.x * depth - car.body.x0) / (car.body.x1 - car.body.x0);
    float along = (depth - car.body.z0) / (car.body.z1 - car.body.z0);
    hit->depth = depth;
    hit->label = kCar;
    hit->color = Scale(car.paint, FaceLight(ray, axis));
    bool wheel = axis == 0 && y < 0.55f &&
                 (std::abs(along - 0.2f) < 0.08f || std::abs(along - 0.8f) < 0.08f);
    bool lamp = axis == 2 && y > 0.55f && y < 0.75f && std::abs(across - 0.5f) > 0.36f;
    if (wheel || (axis == 2 && y < 0.32f)) hit->color = {26, 26, 28};
    if (lamp) hit->color = car.shows_back ? Color{214, 30, 26} : Color{246, 242, 214};
  }
  if (EnterBox(car.cabin, ray, hit->depth, &depth, &axis)) {
    hit->depth = depth;
    hit->label = kCar;
    float up = scene_.camera_height + ray.y * depth - car.cabin.y0;
    bool roof = axis == 1 || up > (car.cabin.y1 - car.cabin.y0) * 0.86f;
    float light = FaceLight(ray, axis);
    hit->color = roof ? Scale(car.paint, light) : Scale({62, 72, 84}, 0.7f + 0.5f * up);
  }
  // Tyres carry the body, seen from behind or in front.
  for (float x : {car.body.x0, car.body.x1 - 0.22f}) {
    Box tyre = {x, x + 0.22f, 0, 0.3f, car.body.z0 + 0.05f, car.body.z0 + 0.6f};
    if (!EnterBox(tyre, ray, hit->depth, &depth, &axis)) continue;
    hit->depth = depth;
    hit->label = kCar;
    hit->color = {20, 20, 22};
  }
}

Hit Renderer::Cast(const Ray& ray) const {
  Hit hit = CastSky(ray);
  CastGround(ray, &hit);
  for (const Building& building : scene_.buildings) CastBuilding(building, ray, &hit);
  for (const Car& car : scene_.cars) CastCar(car, ray, &hit);
  for (const Tree& tree : scene_.trees) CastTree(tree, ray, &hit);
  return hit;
}

// Haze, exposure and the darker corners of a lens.
Color Renderer::Expose(const Hit& hit, float column, float row) const {
  Color color = hit.color;
  if (hit.label != kSky) {
    float haze = hit.depth / (hit.depth + scene_.haze_metres);
    color = Mix(color, scene_.sky_low, 0.7f * haze);
  }
  float dx = column - 0.5f, dy = row - 0.5f;
  return Scale(color, scene_.light * (1 - 0.28f * (dx * dx + dy * dy)));
}

// A slight blur, as of a lens, along one line of values that are `step` apart: weights 1 2 1.
void BlurLine(float* first, size_t step, size_t length) {
  float before = first[0];
  for (size_t i = 0; i < length; ++i) {
    float here = first[i * step];
    float after = first[std::min(i + 1, length - 1) * step];
    first[i * step] = (before + 2 * here + after) * 0.25f;
    before = here;
  }
}

std::vector<uint8_t> Develop(std::vector<float> light, ImageSize size, uint64_t seed) {
  size_t row = size_t{size.width} * 3;
  for (size_t y = 0; y < size.height; ++y) {
    for (size_t c = 0; c < 3; ++c) BlurLine(light.data() + y * row + c, 3, size.width);
  }
  for (size_t i = 0; i < row; ++i) BlurLine(light.data() + i, row, size.height);
  std::vector<uint8_t> image(light.size());
  RandomStream noise(seed);
  for (size_t i = 0; i < light.size(); ++i) {
    // The sum of four uniform values is near enough to the noise of a sensor.
    uint64_t bits = noise.Next();
    float sum = 0;
    for (int k = 0; k < 4; ++k) sum += static_cast<float>((bits >> (16 * k)) & 0xFFFF) / 65536.0f;
    float value = light[i] + (sum - 2) * 9;
    image[i] = static_cast<uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f));
  }
  return image;
}

RenderedScene Renderer::Render() const {
  RenderedScene rendered;
  rendered.labels.resize(size_.pixels());
  std::vector<float> light(size_.pixels() * 3);
  auto width = static_cast<float>(size_.width), height = static_cast<float>(size_.height);
  for (size_t y = 0; y < size_.height; ++y) {
    for (size_t x = 0; x < size_.width; ++x) {
      float column = (static_cast<float>(x) + 0.5f) / width;
      float row = (static_cast<float>(y) + 0.5f) / height;
      Ray ray = {(column - scene_.vanishing_x) / scene_.focal,
                 (scene_.horizon - row) * height / (width * scene_.focal)};
      Hit hit = Cast(ray);
      Color color = Expose(hit, column, row);
      size_t pixel = y * size_.width + x;
      rendered.labels[pixel] = hit.label;
      light[pixel * 3] = color.r;
      light[pixel * 3 + 1] = color.g;
      light[pixel * 3 + 2] = color.b;
    }
  }
  rendered.image = Develop(std::move(light), size_, scene_.texture_seed + 8);
  return rendered;
}

}  // namespace

RenderedScene RenderScene(const Scene& scene, ImageSize size) {
  return Renderer(scene, size).Render();
}

}  // namespace shardmill
