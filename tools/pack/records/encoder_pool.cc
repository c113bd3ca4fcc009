#include "tools/pack/records/encoder_pool.h"

#include <utility>

#include "reader/base/status.h"

namespace shardmill {

class EncoderPool::Loan {
 public:
  explicit Loan(EncoderPool* pool) : pool_(pool) {
    std::lock_guard<std::mutex> lock(pool_->mutex_);
    SHARDMILL_CHECK(!pool_->idle_.empty());
    encoder_ = std::move(pool_->idle_.back());
    pool_->idle_.pop_back();
  }
  // Also where an exception ends the work: the thread will come again.
  ~Loan() {
    std::lock_guard<std::mutex> lock(pool_->mutex_);
    pool_->idle_.push_back(std::move(encoder_));
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  SampleEncoder* operator->() const { return encoder_.get(); }

 private:
  EncoderPool* const pool_;
  std::unique_ptr<SampleEncoder> encoder_;
};

EncoderPool::EncoderPool(const PackPlan& plan, const PackOptions& options,
                         const LabelDecoder& labels, int threads)
    : threads_(threads) {
  for (int i = 0; i < threads; ++i) {
    idle_.push_back(std::make_unique<SampleEncoder>(plan, options, labels));
  }
}

EncodedSample EncoderPool::Encode(const Sample& sample, const GeometryOptions& geometry,
                                  SampleWork work) {
  const Loan encoder(this);
  return encoder->Encode(sample, geometry, work);
}

}  // namespace shardmill
