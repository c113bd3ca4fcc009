// The inner loops of pooling and concatenation: over the channels of a few pixels.
#pragma once

#include <cstdint>

namespace shardmill {

// One row of a copy between tensors of unequal channel count: for each pixel `channels` numbers.
struct PixelRun {
  int64_t pixels = 0;
  int64_t channels = 0;
  int64_t source_stride = 0;  // in elements, from pixel to pixel
  int64_t destination_stride = 0;
};

void CopyChannels(const PixelRun& run, const float* source, float* destination);
// destination += source
void AddChannels(const PixelRun& run, const float* source, float* destination);

// One row of pooling windows. Tap t of window i lies at first[i * window_stride + offsets[t]];
// all windows have the same taps, numbers[t] is the position of tap t in the window.
struct WindowRun {
  int64_t windows = 0;
  int64_t channels = 0;
  int64_t window_stride = 0;  // in elements
  int taps = 0;
  const int64_t* offsets = nullptr;
  const uint8_t* numbers = nullptr;
};

// Outputs and indices are dense: windows × channels.
void MaxOfWindows(const WindowRun& run, const float* first, float* y, uint8_t* indices);
// dx[tap] = or += dy where the index names the tap, else = 0 or += 0.
void SpreadOverWindows(const WindowRun& run, const float* dy, const uint8_t* indices, bool add,
                       float* first);

}  // namespace shardmill
