// Cases that run on every rank of a job; see mpi_ranks_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "tests/trainer/comm/rank_main.h"
#include "trainer/comm/gradient_buckets.h"

namespace shardmill {
namespace {

// Parameters of uneven sizes with gaps, as the flat buffer of a model has them.
struct Model {
  std::vector<GradientRange> ranges;
  int64_t count = 0;
};

Model RaggedModel() {
  Model model;
  for (int64_t elements : {1, 5000, 16, 120001, 7, 64, 0, 30000, 3, 45017}) {
    model.ranges.push_back({model.count, model.count + elements});
    model.count = (model.count + elements + 15) / 16 * 16;
  }
  return model;
}

void FillGradients(int rank, int step, const GradientRange& range, float* gradients) {
  std::mt19937 random(rank * 7919 + step * 131 + static_cast<int>(range.begin));
  for (int64_t i = range.begin; i < range.end; ++i) {
    gradients[i] = static_cast<float>(random()) * 1e-9f - 2.0f;
  }
}

// Two steps; each parameter is written just before it is reported final, last one first.
std::vector<float> SumOfTwoSteps(Overlap overlap, int64_t bucket_bytes) {
  Communicator* ranks = JobCommunicator();
  const Model model = RaggedModel();
  std::vector<float> gradients(model.count, 0.0f);
  auto buckets = GradientBuckets::Create(ranks, gradients.data(), model.count, model.ranges,
                                         {bucket_bytes, overlap});
  EXPECT_TRUE(buckets.ok());
  std::vector<float> all;
  for (int step = 0; step < 2; ++step) {
    for (int i = static_cast<int>(model.ranges.size()) - 1; i >= 0; --i) {
      FillGradients(ranks->rank(), step, model.ranges[i], gradients.data());
      EXPECT_TRUE((*buckets)->MarkFinal(i).ok());
    }
    EXPECT_TRUE((*buckets)->Finish().ok());
    all.insert(all.end(), gradients.begin(), gradients.end());
  }
  return all;
}

TEST(GradientBuckets, OverlappedSumsAreThoseOfWaitingBitForBit) {
  for (int64_t bucket_bytes : {1000, 64 << 10, 1 << 20}) {
    const std::vector<float> overlapped = SumOfTwoSteps(Overlap::kWithBackward, bucket_bytes);
    const std::vector<float> waited = SumOfTwoSteps(Overlap::kAtTheEnd, bucket_bytes);
    EXPECT_EQ(overlapped, waited) << bucket_bytes << " bytes a bucket";
  }
}

TEST(GradientBuckets, SumsAreThoseOfAllRanks) {
  Communicator* ranks = JobCommunicator();
  const Model model = RaggedModel();
  const std::vector<float> sums = SumOfTwoSteps(Overlap::kWithBackward, 100000);
  std::vector<float> of_rank(model.count, 0.0f);
  for (int step = 0; step < 2; ++step) {
    std::vector<double> expected(model.count, 0.0);
    for (int rank = 0; rank < ranks->size(); ++rank) {
      for (const GradientRange& range : model.ranges) {
        FillGradients(rank, step, range, of_rank.data());
      }
      for (int64_t i = 0; i < model.count; ++i) expected[i] += of_rank[i];
    }
    // Each of the values is at most 2.3 in size.
    const double bound = (ranks->size() - 1) * std::ldexp(1.0, -24) * 2.3 * ranks->size();
    for (int64_t i = 0; i < model.count; ++i) {
      ASSERT_NEAR(sums[step * model.count + i], expected[i], bound) << "element " << i;
    }
  }
}

TEST(GradientBuckets, OrderOfTheReportsMayDifferBetweenRanks) {
  Communicator* ranks = JobCommunicator();
  const Model model = RaggedModel();
  std::vector<float> gradients(model.count, 1.0f);
  auto buckets = GradientBuckets::Create(ranks, gradients.data(), model.count, model.ranges,
                                         {20000, Overlap::kWithBackward});
  ASSERT_TRUE(buckets.ok());
  const int ranges = static_cast<int>(model.ranges.size());
  for (int i = 0; i < ranges; ++i) {
    ASSERT_TRUE((*buckets)->MarkFinal((i * 3 + ranks->rank()) % ranges).ok());
  }
  ASSERT_TRUE((*buckets)->Finish().ok());
  EXPECT_EQ(gradients, std::vector<float>(model.count, static_cast<float>(ranks->size())));
}

TEST(GradientBuckets, WrongReportsAreErrors) {
  const Model model = RaggedModel();
  std::vector<float> gradients(model.count, 1.0f);
  Communicator* ranks = JobCommunicator();
  // One large bucket, so that no call is under way when the mistake is found.
  auto buckets = GradientBuckets::Create(ranks, gradients.data(), model.count, model.ranges, {});
  ASSERT_TRUE(buckets.ok());
  EXPECT_EQ((*buckets)->bucket_count(), 1);
  ASSERT_TRUE((*buckets)->MarkFinal(2).ok());
  EXPECT_EQ((*buckets)->MarkFinal(2).code(), StatusCode::kInternal);
  EXPECT_EQ((*buckets)->Finish().code(), StatusCode::kInternal);
}

TEST(GradientBuckets, RangesThatOverlapOrLeaveTheBufferAreErrors) {
  Communicator* ranks = JobCommunicator();
  float gradients[8] = {};
  using Ranges = std::vector<GradientRange>;
  for (const Ranges& ranges : {Ranges{{0, 4}, {3, 8}}, Ranges{{0, 9}}, Ranges{{4, 2}}}) {
    EXPECT_FALSE(GradientBuckets::Create(ranks, gradients, 8, ranges, {}).ok());
  }
  EXPECT_FALSE(GradientBuckets::Create(ranks, gradients, 8, {{0, 8}}, {0}).ok());
}

}  // namespace
}  // namespace shardmill
