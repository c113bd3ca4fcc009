#include "trainer/comm/roll_call.h"

#include <gtest/gtest.h>

namespace shardmill {
namespace {

CallPosition Position(int64_t step, uint64_t sequence, uint64_t signature, const char* name) {
  CallPosition position;
  position.step = step;
  position.sequence = sequence;
  position.signature = signature;
  position.set_name(name);
  return position;
}

TEST(RollCall, RanksWithoutANoteOfTheCallHaveNotStartedIt) {
  RollCall roll(0, 4);
  EXPECT_FALSE(roll.Record(0, Position(7, 3, 1, "sum")));
  EXPECT_FALSE(roll.Record(1, Position(7, 3, 1, "sum")));
  EXPECT_FALSE(roll.Record(2, Position(6, 2, 9, "barrier")));
  EXPECT_EQ(roll.NotStarted(3), (std::vector<int>{2, 3}));
  EXPECT_EQ(roll.NotStarted(2), (std::vector<int>{3}));
  EXPECT_EQ(PositionText(roll.Latest(2), CallState::kStarted), "step 6, in 'barrier'");
  EXPECT_EQ(PositionText(roll.Latest(3), CallState::kStarted), "the start");
}

TEST(RollCall, DifferentCallsUnderOneNumberAreFoundInEitherOrder) {
  RollCall own_first(0, 2);
  EXPECT_FALSE(own_first.Record(0, Position(7, 3, 1, "sum")));
  const auto late = own_first.Record(1, Position(7, 3, 2, "barrier"));
  ASSERT_TRUE(late);
  EXPECT_NE(late->find("rank 1 is at step 7, in 'barrier'"), std::string::npos) << *late;

  RollCall other_first(0, 2);
  EXPECT_FALSE(other_first.Record(1, Position(7, 3, 2, "barrier")));
  EXPECT_FALSE(other_first.Record(0, Position(7, 2, 5, "sum")));
  EXPECT_TRUE(other_first.Record(0, Position(7, 3, 1, "sum")));
}

TEST(RollCall, RankThatRunsFarAheadIsStillCompared) {
  RollCall roll(0, 2);
  for (uint64_t sequence = 1; sequence <= 50; ++sequence) {
    EXPECT_FALSE(roll.Record(1, Position(0, sequence, sequence, "bucket")));
  }
  EXPECT_FALSE(roll.Record(0, Position(0, 1, 1, "bucket")));
  EXPECT_TRUE(roll.Record(0, Position(0, 2, 77, "bucket")));
}

TEST(RollCall, RanksTextJoinsRuns) {
  EXPECT_EQ(RanksText({3}), "rank 3");
  EXPECT_EQ(RanksText({1, 2}), "ranks 1 and 2");
  EXPECT_EQ(RanksText({0, 2, 3, 4, 9}), "ranks 0, 2 to 4 and 9");
  std::vector<int> odd;
  for (int rank = 1; rank < 100; rank += 2) odd.push_back(rank);
  EXPECT_EQ(RanksText(odd), "ranks 1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and others");
}

TEST(CallPosition, LongNamesAreCut) {
  const CallPosition position = Position(0, 1, 1, std::string(200, 'x').c_str());
  EXPECT_EQ(PositionText(position, CallState::kEnded),
            "step 0, after '" + std::string(CallPosition::kMaxName, 'x') + "'");
}

}  // namespace
}  // namespace shardmill
