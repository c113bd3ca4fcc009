#include "reader/stage_clock.h"

#include <chrono>

namespace shardmill {
namespace {

uint64_t NowNs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Only the thread of the clock writes, so no read-modify-write is needed.
void AddTo(std::atomic<uint64_t>* counter, uint64_t amount) {
  counter->store(counter->load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

}  // namespace

std::string_view StageName(Stage stage) {
  switch (stage) {
    case Stage::kWaitForSlot:
      return "waiting for a slot";
    case Stage::kDisk:
      return "disk";
    case Stage::kCopy:
      return "copy";
    case Stage::kChecksum:
      return "checksum";
    case Stage::kDecode:
      return "decode";
    case Stage::kExpand:
      return "expand";
    case Stage::kPlan:
      return "plan";
    case Stage::kConsumerWait:
      return "consumer waiting";
    case Stage::kConsumer:
      return "consumer";
  }
  return "unknown";
}

StageClock::StageClock(Stage first) : stage_(first), since_ns_(NowNs()) {}

void StageClock::Switch(Stage stage) {
  const uint64_t now_ns = NowNs();
  AddTo(&totals_[static_cast<size_t>(stage_)], now_ns - since_ns_);
  if (!spans_.empty()) KeepSpan(now_ns);
  stage_ = stage;
  since_ns_ = now_ns;
}

void StageClock::KeepSpan(uint64_t end_ns) {
  const uint64_t count = span_count_.load(std::memory_order_relaxed);
  if (count == spans_.size()) {
    AddTo(&spans_lost_, 1);
    return;
  }
  spans_[count] = {stage_, since_ns_, end_ns, epoch_, step_};
  span_count_.store(count + 1, std::memory_order_release);  // the span is complete
}

}  // namespace shardmill
