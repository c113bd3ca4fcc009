// Where the time of one thread goes, stage by stage, and the spans of time behind the sums.
//
// A thread is always in exactly one stage. Entering the stage in which it already is costs one
// comparison; the clock is read only when the stage changes. So counting stays on: a record that
// is only copied costs nothing, one that is checked or decoded two or three readings.
// Enter() and SetBatch() are for one thread at a time; nanoseconds() and the spans may be read by
// any thread meanwhile.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

namespace shardmill {

enum class Stage : uint8_t {
  kWaitForSlot,   // a worker has nothing to fill: all slots of the ring are taken
  kDisk,          // asking for pages, and waiting for those that are on the disk
  kCopy,          // out of the mapping
  kChecksum,      // of the stored bytes
  kDecode,        // zstd, JPEG
  kExpand,        // from what is stored to what is delivered: one-hot, normalised …
  kPlan,          // working out which records a batch holds
  kConsumerWait,  // inside Next()
  kConsumer,      // between two calls of Next()
};
constexpr int kStageCount = 9;
std::string_view StageName(Stage stage);

struct StageSpan {
  Stage stage = Stage::kWaitForSlot;
  uint64_t begin_ns = 0;  // of the steady clock
  uint64_t end_ns = 0;
  uint64_t epoch = 0;
  uint64_t step = 0;
};

class alignas(64) StageClock {
 public:
  explicit StageClock(Stage first = Stage::kWaitForSlot);
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;

  // Keeps the first `count` spans from now on. Allocates here, and never again.
  void KeepSpans(uint64_t count) { spans_.resize(count); }

  void Enter(Stage stage) {
    if (stage != stage_) Switch(stage);
  }
  // The batch that the coming spans belong to.
  void SetBatch(uint64_t epoch, uint64_t step) {
    epoch_ = epoch;
    step_ = step;
  }

  // Spans that have ended; the running one is not counted.
  uint64_t nanoseconds(Stage stage) const {
    return totals_[static_cast<size_t>(stage)].load(std::memory_order_relaxed);
  }
  uint64_t span_count() const { return span_count_.load(std::memory_order_acquire); }
  const StageSpan& span(uint64_t index) const { return spans_[index]; }
  uint64_t spans_lost() const { return spans_lost_.load(std::memory_order_relaxed); }

 private:
  void Switch(Stage stage);
  void KeepSpan(uint64_t end_ns);

  Stage stage_;
  uint64_t since_ns_;
  uint64_t epoch_ = 0;
  uint64_t step_ = 0;
  std::array<std::atomic<uint64_t>, kStageCount> totals_ = {};
  std::vector<StageSpan> spans_;
  std::atomic<uint64_t> span_count_{0};
  std::atomic<uint64_t> spans_lost_{0};
};

// Enters a stage where there may be no clock.
inline void EnterStage(StageClock* clock, Stage stage) {
  if (clock != nullptr) clock->Enter(stage);
}

}  // namespace shardmill
