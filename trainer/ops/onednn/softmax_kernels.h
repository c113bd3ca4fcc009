// The inner loops of softmax cross-entropy and of predictions.
#pragma once

#include <cstdint>

namespace shardmill {

// Per pixel: log_sums[p] = log of the sum of the exponentials of its `classes` logits. Unless
// `gradients` is null also gradients[p, k] = factors[p] * softmax(logits[p])[k], exactly zero
// where factors[p] is zero.
void SoftmaxPixels(const float* logits, int64_t pixels, int64_t classes, const float* factors,
                   float* gradients, float* log_sums);

// The first class of the largest logit of each pixel.
void ArgmaxPixels(const float* logits, int64_t pixels, int64_t classes, uint16_t* largest);

}  // namespace shardmill
