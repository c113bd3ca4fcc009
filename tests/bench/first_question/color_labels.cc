#include "tests/bench/first_question/color_labels.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <system_error>

#include "reader/base/file.h"
#include "reader/png_encode.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

// Pixels of no class: black, which no class of the table may have.
constexpr Rgb kNoClass = {0, 0, 0};

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// The colour label of an image in the suite layout; empty when there is none.
std::string ColorLabelOf(const std::string& source, const std::string& image) {
  const std::string folder = JoinPath(source, FolderName(image) + "_labels");
  const std::string stem = fs::path(image).stem().string();
  for (const std::string& name : {stem + ".png", stem + "_L.png"}) {
    if (Exists(JoinPath(folder, name))) return JoinPath(folder, name);
  }
  return "";
}

std::string IdLabelOf(const std::string& source, const std::string& image) {
  return JoinPath(JoinPath(source, FolderName(image) + "annot"), FileName(image));
}

Status WriteColorLabel(const std::string& ids_path, const std::vector<Rgb>& colors,
                       const std::string& path) {
  if (!Exists(ids_path)) return NotFoundError("there is no label " + ids_path);
  const cv::Mat ids = cv::imread(ids_path, cv::IMREAD_UNCHANGED);
  if (ids.empty() || ids.type() != CV_8UC1) {
    return InvalidArgumentError(ids_path + " is no label with 8-bit class ids");
  }
  Picture picture(ids.rows, ids.cols, kNoClass);
  for (int y = 0; y < ids.rows; ++y) {
    for (int x = 0; x < ids.cols; ++x) {
      const uint8_t id = ids.at<uint8_t>(y, x);
      if (id < colors.size()) picture.at(y, x) = colors[id];
    }
  }
  PngPicture png;
  png.height = picture.height;
  png.width = picture.width;
  png.pixels = &picture.pixels.front().red;
  return WritePng(path, png);
}

}  // namespace

Result<ScratchFolder> ScratchFolder::Create() {
  const char* base = std::getenv("TMPDIR");
  std::string path = JoinPath(base == nullptr ? "/tmp" : base, "first-question-XXXXXX");
  if (mkdtemp(path.data()) == nullptr) return ErrnoError("cannot create " + path, errno);
  return ScratchFolder(path);
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

Result<std::vector<PngPair>> MakeColorLabels(const std::string& source,
                                             const std::vector<std::string>& images,
                                             const std::vector<Rgb>& class_colors,
                                             const std::string& scratch) {
  std::vector<PngPair> pairs;
  for (const std::string& image : images) {
    PngPair pair;
    pair.image = JoinPath(source, image);
    pair.color_label = ColorLabelOf(source, image);
    if (pair.color_label.empty()) {
      pair.color_label = JoinPath(scratch, std::to_string(pairs.size()) + ".png");
      RETURN_IF_ERROR(WriteColorLabel(IdLabelOf(source, image), class_colors, pair.color_label));
    }
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace shardmill
