#include "trainer/comm/gradient_buckets.h"

#include <algorithm>
#include <chrono>

namespace shardmill {
namespace {

// Buckets begin at cache lines.
constexpr int64_t kBucketAlignment = 16;

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

Status CheckRanges(std::vector<GradientRange> ranges, int64_t count) {
  std::sort(ranges.begin(), ranges.end(),
            [](const GradientRange& a, const GradientRange& b) { return a.begin < b.begin; });
  int64_t free_from = 0;
  for (const GradientRange& range : ranges) {
    if (range.begin < free_from || range.end < range.begin || range.end > count) {
      return InternalError("gradient range [" + std::to_string(range.begin) + ", " +
                           std::to_string(range.end) + ") overlaps another one or leaves [0, " +
                           std::to_string(count) + ")");
    }
    free_from = range.end;
  }
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<GradientBuckets>> GradientBuckets::Create(
    Communicator* communicator, float* gradients, int64_t count,
    const std::vector<GradientRange>& ranges, const GradientBucketOptions& options) {
  if (options.bucket_bytes < 1) {
    return InvalidArgumentError("a gradient bucket of " + std::to_string(options.bucket_bytes) +
                                " bytes; it must hold at least 1");
  }
  RETURN_IF_ERROR(CheckRanges(ranges, count));
  // More buckets than calls that may be under way could not be started before the first wait.
  const int64_t smallest =
      RoundUp(count, Communicator::kMaxStartedCalls / 2) / (Communicator::kMaxStartedCalls / 2);
  const int64_t wanted = options.bucket_bytes / static_cast<int64_t>(sizeof(float));
  std::unique_ptr<GradientBuckets> buckets(new GradientBuckets(communicator, gradients));
  buckets->overlap_ = options.overlap;
  buckets->ranges_ = ranges;
  buckets->is_final_.assign(ranges.size(), 0);
  buckets->CutBuckets(count, RoundUp(std::max({wanted, smallest, int64_t{1}}), kBucketAlignment));
  return buckets;
}

void GradientBuckets::CutBuckets(int64_t count, int64_t bucket_elements) {
  bucket_elements_ = bucket_elements;
  // Bucket 0 is the last part of the buffer; multiples of the bucket size, so that the short
  // bucket is the first to be started.
  for (int64_t end = count; end > 0;) {
    Bucket bucket;
    bucket.end = end;
    bucket.begin = (end - 1) / bucket_elements * bucket_elements;
    bucket.name = "gradient bucket " + std::to_string(buckets_.size());
    end = bucket.begin;
    buckets_.push_back(bucket);
  }
  for (const GradientRange& range : ranges_) {
    for (Bucket& bucket : buckets_) {
      if (range.begin < range.end && range.begin < bucket.end && bucket.begin < range.end) {
        ++bucket.ranges;
      }
    }
  }
  Forget();
}

Status GradientBuckets::MarkFinal(int range) {
  SHARDMILL_CHECK(range >= 0 && range < static_cast<int>(ranges_.size()));
  if (is_final_[range]) {
    return InternalError("the gradient of parameter " + std::to_string(range) +
                         " was reported final twice in one step");
  }
  is_final_[range] = 1;
  const auto [begin, end] = ranges_[range];
  if (begin < end) {
    const int last = static_cast<int>(buckets_.size()) - 1;
    const int from = last - static_cast<int>((end - 1) / bucket_elements_);
    const int to = last - static_cast<int>(begin / bucket_elements_);
    for (int bucket = from; bucket <= to; ++bucket) --buckets_[bucket].pending;
  }
  return overlap_ == Overlap::kWithBackward ? StartReady() : OkStatus();
}

Status GradientBuckets::StartReady() {
  const size_t before = started_;
  while (started_ < buckets_.size() && buckets_[started_].pending == 0) {
    RETURN_IF_ERROR(Start(&buckets_[started_]));
    ++started_;
  }
  // Sums only move on when they are looked at.
  return before > 0 ? communicator_->Progress() : OkStatus();
}

Status GradientBuckets::Start(Bucket* bucket) {
  ASSIGN_OR_RETURN(bucket->call,
                   communicator_->StartSum(gradients_ + bucket->begin, bucket->end - bucket->begin,
                                           SumType::kF32, bucket->name));
  return OkStatus();
}

Status GradientBuckets::Finish() {
  for (size_t range = 0; range < is_final_.size(); ++range) {
    if (!is_final_[range]) {
      return InternalError("the gradient of parameter " + std::to_string(range) +
                           " was not reported final in this step");
    }
  }
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < buckets_.size(); ++i) {
    if (i >= started_) RETURN_IF_ERROR(Start(&buckets_[i]));
    RETURN_IF_ERROR(communicator_->Wait(buckets_[i].call));
  }
  waited_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Forget();
  return OkStatus();
}

void GradientBuckets::Forget() {
  for (Bucket& bucket : buckets_) bucket.pending = bucket.ranges;
  started_ = 0;
  std::fill(is_final_.begin(), is_final_.end(), 0);
}

}  // namespace shardmill
