// A COCO annotation file: the index finds the parts of each image inside the file, and each part
// is read as instances and as a panoptic annotation.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/draw_label.h"
#include "tools/pack/annotations/coco_index.h"

using namespace shardmill;  // NOLINT: a program of a few functions

namespace {

// The index is read from a path: a file in memory has one.
std::string PathOf(std::string_view content) {
  static const int file = ::memfd_create("coco", 0);
  SHARDMILL_CHECK(file >= 0 && ::ftruncate(file, 0) == 0);
  const ssize_t written = ::pwrite(file, content.data(), content.size(), 0);
  SHARDMILL_CHECK(written == static_cast<ssize_t>(content.size()));
  return "/proc/self/fd/" + std::to_string(file);
}

ValueMap ClassesOf(const CocoIndex& index) {
  ValueMap map;
  for (const CocoCategory& category : index.categories) {
    if (category.id < 0 || category.id >= 1000) continue;
    const auto id = static_cast<uint32_t>(category.id);
    map.ids[id] = id % kFuzzedClasses;
  }
  return map;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<char> exact(data, data + size);
  const std::string_view file(exact.data(), exact.size());
  const Result<CocoIndex> index = ReadCocoIndex(PathOf(file));
  if (!index.ok()) return 0;
  const ValueMap map = ClassesOf(*index);
  const auto text = [file](const FilePart& part) {
    SHARDMILL_CHECK(part.offset <= file.size() && part.bytes <= file.size() - part.offset);
    return file.substr(part.offset, part.bytes);
  };
  for (const CocoImage& image : index->images) {
    std::vector<std::string_view> parts;
    for (const FilePart& part : image.parts) parts.push_back(text(part));
    DrawLabel(ReadCocoLabel(text(image.entry), parts, map, kFuzzedPixels));
    for (std::string_view part : parts) ReadPanopticSegments(part, map, 255).ok();
  }
  return 0;
}
