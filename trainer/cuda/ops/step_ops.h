// What a training step does on the device beside the op table: input, confusion matrix, norm of
// the gradient, update, moving average. All of it is launches on a stream, with all numbers that
// change from step to step in the memory of the device.
#pragma once

#include "trainer/cuda/kernels/confusion.h"
#include "trainer/cuda/kernels/input.h"
#include "trainer/cuda/kernels/update.h"
#include "trainer/cuda/ops/fold_slices.h"

namespace shardmill {

// Pointers are addresses on the device.
struct InputCall {
  Shape source;  // as stored
  Shape output;  // of the crop; channels behind those of the source become 0
  ImageType type = ImageType::kU8;
  const void* images = nullptr;
  const InputRow* rows = nullptr;  // source.n of them; null: nothing is moved or changed
  uint64_t* sums = nullptr;        // room for source.n; may be null where rows are
  float outside = 0;               // what pixels over the edges hold, before they are normalised
  const float* mean = nullptr;     // per channel of the source
  const float* inverse_deviation = nullptr;
  InputLabels labels;
  void* y = nullptr;
};

template <typename Backend>
class StepOps {
 public:
  // The backend must outlive it.
  explicit StepOps(Backend* backend) : backend_(*backend) {}

  Status PrepareInput(Stream& stream, const InputCall& call) {
    const int64_t images = call.source.n;
    if (call.rows != nullptr) {
      RETURN_IF_ERROR(
          backend_.SetZero(stream, images * static_cast<int64_t>(sizeof(uint64_t)), call.sums));
      const WindowSumsKernel sums = {call.source, call.output, call.type,
                                     call.images, call.rows,   call.sums};
      RETURN_IF_ERROR(backend_.Launch(stream, images * call.source.h, sums));
    }
    return WithKernelType(backend_.element_type(), [&](auto zero) {
      using T = decltype(zero);
      const Places<T> places(call.output);
      const InputKernel<T> kernel = {call.source,  places,       call.type,
                                     call.images,  call.rows,    call.sums,
                                     call.outside, call.mean,    call.inverse_deviation,
                                     call.labels,  As<T>(call.y)};
      return backend_.Launch(stream, places.Count(), kernel);
    });
  }

  // Adds `pixels` pairs to `counts`; both are of `type`, an index type. `first_pixel` were there
  // before.
  Status CountConfusion(Stream& stream, LabelType type, int64_t pixels, int64_t first_pixel,
                        int64_t ignore, const void* labels, const void* predicted,
                        const ConfusionCounts& counts) {
    const auto launch = [&](auto zero) {
      using ClassId = decltype(zero);
      const ConfusionKernel<ClassId> kernel = {
          pixels, first_pixel, ignore, As<ClassId>(labels), As<ClassId>(predicted), counts};
      return backend_.Launch(stream, CeilDivide(pixels, kernel.kRun), kernel);
    };
    SHARDMILL_CHECK(type != LabelType::kOneHotF32);
    return type == LabelType::kIndexU8 ? launch(uint8_t{}) : launch(uint16_t{});
  }

  // The workspace of GradientNorm.
  static int64_t NormWorkspaceBytes(int64_t elements) {
    WorkspaceParts measure(nullptr);
    NormFold(NormSlices(elements), 1, &measure);
    return measure.bytes();
  }

  // Stores the length of the gradient, and sets the scale of the gradient in `step`: 1, or what
  // makes it as long as is allowed. Of a guarded step that is not finite, and of all after it,
  // Update and MoveAverage change nothing.
  Status GradientNorm(Stream& stream, int64_t elements, const float* gradients, double* norm,
                      StepNumbers* step, void* workspace, const StepGuard& guard = {}) {
    WorkspaceParts parts(workspace);
    const NormFold fold(NormSlices(elements), 1, &parts);
    const SquaresKernel kernel = {elements, fold.slices, gradients, fold.items};
    RETURN_IF_ERROR(backend_.Launch(stream, fold.slices, kernel));
    return fold.Run(backend_, stream, FinishNorm{norm, step, guard});
  }

  // One step of the optimizer over all parameters, in one launch.
  Status Update(Stream& stream, UpdateRule rule, const UpdateBuffers& buffers,
                const StepNumbers* step) {
    switch (rule) {
      case UpdateRule::kPlainSgd:
        return LaunchUpdate<UpdateRule::kPlainSgd>(stream, buffers, step);
      case UpdateRule::kMomentumSgd:
        return LaunchUpdate<UpdateRule::kMomentumSgd>(stream, buffers, step);
      case UpdateRule::kNesterovSgd:
        return LaunchUpdate<UpdateRule::kNesterovSgd>(stream, buffers, step);
      case UpdateRule::kAdam:
        return LaunchUpdate<UpdateRule::kAdam>(stream, buffers, step);
      case UpdateRule::kRmsProp:
        return LaunchUpdate<UpdateRule::kRmsProp>(stream, buffers, step);
    }
    return InternalError("there is no such optimizer rule");
  }

  Status MoveAverage(Stream& stream, int64_t elements, const StepNumbers* step, const float* values,
                     float* average) {
    return backend_.Launch(stream, GroupsOf<float>(elements),
                           AverageKernel{elements, step, values, average});
  }

  // Of several passes over one batch: sums = values of the first, sums += values of the others.
  Status AddUp(Stream& stream, int64_t elements, bool is_first, const float* values, float* sums) {
    return backend_.Launch(stream, GroupsOf<float>(elements),
                           AddUpKernel{elements, is_first, values, sums});
  }
  // sums += values
  Status AddNumbers(Stream& stream, int64_t count, const double* values, double* sums) {
    return backend_.Launch(stream, count, AddNumbersKernel{values, sums});
  }
  // values /= *weight; 0 where the weight is.
  Status Divide(Stream& stream, int64_t elements, const double* weight, float* values) {
    return backend_.Launch(stream, GroupsOf<float>(elements),
                           DivideKernel{elements, weight, values});
  }

  // Copies weights to bf16.
  Status Narrow(Stream& stream, int64_t elements, const float* values, Bfloat16* narrow) {
    return backend_.Launch(stream, GroupsOf<Bfloat16>(elements),
                           NarrowKernel{elements, values, narrow});
  }

 private:
  using NormFold = SliceFold<double, DoubleSum>;

  static int64_t NormSlices(int64_t elements) {
    constexpr int64_t kGroupsEach = 8;
    return SlicesFor(GroupsOf<float>(elements), 1, kGroupsEach);
  }

  template <UpdateRule rule>
  Status LaunchUpdate(Stream& stream, const UpdateBuffers& buffers, const StepNumbers* step) {
    return backend_.Launch(stream, GroupsOf<float>(buffers.elements),
                           UpdateKernel<rule>{buffers, step});
  }

  Backend& backend_;
};

}  // namespace shardmill
