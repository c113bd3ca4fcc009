#include "trainer/cuda/step/rank_norm_sums.h"

namespace shardmill {
namespace {

MemorySpan Vector(const float* vector, int64_t channels) {
  return {vector, channels * static_cast<int64_t>(sizeof(float))};
}

MemorySpan Scratch(const double* scratch, int64_t channels) {
  return {scratch, DeviceNormSums::ScratchBytes(channels)};
}

}  // namespace

template <typename Body>
Status RankNormSums::Launch(const OperationNote& note, const Body& body) {
  return ops_.runtime()->Launch(ops_.HandleOf(stream_), note, [&](StreamHandle) { return body(); });
}

Status RankNormSums::Sum(double* values, int64_t channels, std::string_view name) {
  ASSIGN_OR_RETURN(const StartedCall call,
                   ranks_.StartSum(values, 2 * channels, SumType::kF64, name));
  return ranks_.Wait(call);
}

Result<int64_t> RankNormSums::SumStatistics(int64_t channels, int64_t pixels, float* mean,
                                            float* variance, double* scratch,
                                            std::string_view name) {
  const MemorySpan sums = Scratch(scratch, channels);
  const MemorySpan moments[] = {Vector(mean, channels), Vector(variance, channels)};
  RETURN_IF_ERROR(Launch({"pack statistics", {moments[0], moments[1]}, {sums}}, [&] {
    return ops_.PackMoments(stream_, channels, pixels, mean, variance, scratch);
  }));
  RETURN_IF_ERROR(Sum(scratch, channels, name));
  const int64_t all = pixels / rows_ * global_rows_;
  RETURN_IF_ERROR(Launch({"unpack statistics", {sums}, {moments[0], moments[1]}}, [&] {
    return ops_.UnpackMoments(stream_, channels, all, scratch, mean, variance);
  }));
  return all;
}

Status RankNormSums::SumGradients(int64_t channels, const float* dscale, const float* dshift,
                                  float* shared_dscale, float* shared_dshift, double* scratch,
                                  std::string_view name) {
  const MemorySpan sums = Scratch(scratch, channels);
  RETURN_IF_ERROR(
      Launch({"pack gradients", {Vector(dscale, channels), Vector(dshift, channels)}, {sums}},
             [&] { return ops_.PackVectors(stream_, channels, dscale, dshift, scratch); }));
  RETURN_IF_ERROR(Sum(scratch, channels, name));
  return Launch(
      {"unpack gradients",
       {sums},
       {Vector(shared_dscale, channels), Vector(shared_dshift, channels)}},
      [&] { return ops_.UnpackVectors(stream_, channels, scratch, shared_dscale, shared_dshift); });
}

}  // namespace shardmill
