// Pictures of predictions: class maps in colour, overlays, confusion matrices.
//
// Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"
#include "trainer/evaluation/metrics.h"
#include "trainer/graph/tensor.h"

namespace shardmill {

// What all of them name as their writer (see HasPngSoftware).
inline constexpr char kPictureSoftware[] = "shardmill-train";

// 0xRRGGBB per class: that of the class table, or a generated one where the table has none.
std::vector<uint32_t> ClassColors(const std::vector<ClassInfo>& classes);

enum class ClassMapForm {
  kPalette,  // ids of 8 bits; the colours are the palette, which goes on in black
  kGray16,   // ids of 16 bits, without colours
};

// A PNG of the class map, whose pixels are the ids. REQUIRES: ids below 256 for a palette.
Status WriteClassMap(const std::string& path, const std::vector<uint16_t>& classes, int64_t height,
                     int64_t width, const std::vector<uint32_t>& colors, ClassMapForm form);

// Dense RGB of one image of a batch: one channel becomes gray, more than three are left away,
// wider types are brought to 0 … 255 (f32 by its own smallest and largest value).
std::vector<uint8_t> ToRgb(const ImageBatch& images, int64_t row);

// The image, half of it tinted with the colours of the classes; pixels whose id is no class stay as
// they are.
std::vector<uint8_t> Tinted(const std::vector<uint8_t>& rgb, const std::vector<uint16_t>& classes,
                            const std::vector<uint32_t>& colors);

// A file of the tinted image. Both have the same pixels.
Status WriteOverlay(const std::string& path, const std::vector<uint8_t>& rgb,
                    const std::vector<uint16_t>& classes, int64_t height, int64_t width,
                    const std::vector<uint32_t>& colors);

// A square per pair of classes, labels from the top, predictions from the left: from white for
// nothing to dark blue for all pixels of the label. Labels that do not occur have gray rows.
Status WriteConfusion(const std::string& path, const ConfusionMatrix& matrix);

}  // namespace shardmill
