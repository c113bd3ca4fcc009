#include "reader/tensor_copy.h"

#include <algorithm>
#include <cstring>

namespace shardmill {
namespace {

template <uint64_t kBytes>
void ReversePixels(const uint8_t* pixels, int64_t count, uint8_t* out) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(out + static_cast<uint64_t>(i) * kBytes,
                pixels + static_cast<uint64_t>(count - 1 - i) * kBytes, kBytes);
  }
}

void Reverse(const uint8_t* pixels, int64_t count, uint64_t pixel_bytes, uint8_t* out) {
  if (pixel_bytes == 1) return ReversePixels<1>(pixels, count, out);
  if (pixel_bytes == 2) return ReversePixels<2>(pixels, count, out);
  if (pixel_bytes == 3) return ReversePixels<3>(pixels, count, out);
  if (pixel_bytes == 4) return ReversePixels<4>(pixels, count, out);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(out + static_cast<uint64_t>(i) * pixel_bytes,
                pixels + static_cast<uint64_t>(count - 1 - i) * pixel_bytes, pixel_bytes);
  }
}

// One row of a window: padding, pixels of an image row, padding; mirrored where asked for.
struct WindowRow {
  int64_t before = 0;
  int64_t inside = 0;
  int64_t behind = 0;
};

WindowRow RowOf(const PixelWindow& window, int64_t image_width) {
  WindowRow row;
  row.before = std::clamp<int64_t>(-window.x, 0, window.width);
  const int64_t end = std::clamp<int64_t>(image_width - window.x, row.before, window.width);
  row.inside = end - row.before;
  row.behind = window.width - end;
  return row;
}

void CopyRow(const PixelImage& image, const uint8_t* from, WindowRow row, bool mirrored,
             const std::vector<uint8_t>& pad_element, uint8_t* out) {
  const uint64_t elements = image.pixel_bytes / pad_element.size();
  if (mirrored) std::swap(row.before, row.behind);
  FillElements(pad_element, static_cast<uint64_t>(row.before) * elements, out);
  out += static_cast<uint64_t>(row.before) * image.pixel_bytes;
  const uint64_t inside_bytes = static_cast<uint64_t>(row.inside) * image.pixel_bytes;
  if (mirrored) {
    Reverse(from, row.inside, image.pixel_bytes, out);
  } else if (inside_bytes > 0) {
    std::memcpy(out, from, inside_bytes);
  }
  FillElements(pad_element, static_cast<uint64_t>(row.behind) * elements, out + inside_bytes);
}

uint64_t Product(const std::vector<int64_t>& shape, size_t first) {
  uint64_t product = 1;
  for (size_t axis = first; axis < shape.size(); ++axis) {
    product *= static_cast<uint64_t>(shape[axis]);
  }
  return product;
}

// The axes from `axis` on.
void CopyAxes(const uint8_t* tensor, const std::vector<int64_t>& shape,
              const std::vector<int64_t>& out_shape, size_t axis,
              const std::vector<uint8_t>& pad_element, uint8_t* out) {
  const uint64_t inner_bytes = Product(shape, axis + 1) * pad_element.size();
  const uint64_t out_inner = Product(out_shape, axis + 1);
  const uint64_t out_inner_bytes = out_inner * pad_element.size();
  const auto count = static_cast<uint64_t>(std::min(shape[axis], out_shape[axis]));
  if (std::equal(shape.begin() + static_cast<long>(axis) + 1, shape.end(),
                 out_shape.begin() + static_cast<long>(axis) + 1)) {
    if (count * inner_bytes > 0) std::memcpy(out, tensor, count * inner_bytes);
  } else {
    for (uint64_t i = 0; i < count; ++i) {
      CopyAxes(tensor + i * inner_bytes, shape, out_shape, axis + 1, pad_element,
               out + i * out_inner_bytes);
    }
  }
  const uint64_t rest = static_cast<uint64_t>(out_shape[axis]) - count;
  FillElements(pad_element, rest * out_inner, out + count * out_inner_bytes);
}

}  // namespace

void FillElements(const std::vector<uint8_t>& element, uint64_t count, uint8_t* out) {
  if (count == 0) return;
  const uint64_t size = element.size();
  if (std::all_of(element.begin(), element.end(), [&](uint8_t b) { return b == element[0]; })) {
    std::memset(out, element[0], count * size);
    return;
  }
  // Each copy doubles what is there.
  std::memcpy(out, element.data(), size);
  for (uint64_t done = 1; done < count;) {
    const uint64_t next = std::min(done, count - done);
    std::memcpy(out + done * size, out, next * size);
    done += next;
  }
}

bool PixelWindow::IsInside(int64_t image_height, int64_t image_width) const {
  return y >= 0 && x >= 0 && y + height <= image_height && x + width <= image_width;
}

void CopyWindow(const PixelImage& image, const PixelWindow& window,
                const std::vector<uint8_t>& pad_element, uint8_t* out) {
  const WindowRow row = RowOf(window, image.width);
  const uint64_t row_bytes = static_cast<uint64_t>(window.width) * image.pixel_bytes;
  for (int64_t i = 0; i < window.height; ++i, out += row_bytes) {
    const int64_t y = window.y + (window.flip_vertical ? window.height - 1 - i : i);
    if (y < 0 || y >= image.height || row.inside == 0) {
      FillElements(pad_element, row_bytes / pad_element.size(), out);
      continue;
    }
    const int64_t first = y * image.width + window.x + row.before;
    CopyRow(image, image.pixels + static_cast<uint64_t>(first) * image.pixel_bytes, row,
            window.flip_horizontal, pad_element, out);
  }
}

void CopyPadded(const uint8_t* tensor, const std::vector<int64_t>& shape,
                const std::vector<int64_t>& out_shape, const std::vector<uint8_t>& pad_element,
                uint8_t* out) {
  if (shape.empty()) {
    std::memcpy(out, tensor, pad_element.size());
    return;
  }
  CopyAxes(tensor, shape, out_shape, 0, pad_element, out);
}

}  // namespace shardmill
