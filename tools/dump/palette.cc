#include "tools/dump/palette.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace shardmill {
namespace {

constexpr Rgb kHatchDark = {70, 70, 74};
constexpr Rgb kHatchLight = {152, 152, 158};
constexpr Rgb kUnknownLight = {255, 0, 255};
constexpr Rgb kUnknownDark = {0, 0, 0};
constexpr int kPatternPixels = 4;  // width of a hatch line and of a checkerboard square

// More generated colours than this could not be told apart anyway: they repeat.
constexpr size_t kMostGenerated = 256;
constexpr int kGridSteps = 14;  // candidate values per channel
// Candidates keep away from black, white and gray, which a photograph is full of.
constexpr double kDarkest = 0.42;
constexpr double kLightest = 0.88;
constexpr double kLeastChroma = 0.08;
constexpr double kMostChroma = 0.20;  // no neon: large areas are shown in these colours
constexpr Rgb kFirstColor = {46, 134, 222};

// Björn Ottosson's OKLab (2020): equal distances look about equally different.
struct Lab {
  double lightness = 0;
  double a = 0;
  double b = 0;
};

double Linear(uint8_t value) {
  const double v = value / 255.0;
  return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

Lab ToLab(Rgb color) {
  const double r = Linear(color.red);
  const double g = Linear(color.green);
  const double b = Linear(color.blue);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

double SquaredDistance(const Lab& x, const Lab& y) {
  const double lightness = x.lightness - y.lightness;
  const double a = x.a - y.a;
  const double b = x.b - y.b;
  return lightness * lightness + a * a + b * b;
}

struct Candidate {
  Rgb color;
  Lab lab;
  double distance = std::numeric_limits<double>::infinity();  // squared, to the nearest chosen
};

std::vector<Candidate> MakeCandidates() {
  std::vector<Candidate> candidates;
  auto channel = [](int step) { return static_cast<uint8_t>(step * 255 / (kGridSteps - 1)); };
  for (int i = 0; i < kGridSteps * kGridSteps * kGridSteps; ++i) {
    Candidate candidate;
    candidate.color = {channel(i / (kGridSteps * kGridSteps)), channel(i / kGridSteps % kGridSteps),
                       channel(i % kGridSteps)};
    candidate.lab = ToLab(candidate.color);
    const double chroma = std::hypot(candidate.lab.a, candidate.lab.b);
    const double lightness = candidate.lab.lightness;
    if (chroma >= kLeastChroma && chroma <= kMostChroma && lightness >= kDarkest &&
        lightness <= kLightest)
      candidates.push_back(candidate);
  }
  return candidates;
}

// Hands out colours, each the candidate farthest from all colours before it.
class ColorSource {
 public:
  ColorSource() : candidates_(MakeCandidates()) {}

  void Avoid(Rgb color) {
    any_chosen_ = true;
    const Lab lab = ToLab(color);
    for (Candidate& candidate : candidates_) {
      candidate.distance = std::min(candidate.distance, SquaredDistance(candidate.lab, lab));
    }
  }

  Rgb Next() {
    const Rgb color = any_chosen_ ? Farthest() : kFirstColor;
    Avoid(color);
    return color;
  }

 private:
  Rgb Farthest() const {
    return std::max_element(
               candidates_.begin(), candidates_.end(),
               [](const Candidate& x, const Candidate& y) { return x.distance < y.distance; })
        ->color;
  }

  std::vector<Candidate> candidates_;
  bool any_chosen_ = false;
};

}  // namespace

std::vector<Rgb> CompleteColors(const std::vector<ClassInfo>& classes) {
  std::vector<std::optional<Rgb>> colors;
  size_t missing = 0;
  for (const ClassInfo& info : classes) {
    colors.push_back(info.color ? std::optional<Rgb>(RgbFromHex(*info.color)) : std::nullopt);
    missing += info.color ? 0 : 1;
  }
  std::vector<Rgb> generated;
  if (missing > 0) {
    ColorSource source;
    for (const std::optional<Rgb>& color : colors) {
      if (color) source.Avoid(*color);
    }
    while (generated.size() < std::min(missing, kMostGenerated)) generated.push_back(source.Next());
  }
  std::vector<Rgb> complete;
  size_t next = 0;
  for (const std::optional<Rgb>& color : colors) {
    complete.push_back(color ? *color : generated[next++ % generated.size()]);
  }
  return complete;
}

ClassPalette::ClassPalette(const std::vector<ClassInfo>& classes)
    : colors_(CompleteColors(classes)) {}

Rgb ClassPalette::ColorAt(int32_t id, int y, int x) const {
  if (id >= 0 && id < class_count()) return colors_[id];
  const int row = y / kPatternPixels;
  const int column = x / kPatternPixels;
  if (id == kIgnoredPixel) return (x + y) / kPatternPixels % 2 == 0 ? kHatchDark : kHatchLight;
  return (row + column) % 2 == 0 ? kUnknownLight : kUnknownDark;
}

}  // namespace shardmill
