// Normalising images beside a memcpy of as many bytes as it writes: the goal is 1.2 times the
// time of the memcpy.
//
//   bazel run -c opt //tests/bench:normalize_bench
//
// Each row runs both alternately over a set of images that is larger than the caches, and prints
// the best time of each and their ratio. Compare ratios, not absolute numbers.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "reader/image_normalize.h"

namespace shardmill {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 7;
constexpr uint64_t kOutputBytes = uint64_t{256} << 20;

template <typename Work>
double Seconds(const Work& work) {
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Row {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 3;
  DType dtype = DType::kU8;
  Delivery delivery = Delivery::kNormalizedNhwc;
};

ImageNormalizer NormalizerOf(const Row& row) {
  FieldSpec spec;
  spec.name = "image";
  spec.role = Role::kImage;
  spec.dtype = row.dtype;
  spec.shape = {row.height, row.width, row.channels};
  const std::vector<double> mean(static_cast<size_t>(row.channels), 110.0);
  const std::vector<double> deviation(static_cast<size_t>(row.channels), 60.0);
  auto normalizer = ImageNormalizer::Create(spec, mean, deviation, row.delivery);
  if (!normalizer.ok()) {
    std::fprintf(stderr, "%s\n", normalizer.status().ToString().c_str());
    std::exit(1);
  }
  return std::move(normalizer).value();
}

void Run(const Row& row) {
  const ImageNormalizer normalizer = NormalizerOf(row);
  const auto pixels = static_cast<uint64_t>(row.height * row.width);
  const uint64_t values = pixels * static_cast<uint64_t>(row.channels);
  const uint64_t images = std::max<uint64_t>(1, kOutputBytes / (values * sizeof(float)));
  const uint64_t image_bytes = values * DTypeBytes(row.dtype);
  const std::vector<uint8_t> stored(image_bytes * images, 100);
  const std::vector<float> source(values * images, 1.0f);
  std::vector<float> out(values * images);
  double best_normalize = 1e9;
  double best_copy = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    best_normalize = std::min(best_normalize, Seconds([&] {
                                for (uint64_t i = 0; i < images; ++i) {
                                  normalizer.Normalize(stored.data() + i * image_bytes, pixels,
                                                       out.data() + i * values);
                                }
                              }));
    best_copy = std::min(best_copy, Seconds([&] {
                           for (uint64_t i = 0; i < images; ++i) {
                             std::memcpy(out.data() + i * values, source.data() + i * values,
                                         values * sizeof(float));
                           }
                         }));
  }
  const double gigabytes = static_cast<double>(values * images * sizeof(float)) / 1e9;
  std::printf("%4ld x %4ld x %ld %-4s %s %8.2f %8.2f %6.2f\n", row.height, row.width, row.channels,
              std::string(DTypeName(row.dtype)).c_str(),
              row.delivery == Delivery::kNormalizedNchw ? "NCHW" : "NHWC",
              gigabytes / best_normalize, gigabytes / best_copy, best_normalize / best_copy);
}

}  // namespace
}  // namespace shardmill

int main() {
  using namespace shardmill;
  std::printf("image                  form   GB/s out   memcpy  ratio of times\n");
  for (const auto& [height, width] :
       {std::pair<int64_t, int64_t>{32, 32}, {224, 224}, {512, 512}}) {
    for (Delivery delivery : {Delivery::kNormalizedNhwc, Delivery::kNormalizedNchw}) {
      for (int64_t channels : {1, 3, 4}) Run({height, width, channels, DType::kU8, delivery});
    }
  }
  Run({512, 512, 3, DType::kU16, Delivery::kNormalizedNhwc});
  Run({512, 512, 5, DType::kF32, Delivery::kNormalizedNhwc});
  Run({512, 512, 5, DType::kU16, Delivery::kNormalizedNchw});
  return 0;
}
