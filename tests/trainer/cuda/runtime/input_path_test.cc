#include "trainer/cuda/runtime/input_path.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "trainer/cuda/runtime/dependency_check.h"
#include "trainer/cuda/runtime/recording_runtime.h"

namespace shardmill {
namespace {

using Kind = RecordedStep::Kind;
constexpr int64_t kImageBytes = 1000, kLabelBytes = 300;

// A loader with a ring of pinned buffers, the path, and a training step that reads the batch.
class Pipeline {
 public:
  explicit Pipeline(int buffers) {
    compute_ = *runtime_.CreateStream();
    for (int i = 0; i < buffers; ++i) {
      free_.push_back(static_cast<char*>(*runtime_.AllocatePinned(kImageBytes + kLabelBytes)));
    }
    path_ = std::move(*InputPath::Create(&runtime_, {2048, 2, buffers - 1}));
  }

  // False when the ring or the slots are full.
  bool PushBatch() {
    if (!path_->HasRoom() || free_.empty()) return false;
    char* buffer = free_.front();
    free_.pop_front();
    runtime_.NoteHostAccess({"loader", {}, {{buffer, kImageBytes + kLabelBytes}}});
    std::memset(buffer, 'a' + pushed_, kImageBytes);
    std::memset(buffer + kImageBytes, 'A' + pushed_, kLabelBytes);
    ++pushed_;
    EXPECT_TRUE(
        path_
            ->Push({{buffer, kImageBytes}, {nullptr, 0}, {buffer + kImageBytes, kLabelBytes}},
                   [this, buffer] { free_.push_back(buffer); })
            .ok());
    return true;
  }

  void Step() {
    const auto pieces = path_->Take(compute_);
    ASSERT_TRUE(pieces.ok());
    ASSERT_EQ(pieces->size(), 3u);
    EXPECT_EQ((*pieces)[1], nullptr);
    const auto* images = static_cast<const char*>((*pieces)[0]);
    const auto* labels = static_cast<const char*>((*pieces)[2]);
    EXPECT_EQ(std::string(images, kImageBytes), std::string(kImageBytes, 'a' + taken_));
    EXPECT_EQ(std::string(labels, kLabelBytes), std::string(kLabelBytes, 'A' + taken_));
    ++taken_;
    ASSERT_TRUE(
        runtime_
            .Launch(compute_, {"step", {{images, kImageBytes}, {labels, kLabelBytes}}, {}}, nullptr)
            .ok());
    ASSERT_TRUE(path_->Release(compute_).ok());
  }

  void Run(int steps) {
    for (int i = 0; i < steps; ++i) {
      while (PushBatch()) continue;
      Step();
    }
  }

  RecordingRuntime& runtime() { return runtime_; }
  void Close() { path_.reset(); }
  int FreeBuffers() const { return static_cast<int>(free_.size()); }

 private:
  RecordingRuntime runtime_;
  StreamHandle compute_ = nullptr;
  std::deque<char*> free_;
  std::unique_ptr<InputPath> path_;
  int pushed_ = 0, taken_ = 0;
};

TEST(InputPath, BatchesArriveInOrderAndNothingIsForgotten) {
  for (int variant = 0; variant < 6; ++variant) {
    const int buffers = 2 + variant / 2;
    Pipeline pipeline(buffers);
    pipeline.runtime().set_pending(variant % 2 == 0);
    pipeline.Run(8);
    pipeline.Close();
    EXPECT_EQ(pipeline.FreeBuffers(), buffers);
    EXPECT_EQ(FindMissingDependencies(pipeline.runtime().log()), std::vector<std::string>());
    EXPECT_TRUE(pipeline.runtime().misuses().empty());
  }
}

TEST(InputPath, HostWaitsForNoComputation) {
  Pipeline pipeline(/*buffers=*/3);
  pipeline.runtime().set_pending(true);
  pipeline.Run(8);
  for (const RecordedStep& step : pipeline.runtime().log()) {
    EXPECT_NE(step.kind, Kind::kHostWaitsAll);
    if (step.kind != Kind::kHostWaits) continue;
    // The event of a copy: the compute stream never recorded it.
    for (const RecordedStep& other : pipeline.runtime().log()) {
      const bool same = other.kind == Kind::kRecordEvent && other.event == step.event;
      EXPECT_FALSE(same && other.stream == 0);
    }
  }
}

// The path with any one of its waits left out is found faulty: so each is needed, and the check
// sees it. The last waits are for what comes after the end.
TEST(InputPath, EveryWaitThatIsLeftOutIsFound) {
  Pipeline pipeline(/*buffers=*/3);
  pipeline.runtime().set_pending(true);
  pipeline.Run(12);
  const std::vector<RecordedStep> log = pipeline.runtime().log();
  std::vector<bool> recorded(16, false);
  int left_out = 0;
  for (size_t i = 0; i < log.size() / 2; ++i) {
    if (log[i].kind == Kind::kRecordEvent) recorded[log[i].event] = true;
    if (log[i].kind != Kind::kStreamWaits && log[i].kind != Kind::kHostWaits) continue;
    if (!recorded[log[i].event]) continue;  // a slot that was never used
    std::vector<RecordedStep> faulty = log;
    faulty.erase(faulty.begin() + static_cast<int64_t>(i));
    EXPECT_FALSE(FindMissingDependencies(faulty).empty()) << "wait at step " << i;
    ++left_out;
  }
  EXPECT_GT(left_out, 12);
}

TEST(InputPath, BatchLargerThanASlotIsInvalidArgument) {
  RecordingRuntime runtime;
  const auto path = InputPath::Create(&runtime, {100, 2, 2});
  ASSERT_TRUE(path.ok());
  void* pinned = *runtime.AllocatePinned(1000);
  EXPECT_EQ((*path)->Push({{pinned, 1000}}, [] {}).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
