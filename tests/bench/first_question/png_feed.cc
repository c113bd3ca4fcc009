#include "tests/bench/first_question/png_feed.h"

#include <algorithm>
#include <opencv2/imgcodecs.hpp>
#include <utility>

namespace shardmill {
namespace {

// The middle of a picture, without a copy.
Result<cv::Mat> LoadCropped(const std::string& path, int64_t height, int64_t width) {
  const cv::Mat picture = cv::imread(path, cv::IMREAD_COLOR);
  if (picture.empty()) return InvalidArgumentError("OpenCV does not decode " + path);
  if (picture.rows < height || picture.cols < width) {
    return InvalidArgumentError(path + " is smaller than the crop");
  }
  const int top = static_cast<int>((picture.rows - height) / 2);
  const int left = static_cast<int>((picture.cols - width) / 2);
  return picture(cv::Rect(left, top, static_cast<int>(width), static_cast<int>(height)));
}

void CopyAsRgb(const cv::Mat& picture, uint8_t* rgb) {
  for (int y = 0; y < picture.rows; ++y) {
    const uint8_t* bgr = picture.ptr<uint8_t>(y);
    for (int x = 0; x < picture.cols; ++x, bgr += 3, rgb += 3) {
      rgb[0] = bgr[2];
      rgb[1] = bgr[1];
      rgb[2] = bgr[0];
    }
  }
}

// One pass over the picture for each class, as `(label == colour).all(-1)` makes.
void CompareWithColors(const cv::Mat& picture, const std::vector<Rgb>& colors, float* one_hot) {
  const size_t classes = colors.size();
  for (size_t k = 0; k < classes; ++k) {
    float* out = one_hot + k;
    for (int y = 0; y < picture.rows; ++y) {
      const uint8_t* bgr = picture.ptr<uint8_t>(y);
      for (int x = 0; x < picture.cols; ++x, bgr += 3, out += classes) {
        const bool same =
            bgr[2] == colors[k].red && bgr[1] == colors[k].green && bgr[0] == colors[k].blue;
        *out = same ? 1.0f : 0.0f;
      }
    }
  }
}

}  // namespace

PngFeed::PngFeed(std::vector<PngPair> pairs, Options options)
    : pairs_(std::move(pairs)), options_(std::move(options)), random_(options_.seed) {
  const int64_t pixels = options_.batch * options_.height * options_.width;
  images_.resize(pixels * 3);
  labels_.resize(pixels * options_.class_colors.size());
  std::shuffle(pairs_.begin(), pairs_.end(), random_);
}

Status PngFeed::Next() {
  const int64_t pixels = options_.height * options_.width;
  for (int64_t i = 0; i < options_.batch; ++i) {
    if (next_ == pairs_.size()) {
      next_ = 0;
      std::shuffle(pairs_.begin(), pairs_.end(), random_);
    }
    RETURN_IF_ERROR(LoadSample(pairs_[next_++], &images_[i * pixels * 3],
                               &labels_[i * pixels * options_.class_colors.size()]));
  }
  return OkStatus();
}

ImageBatch PngFeed::images() const {
  ImageBatch batch;
  batch.data = images_.data();
  batch.type = ImageType::kU8;
  batch.shape = {options_.batch, options_.height, options_.width, 3};
  return batch;
}

LabelBatch PngFeed::labels() const {
  LabelBatch batch;
  batch.data = labels_.data();
  batch.type = LabelType::kOneHotF32;
  batch.n = options_.batch;
  batch.h = options_.height;
  batch.w = options_.width;
  return batch;
}

Status PngFeed::LoadSample(const PngPair& pair, uint8_t* image, float* one_hot) const {
  ASSIGN_OR_RETURN(const cv::Mat picture, LoadCropped(pair.image, options_.height, options_.width));
  CopyAsRgb(picture, image);
  ASSIGN_OR_RETURN(const cv::Mat label,
                   LoadCropped(pair.color_label, options_.height, options_.width));
  CompareWithColors(label, options_.class_colors, one_hot);
  return OkStatus();
}

}  // namespace shardmill
