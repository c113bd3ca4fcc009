// The C interface between the packer and the plug-in that decodes WebP and JPEG 2000 through
// OpenCV.
//
// The plug-in is a shared library beside the program. It is opened at the first call and stays
// open. Safe for concurrent use.
#pragma once

#include <cstdint>
#include <string_view>

#include "reader/base/status.h"
#include "tools/pack/decode/source_image.h"

namespace shardmill {

inline constexpr char kImagePluginFile[] = "libshardmill_images.so";

extern "C" {

// Changes with every change of what follows.
#define SHARDMILL_IMAGE_PLUGIN_VERSION 2

struct ShardmillPluginImage {
  uint32_t height;
  uint32_t width;
  uint32_t channels;      // 1 gray, 3 RGB, 4 RGBA
  uint32_t sample_bytes;  // 1, or 2 in native byte order
  // Called once, with the members above set, for the place of the samples (dense rows); nullptr
  // refuses the image.
  void* (*allocate)(ShardmillPluginImage* image);
  void* context;  // of the caller
  uint64_t max_pixels;
  char message[256];  // why it failed
};

using ShardmillPluginVersion = int (*)();
// What became of an image; unless it was decoded, `message` says why not.
enum ShardmillPluginOutcome {
  SHARDMILL_PLUGIN_DECODED = 0,
  SHARDMILL_PLUGIN_BAD_FILE = 1,
  SHARDMILL_PLUGIN_OUT_OF_MEMORY = 2,
};
using ShardmillPluginDecode = int (*)(const void* file, uint64_t bytes,
                                      ShardmillPluginImage* image);

}  // extern "C"

Status DecodeThroughPlugin(std::string_view file, uint64_t max_pixels, SourceImage* image);

}  // namespace shardmill
