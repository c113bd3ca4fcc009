#include "trainer/cuda/runtime/dependency_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shardmill {
namespace {

// Two streams, two events and a block of device memory, in the words of a test.
class DependencyCheck : public testing::Test {
 protected:
  DependencyCheck() {
    first_ = *runtime_.CreateStream();
    second_ = *runtime_.CreateStream();
    event_ = *runtime_.CreateEvent();
    memory_ = static_cast<char*>(*runtime_.AllocateDevice(100));
  }
  void Write(StreamHandle stream, int64_t begin = 0, int64_t bytes = 100) {
    ASSERT_TRUE(runtime_.Launch(stream, {"write", {}, {{memory_ + begin, bytes}}}, nullptr).ok());
  }
  void Read(StreamHandle stream, int64_t begin = 0, int64_t bytes = 100) {
    ASSERT_TRUE(runtime_.Launch(stream, {"read", {{memory_ + begin, bytes}}, {}}, nullptr).ok());
  }
  // `to` waits for what `from` has been given so far.
  void Join(StreamHandle from, StreamHandle to) {
    ASSERT_TRUE(runtime_.RecordEvent(event_, from).ok());
    ASSERT_TRUE(runtime_.WaitEvent(to, event_).ok());
  }
  std::vector<std::string> Faults() const { return FindMissingDependencies(runtime_.log()); }
  void ExpectOneFault(const std::string& words) {
    const auto faults = Faults();
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_NE(faults[0].find(words), std::string::npos) << faults[0];
  }

  RecordingRuntime runtime_;
  StreamHandle first_ = nullptr, second_ = nullptr;
  EventHandle event_ = nullptr;
  char* memory_ = nullptr;
};

TEST_F(DependencyCheck, OneStreamIsInOrder) {
  Write(first_);
  Read(first_);
  Write(first_);
  EXPECT_TRUE(Faults().empty());
}

TEST_F(DependencyCheck, ReadOnAnotherStreamNeedsAnEvent) {
  Write(first_);
  Read(second_);
  ExpectOneFault("\"read\", reads what step 1, \"write\", may not have written yet");
}

TEST_F(DependencyCheck, EventOrdersTheStreams) {
  Write(first_);
  Join(first_, second_);
  Read(second_);
  EXPECT_TRUE(Faults().empty());
}

TEST_F(DependencyCheck, EventRecordedTooEarlyDoesNotCount) {
  ASSERT_TRUE(runtime_.RecordEvent(event_, first_).ok());
  Write(first_);
  ASSERT_TRUE(runtime_.WaitEvent(second_, event_).ok());
  Read(second_);
  ExpectOneFault("may not have written yet");
}

TEST_F(DependencyCheck, WaitBeforeTheRecordDoesNotCount) {
  Write(first_);
  ASSERT_TRUE(runtime_.WaitEvent(second_, event_).ok());
  ASSERT_TRUE(runtime_.RecordEvent(event_, first_).ok());
  Read(second_);
  ExpectOneFault("may not have written yet");
}

TEST_F(DependencyCheck, WaitOnTheWrongStreamDoesNotCount) {
  Write(first_);
  Join(first_, first_);
  Read(second_);
  ExpectOneFault("may not have written yet");
}

TEST_F(DependencyCheck, WriteMustWaitForTheReaderBefore) {
  Write(first_);
  Join(first_, second_);
  Read(second_);
  Write(first_);
  ExpectOneFault("\"write\", writes what step 4, \"read\", may not have read yet");
}

TEST_F(DependencyCheck, TwoWritersNeedAnOrder) {
  Write(first_);
  Write(second_);
  ExpectOneFault("writes what step 1");
}

TEST_F(DependencyCheck, ReadersAndDisjointPiecesNeedNone) {
  Write(first_);
  Join(first_, second_);
  Read(first_);
  Read(second_);
  Join(second_, first_);
  Write(first_, 0, 50);
  Write(second_, 50, 50);
  EXPECT_EQ(Faults().size(), 1u);  // the read of `first_` and the write of the second half
}

TEST_F(DependencyCheck, OrderPassesThroughOtherStreamsAndTheHost) {
  const StreamHandle third = *runtime_.CreateStream();
  Write(first_);
  Join(first_, third);
  Join(third, second_);
  Read(second_);
  ASSERT_TRUE(runtime_.SynchronizeStream(second_).ok());
  runtime_.NoteHostAccess({"host", {}, {{memory_, 100}}});
  Write(first_);
  EXPECT_TRUE(Faults().empty());
}

TEST_F(DependencyCheck, HostMustWaitForTheDevice) {
  Write(first_);
  runtime_.NoteHostAccess({"look", {{memory_, 4}}, {}});
  ExpectOneFault("\"look\", reads what step 1");
}

TEST_F(DependencyCheck, FreeingWhatIsInUseIsAFault) {
  Write(first_);
  ASSERT_TRUE(runtime_.FreeDevice(memory_).ok());
  ExpectOneFault("frees what step 1");
}

TEST_F(DependencyCheck, UseAfterFreeAndBeyondTheEndAreFaults) {
  Write(first_, 50, 51);
  ExpectOneFault("not allocated");
  ASSERT_TRUE(runtime_.SynchronizeStream(first_).ok());
  ASSERT_TRUE(runtime_.FreeDevice(memory_).ok());
  Write(first_);
  EXPECT_EQ(Faults().size(), 2u);
}

TEST_F(DependencyCheck, ReadingWhatNothingWroteIsAFault) {
  Write(first_, 0, 60);
  Read(first_, 0, 60);
  EXPECT_TRUE(Faults().empty());
  Read(first_, 50, 20);
  ExpectOneFault("nothing has written");
}

}  // namespace
}  // namespace shardmill
