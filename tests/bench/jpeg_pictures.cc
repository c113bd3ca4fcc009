#include "tests/bench/jpeg_pictures.h"

#include <algorithm>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

namespace shardmill {

std::string MakeJpegPicture(const std::vector<std::string>& pngs, size_t first) {
  cv::Mat all(kPictureHeight, kPictureWidth, CV_8UC3, cv::Scalar(0, 0, 0));
  size_t next = first;
  for (int y = 0; y < kPictureHeight;) {
    int row_height = kPictureHeight - y;
    for (int x = 0; x < kPictureWidth;) {
      const std::string& png = pngs[next++ % pngs.size()];
      const cv::Mat bytes(1, static_cast<int>(png.size()), CV_8U, const_cast<char*>(png.data()));
      const cv::Mat tile = cv::imdecode(bytes, cv::IMREAD_COLOR);
      const cv::Rect part(0, 0, std::min(tile.cols, kPictureWidth - x),
                          std::min(tile.rows, kPictureHeight - y));
      tile(part).copyTo(all(part + cv::Point(x, y)));
      x += part.width;
      row_height = std::min(row_height, part.height);
    }
    y += row_height;
  }
  std::vector<uchar> jpeg;
  cv::imencode(".jpg", all, jpeg, {cv::IMWRITE_JPEG_QUALITY, 90});
  return std::string(jpeg.begin(), jpeg.end());
}

}  // namespace shardmill
