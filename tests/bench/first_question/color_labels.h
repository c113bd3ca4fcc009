// The label pictures of the first question: one colour for each class, as PNG.
//
// Uses OpenCV, as the questioner did. Free functions, for one thread.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"
#include "tools/dump/picture.h"

namespace shardmill {

struct PngPair {
  std::string image;
  std::string color_label;
};

// A folder under TMPDIR (or /tmp) that is removed with this object. Move-only.
class ScratchFolder {
 public:
  static Result<ScratchFolder> Create();
  ~ScratchFolder();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// `images` are paths below `source`, as record keys have them: "train/0001.png". The label lies
// beside it under the same name in "trainannot" (class ids; coloured into `scratch`) or in
// "train_labels" (colours, taken as it is; also named 0001_L.png).
Result<std::vector<PngPair>> MakeColorLabels(const std::string& source,
                                             const std::vector<std::string>& images,
                                             const std::vector<Rgb>& class_colors,
                                             const std::string& scratch);

}  // namespace shardmill
