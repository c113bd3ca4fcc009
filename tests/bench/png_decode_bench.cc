// Images per second of the packer's PNG decoder beside OpenCV's, one core, same files, one run.
//
//   bazel run -c opt //tests/bench:png_decode_bench -- IMAGES_FOLDER LABELS_FOLDER
//
// The two take turns on every file, and each file counts with its best round, in processor time
// of this thread: other work on the machine disturbs both alike, and as little as can be.
#include <cstdio>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "tests/bench/decode_timing.h"
#include "tools/pack/decode/png_fast.h"
#include "tools/pack/decode/png_inflate.h"

namespace shardmill {
namespace {

constexpr int kRounds = 9;
constexpr int64_t kMaxPixels = int64_t{1} << 30;

struct Seconds {
  double opencv = 0;
  double fast = 0;
  double chunks = 0;   // of `fast`: reading and checking the chunks
  double inflate = 0;  // of `fast`: unpacking, with its checksum
};

class Bench {
 public:
  // False when one of the decoders does not take the file.
  bool Time(const std::string& file, Seconds* sum) {
    const cv::Mat bytes(1, static_cast<int>(file.size()), CV_8U, const_cast<char*>(file.data()));
    if (!decoder_.Open(file, kMaxPixels).ok() || !decoder_.NotHandled().empty()) return false;
    pixels_.resize(decoder_.layout().Bytes());
    if (!decoder_.ReadPixels(pixels_.data()).ok()) return false;
    if (cv::imdecode(bytes, cv::IMREAD_UNCHANGED).empty()) return false;
    BestTime opencv, fast, chunks, inflate;
    for (int round = 0; round < kRounds; ++round) {
      opencv.Run([&] { image_ = cv::imdecode(bytes, cv::IMREAD_UNCHANGED); });
      fast.Run([&] { Decode(file); });
      chunks.Run([&] { chunks_ok_ = decoder_.Open(file, kMaxPixels).ok(); });
      inflate.Run([&] { Inflate(); });
    }
    sum->opencv += opencv.Seconds();
    sum->fast += fast.Seconds();
    sum->chunks += chunks.Seconds();
    sum->inflate += inflate.Seconds();
    return chunks_ok_;
  }

 private:
  void Decode(const std::string& file) {
    chunks_ok_ = decoder_.Open(file, kMaxPixels).ok() && decoder_.ReadPixels(pixels_.data()).ok();
  }
  void Inflate() {
    const PngChunks& png = decoder_.png();
    const uint64_t bytes = png.height * (png.RowBytes() + 1);
    chunks_ok_ = chunks_ok_ && inflater_.Inflate(png.image_data, bytes).ok();
  }

  PngFastDecoder decoder_;
  PngInflater inflater_;
  std::vector<uint8_t> pixels_;
  cv::Mat image_;
  bool chunks_ok_ = true;
};

void PrintRow(const char* what, size_t files, const Seconds& sum) {
  const double unfilter = sum.fast - sum.chunks - sum.inflate;
  const double n = static_cast<double>(files);
  std::printf("%-7s %6zu %12.0f %12.0f %8.2fx %11.3f %11.3f %11.3f\n", what, files, n / sum.opencv,
              n / sum.fast, sum.opencv / sum.fast, sum.chunks / n * 1e3, sum.inflate / n * 1e3,
              unfilter / n * 1e3);
}

int Main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: png_decode_bench IMAGES_FOLDER LABELS_FOLDER\n");
    return 2;
  }
  cv::setNumThreads(1);
  std::printf("%-7s %6s %12s %12s %9s %11s %11s %11s\n", "", "files", "OpenCV /s", "fast /s",
              "ratio", "chunks ms", "inflate ms", "unfilter ms");
  Bench bench;
  Seconds pair;
  for (const auto& [what, folder] : {std::pair{"images", argv[1]}, {"labels", argv[2]}}) {
    Seconds sum;
    size_t files = 0;
    for (const std::string& file : ReadFiles(folder, ".png")) files += bench.Time(file, &sum);
    if (files == 0) {
      std::fprintf(stderr, "no PNG file that both decoders take in %s\n", folder);
      return 3;
    }
    PrintRow(what, files, sum);
    pair.opencv += sum.opencv / files;
    pair.fast += sum.fast / files;
    pair.chunks += sum.chunks / files;
    pair.inflate += sum.inflate / files;
  }
  PrintRow("pair", 1, pair);
  return 0;
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) { return shardmill::Main(argc, argv); }
