// Runs what a step does beside the op table on a backend, with all memory on that of the backend.
#pragma once

#include <vector>

#include "tests/trainer/cuda/suite_tensors.h"
#include "trainer/cuda/ops/channel_ops.h"
#include "trainer/cuda/ops/step_ops.h"

namespace shardmill {

template <typename Backend>
class StepSuite {
 public:
  explicit StepSuite(Backend* backend) : backend_(*backend), steps_(backend), tensors_(backend) {}

  // The inputs are always the same.
  std::vector<SuiteResult> Run() {
    RunNormAndAverage();
    RunPasses();
    for (const UpdateRule rule :
         {UpdateRule::kPlainSgd, UpdateRule::kMomentumSgd, UpdateRule::kNesterovSgd,
          UpdateRule::kAdam, UpdateRule::kRmsProp}) {
      RunUpdate(rule);
    }
    RunConfusion(LabelType::kIndexU8, tensors_.template Integers<uint8_t>(kPixels, 6));
    RunConfusion(LabelType::kIndexU16, tensors_.template Integers<uint16_t>(kPixels, 6));
    RunInput();
    RunBias();
    return tensors_.results();
  }

 private:
  static constexpr int64_t kElements = 5003;
  static constexpr int64_t kPixels = 1009;

  StepNumbers* Numbers() {
    auto* step = static_cast<StepNumbers*>(tensors_.New(sizeof(StepNumbers)));
    StepNumbers numbers;
    numbers.plain = {0.01f, 0.5f, 0, 1, 0.9f, 0.1f, 0.99f, 0.01f, 1e-8f, 1.5f};
    numbers.decayed = {0.01f, 0.5f, 0.1f, 0.9f, 0.9f, 0.1f, 0.99f, 0.01f, 1e-8f, 1.5f};
    numbers.clip_norm = 3;
    numbers.average_share = 0.125f;
    Succeed(tensors_.ops().CopyFromHost(tensors_.stream(), &numbers, sizeof(numbers), step));
    Succeed(tensors_.stream().Synchronize());
    return step;
  }

  void RunNormAndAverage() {
    StepNumbers* step = Numbers();
    const float* gradients = tensors_.Vector("gradients", kElements);
    auto* norm = static_cast<double*>(tensors_.New(8));
    void* workspace = tensors_.Workspace(steps_.NormWorkspaceBytes(kElements));
    Succeed(steps_.GradientNorm(tensors_.stream(), kElements, gradients, norm, step, workspace));
    tensors_.KeepDoubles("norm", norm, 1);
    tensors_.KeepVector("gradient scale", &step->plain.gradient_scale, 1);
    float* average = tensors_.Vector("average", kElements);
    Succeed(steps_.MoveAverage(tensors_.stream(), kElements, step, gradients, average));
    tensors_.KeepVector("average", average, kElements);
    auto* narrow = static_cast<Bfloat16*>(tensors_.New(2 * kElements));
    Succeed(steps_.Narrow(tensors_.stream(), kElements, average, narrow));
    tensors_.KeepClasses("bits of the average", narrow, kElements);
  }

  // Two passes over a batch, of an odd number of elements.
  void RunPasses() {
    const float* values = tensors_.Vector("values", kElements);
    float* sums = tensors_.NewVector(kElements);
    auto* numbers = static_cast<double*>(tensors_.New(4 * sizeof(double)));
    const double host_numbers[] = {3.5, 0.25, 7, 0.125};
    Succeed(tensors_.ops().CopyFromHost(tensors_.stream(), host_numbers, sizeof(host_numbers),
                                        numbers));
    Succeed(tensors_.stream().Synchronize());
    Succeed(steps_.AddUp(tensors_.stream(), kElements, true, values, sums));
    Succeed(steps_.AddUp(tensors_.stream(), kElements - 3, false, values + 1, sums + 2));
    Succeed(steps_.AddNumbers(tensors_.stream(), 2, numbers + 2, numbers));
    Succeed(steps_.Divide(tensors_.stream(), kElements, numbers, sums));
    tensors_.KeepVector("sum of two passes", sums, kElements);
    tensors_.KeepDoubles("sums of numbers", numbers, 2);
  }

