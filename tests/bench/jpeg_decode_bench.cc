// Images per second of the packer's JPEG decoder beside OpenCV's full decode, for a centre crop,
// one core, same files, one run.
//
//   bazel run -c opt //tests/bench:jpeg_decode_bench -- IMAGES_FOLDER
//
// The folder's pictures (PNG) are put together to 960 high × 1280 wide and encoded at quality 90;
// the crop is 512 × 512. Timing as in png_decode_bench.
#include <algorithm>
#include <cstdio>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "tests/bench/decode_timing.h"
#include "tests/bench/jpeg_pictures.h"
#include "tools/pack/decode/jpeg_fast.h"

namespace shardmill {
namespace {

constexpr int kRounds = 9;
constexpr size_t kFiles = 40;
constexpr int kHeight = kPictureHeight, kWidth = kPictureWidth;
constexpr JpegWindow kCrop = {(kHeight - 512) / 2, (kWidth - 512) / 2, 512, 512};

struct Seconds {
  double opencv = 0;  // full decode and copy of the crop
  double crop = 0;
  double full = 0;  // our decoder, the whole picture
};

void Time(const std::string& file, Seconds* sum) {
  const cv::Mat bytes(1, static_cast<int>(file.size()), CV_8U, const_cast<char*>(file.data()));
  JpegFastDecoder decoder;
  cv::Mat crop;
  std::vector<uint8_t> pixels(kHeight * kWidth * 3);
  BestTime opencv, fast, full;
  bool ok = true;
  const auto decode = [&](const JpegWindow& window) {
    ok = ok && decoder.Open(file, JpegOptions()).ok() &&
         decoder.ReadPixels(window, pixels.data()).ok();
  };
  for (int round = 0; round < kRounds; ++round) {
    opencv.Run([&] {
      const cv::Rect window(kCrop.left, kCrop.top, kCrop.width, kCrop.height);
      cv::imdecode(bytes, cv::IMREAD_COLOR)(window).copyTo(crop);
    });
    fast.Run([&] { decode(kCrop); });
    full.Run([&] { decode({0, 0, kHeight, kWidth}); });
  }
  SHARDMILL_CHECK(ok);
  sum->opencv += opencv.Seconds();
  sum->crop += fast.Seconds();
  sum->full += full.Seconds();
}

int Main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: jpeg_decode_bench IMAGES_FOLDER\n");
    return 2;
  }
  cv::setNumThreads(1);
  const std::vector<std::string> pngs = ReadFiles(argv[1], ".png");
  if (pngs.empty()) {
    std::fprintf(stderr, "no PNG file in %s\n", argv[1]);
    return 3;
  }
  Seconds sum;
  double file_bytes = 0;
  for (size_t i = 0; i < kFiles; ++i) {
    const std::string jpeg = MakeJpegPicture(pngs, i * 9);
    file_bytes += static_cast<double>(jpeg.size());
    Time(jpeg, &sum);
  }
  const double n = static_cast<double>(kFiles);
  std::printf("%zu files of %.0f kB\n", kFiles, file_bytes / n / 1e3);
  std::printf("OpenCV, full decode and crop  %7.1f images/s\n", n / sum.opencv);
  std::printf("crop decode                   %7.1f images/s  %.2fx\n", n / sum.crop,
              sum.opencv / sum.crop);
  std::printf("full decode by the same       %7.1f images/s  %.2fx\n", n / sum.full,
              sum.opencv / sum.full);
  return 0;
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) { return shardmill::Main(argc, argv); }
