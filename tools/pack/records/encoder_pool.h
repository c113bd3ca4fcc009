// Sample encoders for several threads.
//
// The encoder that came back last is taken first: of large images only a few are in flight at once,
// whatever the number of threads, and no more encoders than that get buffers of their size. What an
// encoder makes does not depend on which it is. Safe for concurrent use by as many threads as the
// pool was made for.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "tools/pack/records/sample_encoder.h"

namespace shardmill {

class EncoderPool {
 public:
  // `plan`, `options` and `labels` must outlive the pool.
  EncoderPool(const PackPlan& plan, const PackOptions& options, const LabelDecoder& labels,
              int threads);

  int threads() const { return threads_; }
  EncodedSample Encode(const Sample& sample, const GeometryOptions& geometry, SampleWork work);

 private:
  // An encoder that is not idle, until the end of a scope.
  class Loan;

  const int threads_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<SampleEncoder>> idle_;
};

}  // namespace shardmill
