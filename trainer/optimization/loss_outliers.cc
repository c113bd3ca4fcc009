#include "trainer/optimization/loss_outliers.h"

#include <algorithm>
#include <cmath>

#include "proto/checkpoint.pb.h"

namespace shardmill {
namespace {

// How much the newest step counts: the mean is over some fifty steps.
constexpr double kNewest = 0.02;
// Steps before the first verdict.
constexpr uint64_t kFirstSteps = 30;
// Losses that hardly vary do not stand out by a little.
constexpr double kLeastDeviation = 0.01;

}  // namespace

double LossOutliers::mean() const { return progress_.loss_mean(); }

std::optional<double> LossOutliers::Add(double loss) {
  if (limit_ <= 0) return std::nullopt;
  const uint64_t count = progress_.loss_count();
  const double mean = progress_.loss_mean();
  const double deviation =
      std::max(std::sqrt(progress_.loss_variance()), kLeastDeviation * std::abs(mean));
  std::optional<double> found;
  if (count >= kFirstSteps && deviation > 0 && loss > mean + limit_ * deviation) {
    found = (loss - mean) / deviation;
    // It moves the mean as far as the largest loss that would not stand out.
    loss = mean + limit_ * deviation;
  }
  // Exact over the first steps, then of the newer ones.
  const double share = std::max(kNewest, 1.0 / static_cast<double>(count + 1));
  const double difference = loss - mean;
  progress_.set_loss_mean(mean + share * difference);
  progress_.set_loss_variance((1 - share) *
                              (progress_.loss_variance() + share * difference * difference));
  progress_.set_loss_count(count + 1);
  return found;
}

}  // namespace shardmill
