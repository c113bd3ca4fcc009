// Renders a scene by casting one ray per pixel: the image and its exact label map.
//
// The same scene and size give the same bytes: only + - × ÷ and floor are used, which are
// exact or correctly rounded everywhere. Stateless; safe for concurrent use.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/console/units.h"
#include "tools/sample/scene.h"

namespace shardmill {

struct RenderedScene {
  std::vector<uint8_t> image;   // [H, W, 3] RGB
  std::vector<uint8_t> labels;  // [H, W] SceneClass
};

RenderedScene RenderScene(const Scene& scene, ImageSize size);

}  // namespace shardmill
