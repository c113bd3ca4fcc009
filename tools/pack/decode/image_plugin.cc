#include "tools/pack/decode/image_plugin.h"

#include <dlfcn.h>

#include <string>

#include "reader/base/exception_status.h"
#include "reader/base/program_folder.h"

namespace shardmill {
namespace {

struct Plugin {
  Status status;
  ShardmillPluginDecode decode = nullptr;
};

Plugin OpenPlugin() {
  const Result<std::string> beside = PathBesideProgram(kImagePluginFile);
  if (!beside.ok()) return {beside.status()};
  const std::string& path = *beside;
  const std::string advice = "; it is needed for WebP and JPEG 2000";
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    return {NotFoundError("cannot open " + path + advice + " (" +
                          (reason == nullptr ? "unknown reason" : reason) + ")")};
  }
  auto version =
      reinterpret_cast<ShardmillPluginVersion>(::dlsym(library, "ShardmillImagePluginVersion"));
  auto decode =
      reinterpret_cast<ShardmillPluginDecode>(::dlsym(library, "ShardmillImagePluginDecode"));
  if (version == nullptr || decode == nullptr || version() != SHARDMILL_IMAGE_PLUGIN_VERSION) {
    return {InvalidArgumentError(path + " belongs to another version of this program")};
  }
  return {OkStatus(), decode};
}

// A decode in progress: where the samples go.
struct Target {
  SourceImage* image;
};

void* Allocate(ShardmillPluginImage* decoded) {
  SourceImage* image = static_cast<Target*>(decoded->context)->image;
  ImageSize size = {decoded->height, decoded->width};
  PixelLayout layout = decoded->channels == 1   ? PixelLayout::kGray
                       : decoded->channels == 3 ? PixelLayout::kRgb
                                                : PixelLayout::kRgba;
  AllocateSamples(size, layout, static_cast<int>(decoded->sample_bytes), image);
  image->has_transparency = layout == PixelLayout::kRgba;
  image->stored_bits = static_cast<int>(decoded->sample_bytes) * 8;
  return image->samples.data();
}

}  // namespace

Status DecodeThroughPlugin(std::string_view file, uint64_t max_pixels, SourceImage* image) {
  static const Plugin plugin = OpenPlugin();
  RETURN_IF_ERROR(plugin.status);
  Target target = {image};
  ShardmillPluginImage decoded = {};
  decoded.allocate = Allocate;
  decoded.context = &target;
  decoded.max_pixels = max_pixels;
  image->palette.clear();
  image->was_cmyk = image->had_stray_bytes = false;
  image->orientation = 1;
  const int outcome = plugin.decode(file.data(), file.size(), &decoded);
  if (outcome == SHARDMILL_PLUGIN_DECODED) return OkStatus();
  if (outcome == SHARDMILL_PLUGIN_OUT_OF_MEMORY) return OutOfMemoryError("OpenCV");
  return DataLossError(decoded.message);
}

}  // namespace shardmill
