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

// The places along one side of a window that lie in the image.
struct Span {
  int64_t begin = 0;
  int64_t length = 0;
};

Span SpanOf(int64_t begin, int64_t length, int64_t image, bool flipped) {
  const int64_t first = std::clamp<int64_t>(-begin, 0, length);
  const int64_t end = std::clamp<int64_t>(image - begin, first, length);
  return {flipped ? length - end : first, end - first};
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
  const ShownPart shown = Shown(image_height, image_width);
  return shown.height == height && shown.width == width;
}

ShownPart PixelWindow::Shown(int64_t image_height, int64_t image_width) const {
  const Span rows = SpanOf(y, height, IsScaled() ? scaled_height : image_height, flip_vertical);
  const Span columns = SpanOf(x, width, IsScaled() ? scaled_width : image_width, flip_horizontal);
  return {rows.begin, columns.begin, rows.length, columns.length};
}

void PadRow(const PixelWindow& window, const ShownPart& shown, uint64_t pixel_bytes,
            const std::vector<uint8_t>& pad_element, uint8_t* row) {
  const uint64_t elements = pixel_bytes / pad_element.size();
  FillElements(pad_element, static_cast<uint64_t>(shown.x) * elements, row);
  const auto end = static_cast<uint64_t>(shown.x + shown.width);
  FillElements(pad_element, (static_cast<uint64_t>(window.width) - end) * elements,
               row + end * pixel_bytes);
}

void CopyWindow(const PixelImage& image, const PixelWindow& window,
                const std::vector<uint8_t>& pad_element, uint8_t* out) {
  const ShownPart shown = window.Shown(image.height, image.width);
  const uint64_t row_bytes = static_cast<uint64_t>(window.width) * image.pixel_bytes;
  for (int64_t i = 0; i < window.height; ++i, out += row_bytes) {
    if (!shown.HasRow(i)) {
      FillElements(pad_element, row_bytes / pad_element.size(), out);
      continue;
    }
    PadRow(window, shown, image.pixel_bytes, pad_element, out);
    const int64_t y = window.y + (window.flip_vertical ? window.height - 1 - i : i);
    const int64_t first = y * image.width + std::max<int64_t>(window.x, 0);
    const uint8_t* from = image.pixels + static_cast<uint64_t>(first) * image.pixel_bytes;
    uint8_t* to = out + static_cast<uint64_t>(shown.x) * image.pixel_bytes;
    if (window.flip_horizontal) {
      Reverse(from, shown.width, image.pixel_bytes, to);
    } else {
      std::memcpy(to, from, static_cast<uint64_t>(shown.width) * image.pixel_bytes);
    }
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
