// The options of `shardmill pack` that say what of an image becomes records: sizes, windows,
// augmentation. Single-threaded.
#pragma once

#include <cstdint>
#include <string>

#include "reader/base/status.h"
#include "tools/pack/pack_options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace shardmill {

// As they stand on the command line.
struct WindowFlags {
  std::string resize, crop_mode, eval_crop_mode = "center";
  std::string small_images = "pad";
  bool fast_resize = false;
  std::string augment_with = std::string(UsualAugments()), max_ignore;
  std::optional<ImageSize> crop;
  uint64_t variants = 1, tile_overlap = 0, augment = 0, pad_value = 0, seed = 1;
};

void AddWindowFlags(CLI::App* app, WindowFlags* flags);
// InvalidArgument when they contradict each other.
Status TakeWindowFlags(const WindowFlags& flags, PackOptions* options);

}  // namespace shardmill
