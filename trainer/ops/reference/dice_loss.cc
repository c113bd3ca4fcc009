#include <vector>

#include "trainer/ops/reference/reference_ops.h"
#include "trainer/ops/reference/targets.h"

namespace shardmill {
namespace {

// The sums of one image, per class.
struct ImageSums {
  explicit ImageSums(int64_t classes)
      : products(classes), probabilities(classes), shares(classes) {}

  double Numerator(int64_t k) const { return 2 * products[k] + 1; }
  double Denominator(int64_t k) const { return probabilities[k] + shares[k] + 1; }

  std::vector<double> products, probabilities, shares;
  double weight = 0;
};

template <typename T>
void AddPixel(const Targets& targets, int64_t pixel, const T* logits, ImageSums* sums) {
  const double log_of_sum = LogOfSum(logits, targets.Classes());
  for (int64_t k = 0; k < targets.Classes(); ++k) {
    const double probability = std::exp(logits[k] - log_of_sum);
    sums->products[k] += targets.Share(pixel, k) * probability;
    sums->probabilities[k] += targets.Shares(pixel) * probability;
    sums->shares[k] += targets.Share(pixel, k);
  }
  sums->weight += targets.Weight(pixel);
}

// `factor` is what the mean over the classes is multiplied by in the quantity that is derived.
template <typename T>
void AddGradient(const Targets& targets, int64_t pixel, const T* logits, const ImageSums& sums,
                 double factor, T* dlogits) {
  const int64_t classes = targets.Classes();
  const double log_of_sum = LogOfSum(logits, classes), all = targets.Shares(pixel);
  if (all == 0) return;
  std::vector<double> by_probability(classes);
  double mean = 0;
  for (int64_t k = 0; k < classes; ++k) {
    const double numerator = sums.Numerator(k), denominator = sums.Denominator(k);
    by_probability[k] = factor / static_cast<double>(classes) *
                        (2 * targets.Share(pixel, k) * denominator - all * numerator) /
                        (denominator * denominator);
    mean += by_probability[k] * std::exp(logits[k] - log_of_sum);
  }
  for (int64_t k = 0; k < classes; ++k) {
    dlogits[k] += static_cast<T>(std::exp(logits[k] - log_of_sum) * (by_probability[k] - mean));
  }
}

}  // namespace

Status ReferenceOps::AddDiceLoss(Stream&, const LossCall& loss, const void* logits,
                                 const double* total_weight, double* loss_sum, void* dlogits) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    const Targets targets(loss);
    const int64_t classes = targets.Classes();
    const int64_t pixels = loss.shape.logits.h * loss.shape.logits.w;
    for (int64_t n = 0; n < loss.shape.logits.n; ++n) {
      ImageSums sums(classes);
      for (int64_t p = n * pixels; p < (n + 1) * pixels; ++p) {
        AddPixel<T>(targets, p, Elements<T>(logits) + p * classes, &sums);
      }
      double mean = 0;
      for (int64_t k = 0; k < classes; ++k) mean += sums.Numerator(k) / sums.Denominator(k);
      const double share = loss.dice * sums.weight;
      *loss_sum += share * (1 - mean / static_cast<double>(classes));
      if (dlogits == nullptr || *total_weight <= 0) continue;
      for (int64_t p = n * pixels; p < (n + 1) * pixels; ++p) {
        AddGradient<T>(targets, p, Elements<T>(logits) + p * classes, sums, -share / *total_weight,
                       Elements<T>(dlogits) + p * classes);
      }
    }
  });
  return OkStatus();
}

}  // namespace shardmill
