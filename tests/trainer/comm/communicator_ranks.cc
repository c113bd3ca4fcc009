// Cases that run on every rank of a job; see mpi_ranks_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/trainer/comm/rank_main.h"

namespace shardmill {
namespace {

// Sizes around the places where MPI libraries change their algorithm.
constexpr int64_t kCounts[] = {0, 1, 2, 3, 7, 100, 1023, 4096, 65537, 1000003};

template <typename T>
void ExpectExactSums() {
  Communicator* ranks = JobCommunicator();
  const T size = static_cast<T>(ranks->size());
  for (int64_t count : kCounts) {
    std::vector<T> values(count + 1, T{99});
    for (int64_t i = 0; i < count; ++i) {
      values[i] = static_cast<T>(i % 1000 + 1) * static_cast<T>(ranks->rank() + 1);
    }
    ASSERT_TRUE(ranks->Sum(values.data(), count, "sum").ok());
    for (int64_t i = 0; i < count; ++i) {
      const T expected = static_cast<T>(i % 1000 + 1) * (size * (size + 1) / 2);
      if (values[i] != expected) {
        FAIL() << "element " << i << " of " << count << ": " << values[i] << ", not " << expected;
      }
    }
    EXPECT_EQ(values[count], T{99});
  }
}

TEST(Communicator, SumOfRankDependentIntegersIsExactForAllTypes) {
  ExpectExactSums<float>();
  ExpectExactSums<double>();
  ExpectExactSums<int64_t>();
  ExpectExactSums<uint64_t>();
}

TEST(Communicator, NegativeAndLargeIntegersKeepEveryBit) {
  Communicator* ranks = JobCommunicator();
  const int64_t size = ranks->size();
  int64_t signed_value = -(int64_t{1} << 60) / size - ranks->rank();
  uint64_t unsigned_value = (uint64_t{1} << 63) + 1;
  ASSERT_TRUE(ranks->Sum(&signed_value, 1, "signed").ok());
  ASSERT_TRUE(ranks->Sum(&unsigned_value, 1, "unsigned").ok());
  EXPECT_EQ(signed_value, size * (-(int64_t{1} << 60) / size) - size * (size - 1) / 2);
  EXPECT_EQ(unsigned_value, static_cast<uint64_t>(size) * ((uint64_t{1} << 63) + 1));
}

// From -1 to 1, by a hash of rank and position.
float RandomValue(int rank, int64_t i) {
  uint64_t x = static_cast<uint64_t>(rank) << 40 | static_cast<uint64_t>(i);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return static_cast<float>(static_cast<int64_t>(x)) * 0x1p-63f;
}

TEST(Communicator, FloatSumsAreWithinTheBoundOfTheSerialSum) {
  Communicator* ranks = JobCommunicator();
  constexpr int64_t kCount = 20011;
  std::vector<float> values(kCount);
  for (int64_t i = 0; i < kCount; ++i) values[i] = RandomValue(ranks->rank(), i);
  ASSERT_TRUE(ranks->Sum(values.data(), kCount, "floats").ok());
  for (int64_t i = 0; i < kCount; ++i) {
    double sum = 0;
    double absolute_sum = 0;
    for (int rank = 0; rank < ranks->size(); ++rank) {
      sum += RandomValue(rank, i);
      absolute_sum += std::fabs(RandomValue(rank, i));
    }
    // size - 1 additions, each with a relative error of at most 2^-24 of what was added so far.
    const double bound = (ranks->size() - 1) * std::ldexp(1.0, -24) * absolute_sum;
    ASSERT_LE(std::fabs(values[i] - sum), bound) << "element " << i;
  }
}

TEST(Communicator, AllRanksGetTheSameBits) {
  Communicator* ranks = JobCommunicator();
  for (int64_t count : {1, 1000, 300007}) {
    std::vector<float> values(count);
    for (int64_t i = 0; i < count; ++i) values[i] = RandomValue(ranks->rank(), i);
    ASSERT_TRUE(ranks->Sum(values.data(), count, "floats").ok());
    std::vector<float> of_root = values;
    ASSERT_TRUE(ranks->Broadcast(of_root.data(), count * 4, 0, "sums of rank 0").ok());
    EXPECT_EQ(values, of_root);
  }
}

TEST(Communicator, BroadcastCopiesFromAnyRoot) {
  Communicator* ranks = JobCommunicator();
  for (int root = 0; root < ranks->size(); ++root) {
    for (int64_t bytes : {0, 1, 13, 70000, 5000011}) {
      std::vector<uint8_t> data(bytes + 1, 7);
      if (ranks->rank() == root) {
        for (int64_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(i * 31 + root);
      }
      ASSERT_TRUE(ranks->Broadcast(data.data(), bytes, root, "broadcast").ok());
      for (int64_t i = 0; i < bytes; ++i) {
        if (data[i] != static_cast<uint8_t>(i * 31 + root)) FAIL() << "byte " << i;
      }
      EXPECT_EQ(data[bytes], 7);
    }
  }
}

TEST(Communicator, GatherKeepsMessagesOfDifferentLengths) {
  Communicator* ranks = JobCommunicator();
  const auto message_of = [](int rank) {
    return std::string(static_cast<size_t>(rank) * 1000, static_cast<char>('a' + rank));
  };
  const auto messages = ranks->Gather(message_of(ranks->rank()), "messages");
  ASSERT_TRUE(messages.ok());
  ASSERT_EQ(messages->size(), static_cast<size_t>(ranks->size()));
  for (int rank = 0; rank < ranks->size(); ++rank) {
    EXPECT_EQ((*messages)[rank], message_of(rank));
  }
}

TEST(Communicator, StartedSumsMayOverlapAndEndInAnyOrder) {
  Communicator* ranks = JobCommunicator();
  const float size = static_cast<float>(ranks->size());
  constexpr int kCalls = 40;
  std::vector<std::vector<float>> values;
  std::vector<StartedCall> calls;
  for (int i = 0; i < kCalls; ++i) values.emplace_back(1 + i * i * 50, static_cast<float>(i));
  for (int i = 0; i < kCalls; ++i) {
    const auto call = ranks->StartSum(values[i].data(), static_cast<int64_t>(values[i].size()),
                                      SumType::kF32, "started sum " + std::to_string(i));
    ASSERT_TRUE(call.ok());
    calls.push_back(*call);
    ASSERT_TRUE(ranks->Progress().ok());
  }
  // Other calls go on between; each rank waits in an order of its own.
  ASSERT_TRUE(ranks->Barrier("between").ok());
  for (int i = 0; i < kCalls; ++i) {
    const int which = (i * 7 + ranks->rank() * 3) % kCalls;
    ASSERT_TRUE(ranks->Wait(calls[which]).ok());
  }
  for (int i = 0; i < kCalls; ++i) {
    for (float value : values[i]) ASSERT_EQ(value, static_cast<float>(i) * size);
  }
}

TEST(Communicator, ExchangeMovesPiecesInOrderBetweenAllPairs) {
  Communicator* ranks = JobCommunicator();
  const int size = ranks->size();
  const int self = ranks->rank();
  const auto bytes_of = [](int from, int to) { return from * 40000 + to * 13; };
  std::vector<std::vector<uint8_t>> out(size), first(size), second(size);
  const std::vector<uint8_t> single(1, static_cast<uint8_t>(self));
  std::vector<SendPiece> sends;
  std::vector<ReceivePiece> receives;
  for (int other = 0; other < size; ++other) {
    if (other == self) continue;
    out[other].assign(bytes_of(self, other), static_cast<uint8_t>(self * 16 + other));
    sends.push_back({other, out[other].data(), bytes_of(self, other)});
    sends.push_back({other, single.data(), 1});
    first[other].resize(bytes_of(other, self));
    second[other].resize(1);
    receives.push_back({other, first[other].data(), bytes_of(other, self)});
    receives.push_back({other, second[other].data(), 1});
  }
  ASSERT_TRUE(ranks->Exchange(sends, receives, "exchange").ok());
  for (int other = 0; other < size; ++other) {
    if (other == self) continue;
    EXPECT_EQ(first[other],
              std::vector<uint8_t>(bytes_of(other, self), static_cast<uint8_t>(other * 16 + self)));
    EXPECT_EQ(second[other][0], static_cast<uint8_t>(other));
  }
}

TEST(Communicator, LayoutCountsTheRanksOfThisHost) {
  Communicator* ranks = JobCommunicator();
  EXPECT_EQ(ranks->layout().local_size, ranks->size());
  EXPECT_EQ(ranks->layout().local_rank, ranks->rank());
  int64_t sum = ranks->rank();
  ASSERT_TRUE(ranks->Sum(&sum, 1, "ranks").ok());
  EXPECT_EQ(sum, int64_t{ranks->size()} * (ranks->size() - 1) / 2);
}

}  // namespace
}  // namespace shardmill