  void RunUpdate(UpdateRule rule) {
    const UpdateRange host_ranges[] = {{1001, true}, {1016, false}, {kElements, true}};
    auto* ranges = static_cast<UpdateRange*>(tensors_.New(sizeof(host_ranges)));
    Succeed(
        tensors_.ops().CopyFromHost(tensors_.stream(), host_ranges, sizeof(host_ranges), ranges));
    Succeed(tensors_.stream().Synchronize());
    const bool has_first = rule != UpdateRule::kPlainSgd, has_second = rule == UpdateRule::kAdam;
    UpdateBuffers buffers;
    buffers.elements = kElements;
    buffers.range_count = 3;
    buffers.ranges = ranges;
    buffers.parameters = tensors_.Vector("parameters", kElements);
    buffers.gradients = tensors_.Vector("gradients", kElements);
    buffers.first = has_first ? tensors_.PositiveVector("first", kElements) : nullptr;
    buffers.second = has_second ? tensors_.PositiveVector("second", kElements) : nullptr;
    buffers.narrow = static_cast<Bfloat16*>(tensors_.New(2 * kElements));
    Succeed(steps_.Update(tensors_.stream(), rule, buffers, Numbers()));
    tensors_.KeepVector("parameters", buffers.parameters, kElements);
    tensors_.KeepClasses("bits of the parameters", buffers.narrow, kElements);
    if (has_first) tensors_.KeepVector("first moment", buffers.first, kElements);
    if (has_second) tensors_.KeepVector("second moment", buffers.second, kElements);
  }

  // Labels of class 4 are to be ignored, class 5 is none.
  void RunConfusion(LabelType type, const void* labels) {
    const ConfusionCounts counts = {
        5, static_cast<uint64_t*>(tensors_.New(8 * ConfusionCounts::Elements(5)))};
    const void* predicted = type == LabelType::kIndexU8
                                ? static_cast<const void*>(tensors_.Same(kPixels, uint8_t{3}))
                                : tensors_.Same(kPixels, uint16_t{2});
    Succeed(
        steps_.CountConfusion(tensors_.stream(), type, kPixels, 7, 4, labels, predicted, counts));
    tensors_.KeepClasses("16-bit parts of the counts", counts.numbers,
                         4 * ConfusionCounts::Elements(5));
  }

  void RunInput() {
    InputRow row;
    row.top = -3;
    row.left = 2;
    row.flip_horizontal = true;
    row.changes_colors = true;
    row.colors.contrast_permille = 700;
    InputCall call;
    call.source = {2, 9, 13, 3};
    call.output = {2, 11, 12, 8};
    call.images = tensors_.template Integers<uint8_t>(call.source.Elements(), 256);
    auto* rows = static_cast<InputRow*>(tensors_.New(2 * sizeof(row)));
    Succeed(tensors_.ops().CopyFromHost(tensors_.stream(), &row, sizeof(row), rows + 1));
    const InputRow same;
    Succeed(tensors_.ops().CopyFromHost(tensors_.stream(), &same, sizeof(same), rows));
    Succeed(tensors_.stream().Synchronize());
    call.rows = rows;
    call.sums = static_cast<uint64_t*>(tensors_.New(2 * 8));
    call.outside = 128;
    call.mean = tensors_.Vector("mean", 3);
    call.inverse_deviation = tensors_.PositiveVector("factor", 3);
    call.labels.labels = tensors_.template Integers<uint8_t>(call.source.Pixels(), 4);
    call.labels.classes = 4;
    call.labels.outside = 255;
    call.labels.moved = tensors_.New(call.output.Pixels() + 1);
    call.labels.one_hot = tensors_.NewVector(4 * call.output.Pixels());
    call.y = tensors_.Output(call.output.Elements());
    Succeed(steps_.PrepareInput(tensors_.stream(), call));
    tensors_.Keep("input", call.y, call.output.Elements());
    tensors_.KeepClasses("pairs of labels", call.labels.moved, call.output.Pixels() / 2);
    tensors_.KeepVector("one-hot", call.labels.one_hot, 4 * call.output.Pixels());
  }

  // What convolutions with a bias add to their library.
  void RunBias() {
    const Shape shape = {2, 19, 17, 11};
    void* y = tensors_.Elements("y", shape.Elements());
    const float* bias = tensors_.Vector("bias", shape.c);
    float* sums = tensors_.NewVector(shape.c);
    Succeed(WithKernelType(backend_.element_type(), [&](auto zero) {
      using T = decltype(zero);
      void* workspace = tensors_.Workspace(FoldBytes<VectorFold, T>(shape));
      RETURN_IF_ERROR(SumChannels(backend_, tensors_.stream(), shape, As<T>(y), sums, workspace));
      return AddBias(backend_, tensors_.stream(), shape, Activation::kRelu6, bias,
                     static_cast<T*>(y));
    }));
    tensors_.KeepVector("sums of channels", sums, shape.c);
    tensors_.Keep("with bias", y, shape.Elements());
  }

  Backend& backend_;
  StepOps<Backend> steps_;
  SuiteTensors tensors_;
};

}  // namespace shardmill
