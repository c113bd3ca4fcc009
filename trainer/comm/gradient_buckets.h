// Adds the gradients of all ranks while backward still computes.
//
// The flat gradient buffer is cut into buckets from its end, because backward finishes the last
// parameters first. A bucket is summed over the ranks, without waiting, as soon as every parameter
// in it is final; Finish waits for all. Buckets start in the same order on every rank whatever
// the order of the reports, and waiting at the end instead of overlapping gives the same bits.
//
// One step is: MarkFinal for each parameter, then Finish. Not for concurrent use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/comm/communicator.h"

namespace shardmill {

// Elements [begin, end) of the gradient buffer: one parameter.
struct GradientRange {
  int64_t begin = 0;
  int64_t end = 0;
};

enum class Overlap {
  kWithBackward,  // start a bucket as soon as it is final
  kAtTheEnd,      // one bucket after the other, in Finish
};

struct GradientBucketOptions {
  int64_t bucket_bytes = 1 << 20;
  Overlap overlap = Overlap::kWithBackward;
};

class GradientBuckets {
 public:
  // `gradients` has `count` elements; `ranges` do not overlap, and may leave gaps, which are
  // summed too. Both pointers must outlive the object. All ranks pass the same sizes.
  static Result<std::unique_ptr<GradientBuckets>> Create(Communicator* communicator,
                                                         float* gradients, int64_t count,
                                                         const std::vector<GradientRange>& ranges,
                                                         const GradientBucketOptions& options);
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  // Range number `range` has its final value in this step; nothing may write to it until Finish
  // has returned. Internal error when it was reported before.
  Status MarkFinal(int range);

  // Returns when `gradients` holds the sums. Internal error when a range was not reported.
  Status Finish();

  // Forgets a step that broke off before Finish, so that the next one starts anew. REQUIRES: the
  // communicator has forgotten the sums of the step too.
  void Forget();

  int bucket_count() const { return static_cast<int>(buckets_.size()); }
  // Of the last Finish: the part of the communication that backward could not hide.
  double waited_seconds() const { return waited_seconds_; }

 private:
  struct Bucket {
    int64_t begin = 0;
    int64_t end = 0;
    int ranges = 0;   // that have a part in it
    int pending = 0;  // of these, not yet final
    std::string name;
    StartedCall call;
  };

  GradientBuckets(Communicator* communicator, float* gradients)
      : communicator_(communicator), gradients_(gradients) {}
  void CutBuckets(int64_t count, int64_t bucket_elements);
  Status StartReady();
  Status Start(Bucket* bucket);

  Communicator* communicator_;
  float* gradients_;
  Overlap overlap_ = Overlap::kWithBackward;
  int64_t bucket_elements_ = 0;
  std::vector<Bucket> buckets_;
  std::vector<GradientRange> ranges_;
  std::vector<char> is_final_;
  size_t started_ = 0;  // buckets before this one have been started
  double waited_seconds_ = 0;
};

}  // namespace shardmill
