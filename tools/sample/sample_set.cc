#include "tools/sample/sample_set.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/ordered_pipeline.h"
#include "reader/base/thread_budget.h"
#include "reader/png_encode.h"
#include "tools/sample/scene.h"
#include "tools/sample/scene_render.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

struct EncodedPair {
  std::string image, labels;
};

Status WriteNewFile(const std::string& path, const std::string& bytes) {
  FILE* file = std::fopen(path.c_str(), "wbx");
  if (file == nullptr) return ErrnoError("cannot create " + path, errno);
  bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  int error = errno;
  bool closed = std::fclose(file) == 0;
  if (written && !closed) error = errno;
  return written && closed ? OkStatus() : ErrnoError("cannot write " + path, error);
}

Status MakeEmptyFolder(const std::string& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_empty(folder, error) && !error) {
    return InvalidArgumentError(folder + " exists and is not empty; choose another folder");
  }
  for (const char* name : {"train", "train_labels", "val", "val_labels"}) {
    fs::create_directories(fs::path(folder) / name, error);
    if (error) return ErrnoError("cannot create a folder in " + folder, error.value());
  }
  return OkStatus();
}

std::string ClassTable() {
  std::string table = "name,r,g,b\n";
  for (const SceneClassInfo& info : kSceneClasses) {
    table += std::string(info.name) + "," + std::to_string(info.color >> 16) + "," +
             std::to_string((info.color >> 8) & 255) + "," + std::to_string(info.color & 255) +
             "\n";
  }
  return table;
}

Result<std::string> EncodeRgb(const std::vector<uint8_t>& pixels, ImageSize size) {
  PngPicture picture;
  picture.height = size.height;
  picture.width = size.width;
  picture.pixels = pixels.data();
  return EncodePng(picture);
}

Result<EncodedPair> MakePair(const SampleSetOptions& options, uint64_t index) {
  RenderedScene rendered = RenderScene(MakeScene(options.seed, index), options.size);
  std::vector<uint8_t> colors;
  colors.reserve(rendered.labels.size() * 3);
  for (uint8_t label : rendered.labels) {
    uint32_t color = kSceneClasses[label].color;
    colors.push_back(static_cast<uint8_t>(color >> 16));
    colors.push_back(static_cast<uint8_t>(color >> 8));
    colors.push_back(static_cast<uint8_t>(color));
  }
  EncodedPair pair;
  ASSIGN_OR_RETURN(pair.image, EncodeRgb(rendered.image, options.size));
  ASSIGN_OR_RETURN(pair.labels, EncodeRgb(colors, options.size));
  return pair;
}

Status WritePair(const std::string& folder, const std::string& split, uint64_t index,
                 const EncodedPair& pair) {
  char name[32];
  std::snprintf(name, sizeof name, "/scene_%04llu", static_cast<unsigned long long>(index));
  RETURN_IF_ERROR(WriteNewFile(folder + "/" + split + name + ".png", pair.image));
  return WriteNewFile(folder + "/" + split + "_labels" + name + "_L.png", pair.labels);
}

}  // namespace

Result<SampleSetResult> WriteSampleSet(const SampleSetOptions& options) {
  if (options.count < 2) return InvalidArgumentError("--count must be at least 2");
  RETURN_IF_ERROR(MakeEmptyFolder(options.folder));
  SampleSetResult result;
  result.val = std::max<uint32_t>(1, options.count / 6);
  result.train = options.count - result.val;
  std::string table = ClassTable();
  RETURN_IF_ERROR(WriteNewFile(options.folder + "/class_dict.csv", table));
  result.bytes = table.size();

  PipelineOptions pipeline;
  ASSIGN_OR_RETURN(pipeline.threads, ResolveThreads(0, 1));
  pipeline.cancelled = WasInterrupted;
  RETURN_IF_ERROR(RunOrdered<EncodedPair>(
      pipeline, options.count, [&](uint64_t index, int) { return MakePair(options, index); },
      [&](uint64_t index, EncodedPair pair) {
        result.bytes += pair.image.size() + pair.labels.size();
        return WritePair(options.folder, index < result.train ? "train" : "val", index, pair);
      }));
  return result;
}

}  // namespace shardmill
