// Images per second of the full training step (forward, loss, backward, Adam) of a network, where
// its time goes, and how it compares with the sum of the oneDNN kernels timed alone in the same
// run.
//
//   bazel run -c opt //tests/bench:train_step_bench -- \
//     [MODEL WIDTH BATCHxHEIGHTxWIDTH [STEPS [PRECISION]]]
//
// MODEL is unet, classifier or resnet18; without arguments U-Net of width 8 at 4x352x480. PRECISION
// is that of the step, f32 or bf16; the kernels alone are f32.
// The number of threads is OMP_NUM_THREADS. Times are the fastest of several, which other work on
// the machine disturbs least; with one thread they are of the processor, not of the clock on the
// wall, so that other work hardly counts. With more threads, `chrt -r 10` before the command keeps
// other work away (root).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/bench_clock.h"
#include "tests/bench/onednn_kernel_times.h"
#include "tests/trainer/random_tensor.h"
#include "trainer/graph/graph.h"
#include "trainer/models/model_catalog.h"
#include "trainer/ops/onednn/onednn_backend.h"
#include "trainer/optimization/optimizer.h"

namespace shardmill {
namespace {

constexpr int64_t kClasses = 12;

// Graph, optimizer and one batch.
struct Training {
  std::unique_ptr<OpTable> ops;
  std::unique_ptr<Graph> graph;
  std::vector<uint8_t> pixels, labels;
  ImageBatch images;
  LabelBatch targets;
};

Result<Training> MakeTraining(const ModelSpec& model, const Shape& shape,
                              ConvolutionPrecision precision) {
  Training training;
  ASSIGN_OR_RETURN(training.ops, CreateOnednnOps(precision));
  GraphOptions options;
  options.image_mean = {105, 108, 110};
  options.image_deviation = {78, 79, 79};
  ASSIGN_OR_RETURN(training.graph, Graph::Create(model, training.ops.get(), options));
  LossOptions loss;
  loss.ignore = kClasses - 1;
  RETURN_IF_ERROR(training.graph->SetLoss(loss));
  training.pixels = RandomIntegers<uint8_t>(shape.Elements(), 256, 1, "images");
  training.images = {training.pixels.data(), ImageType::kU8, shape};
  RETURN_IF_ERROR(training.graph->Forward(training.images, Phase::kTraining));
  const Shape logits = training.graph->logits_shape();
  training.labels = RandomIntegers<uint8_t>(logits.Pixels(), kClasses, 1, "labels");
  training.targets = {
      training.labels.data(), LabelType::kIndexU8, logits.n, logits.h, logits.w, nullptr};
  return training;
}

Result<Optimizer> MakeOptimizer(const ParameterStore& parameters) {
  OptimizerOptions options;
  options.kind = OptimizerKind::kAdam;
  return Optimizer::Create(options, {{0, parameters.parameter_elements(), false}});
}

struct StepTime {
  double step = 0;
  double optimizer = 0;
};

Result<StepTime> RunStep(Training* training, Optimizer* optimizer) {
  StepTime time;
  const double start = BenchMilliseconds();
  RETURN_IF_ERROR(training->graph->Forward(training->images, Phase::kTraining));
  RETURN_IF_ERROR(training->graph->Loss(training->targets).status());
  RETURN_IF_ERROR(training->graph->Backward());
  const double update = BenchMilliseconds();
  ParameterStore& parameters = training->graph->parameters();
  optimizer->Step(parameters.values(), parameters.gradients(), 1e-3);
  time.optimizer = BenchMilliseconds() - update;
  time.step = BenchMilliseconds() - start;
  return time;
}

std::string Group(const std::string& layer, const std::string& direction) {
  const std::string role = layer.substr(layer.rfind('/') + 1);
  const std::string name = role.substr(0, 4) == "norm" ? "batch norm + ReLU"
                           : role == "pool"            ? "max pooling"
                           : role == "concat"          ? "concatenation"
                           : role == "upsample"        ? "transposed convolution"
                           : role == "sum"             ? "sum + ReLU"
                           : role == "average"         ? "global average pooling"
                           : role == "images"          ? "normalise images"
                           : role == "loss"            ? "softmax cross-entropy"
                                                       : "convolution";
  return name + ", " + (direction == "forward" ? "forward" : "backward");
}

void PrintTable(const std::vector<LayerTime>& times, double optimizer_ms,
                const std::vector<KernelTime>& kernels) {
  std::map<std::string, std::pair<double, double>> rows;
  double layers = optimizer_ms, alone = 0;
  for (const LayerTime& time : times) {
    const double ms = time.fastest_nanoseconds / 1e6;
    rows[Group(time.layer, time.direction)].first += ms;
    layers += ms;
  }
  rows["optimizer"].first = optimizer_ms;
  for (const KernelTime& kernel : kernels) {
    rows[Group(kernel.layer, kernel.direction)].second += kernel.milliseconds;
    alone += kernel.milliseconds;
  }
  std::printf("  %-34s %10s %14s\n", "", "in step", "oneDNN alone");
  for (const auto& [name, row] : rows) {
    if (row.second > 0) {
      std::printf("  %-34s %7.2f ms %11.2f ms\n", name.c_str(), row.first, row.second);
    } else {
      std::printf("  %-34s %7.2f ms %14s\n", name.c_str(), row.first, "-");
    }
  }
  std::printf("  %-34s %7.2f ms %11.2f ms = %.0f %%\n", "sum", layers, alone, 100 * alone / layers);
}

struct BenchOptions {
  int64_t width = 8;
  Shape shape = {4, 352, 480, 3};
  int steps = 10;
  ConvolutionPrecision precision = ConvolutionPrecision::kF32;
};

Status Measure(const ModelEntry& entry, const BenchOptions& options) {
  const Shape& shape = options.shape;
  const int64_t width = options.width;
  const int steps = options.steps;
  ASSIGN_OR_RETURN(const ModelSpec model, BuildModel(entry, {shape.c, kClasses, width, 0}));
  ASSIGN_OR_RETURN(Training training, MakeTraining(model, shape, options.precision));
  ASSIGN_OR_RETURN(Optimizer optimizer, MakeOptimizer(training.graph->parameters()));
  for (int i = 0; i < 2; ++i) RETURN_IF_ERROR(RunStep(&training, &optimizer).status());
  std::vector<double> step_times;
  for (int i = 0; i < steps; ++i) {
    ASSIGN_OR_RETURN(const StepTime time, RunStep(&training, &optimizer));
    step_times.push_back(time.step);
  }
  ASSIGN_OR_RETURN(const std::vector<KernelTime> kernels, TimeOnednnKernels(model, shape, steps));
  double optimizer_ms = 1e30;
  training.graph->set_profiling(true);
  for (int i = 0; i < steps; ++i) {
    ASSIGN_OR_RETURN(const StepTime time, RunStep(&training, &optimizer));
    optimizer_ms = std::min(optimizer_ms, time.optimizer);
  }
  std::sort(step_times.begin(), step_times.end());
  const double fastest = step_times.front(), median = step_times[step_times.size() / 2];
  double alone = 0;
  for (const KernelTime& kernel : kernels) alone += kernel.milliseconds;
  std::printf("%s width %ld, %s\n", entry.name.c_str(), static_cast<long>(width),
              ShapeText(shape).c_str());
  std::printf("  step: fastest %.1f ms = %.1f images/s, median %.1f ms = %.1f images/s\n", fastest,
              shape.n * 1e3 / fastest, median, shape.n * 1e3 / median);
  std::printf("  oneDNN kernels alone: %.1f ms = %.1f images/s; fastest step reaches %.0f %%\n",
              alone, shape.n * 1e3 / alone, 100 * alone / fastest);
  std::printf("  arena: %.0f MiB\n", training.graph->arena_bytes() / 1048576.0);
  PrintTable(training.graph->layer_times(), optimizer_ms, kernels);
  return OkStatus();
}

// "4x352x480"; false when it is something else.
bool ParseShape(const char* text, Shape* shape) {
  char end = 0;
  long n = 0, h = 0, w = 0;
  if (std::sscanf(text, "%ldx%ldx%ld%c", &n, &h, &w, &end) != 3) return false;
  *shape = {n, h, w, 3};
  return n > 0 && h > 0 && w > 0;
}

int Main(int argc, char** argv) {
  const ModelEntry* entry = FindModel(argc > 1 ? argv[1] : "unet");
  BenchOptions options;
  if (argc > 2) options.width = std::atoi(argv[2]);
  if (argc > 4) options.steps = std::max(1, std::atoi(argv[4]));
  if (argc > 5 && std::string(argv[5]) == "bf16") options.precision = ConvolutionPrecision::kBf16;
  if (entry == nullptr || (argc > 3 && !ParseShape(argv[3], &options.shape))) {
    std::fprintf(stderr, "usage: %s [MODEL WIDTH BATCHxHEIGHTxWIDTH [STEPS [f32|bf16]]]\n",
                 argv[0]);
    return 2;
  }
  const Status status = Measure(*entry, options);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return ExitCode(status);
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) { return shardmill::Main(argc, argv); }
