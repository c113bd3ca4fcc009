// Trains each model of the catalog for a few steps on random images and writes its checkpoint,
// the images and the logits of the evaluation: what the export is judged by.
//
//   write_trained FOLDER
//
// prints a line per model: its name, width and depth. The files are FOLDER/NAME.ckpt and
// FOLDER/NAME.logits.safetensors (images as the network sees them, and logits; NHWC).
#include <cstdio>
#include <string>
#include <vector>

#include "proto/checkpoint.pb.h"
#include "tests/trainer/small_training.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/export/safetensors.h"
#include "trainer/models/model_catalog.h"
#include "trainer/training/network.h"

namespace shardmill {
namespace {

struct TrainedModel {
  const char* name;
  int64_t width, depth;
  Shape images;
};

// Sizes that do not halve evenly, where the model takes them.
constexpr TrainedModel kModels[] = {
    {"unet", 4, 3, {2, 37, 42, 3}},       {"encoder_decoder", 4, 0, {2, 37, 42, 3}},
    {"enet", 8, 0, {2, 37, 42, 3}},       {"fc_densenet56", 4, 0, {2, 37, 42, 3}},
    {"classifier", 4, 3, {3, 37, 42, 3}}, {"resnet18", 4, 0, {3, 65, 70, 3}},
    {"tdnn", 8, 0, {3, 1, 40, 3}},
};

LabelBatch LabelsFor(const Samples& samples, const Shape& logits) {
  return {samples.classes.data(), LabelType::kIndexU8, logits.n, logits.h, logits.w, nullptr};
}

Status Train(const Samples& samples, Graph* graph) {
  for (int step = 0; step < 3; ++step) {
    RETURN_IF_ERROR(graph->Forward(samples.images(), Phase::kTraining));
    RETURN_IF_ERROR(graph->Loss(LabelsFor(samples, graph->logits_shape())).status());
    RETURN_IF_ERROR(graph->Backward());
    PlainStep(graph, 0.05f);
  }
  return graph->Forward(samples.images(), Phase::kEvaluation);
}

Status WriteLogits(const std::string& path, const Samples& samples, Graph* graph) {
  const Shape& shape = graph->logits_shape();
  std::vector<float> logits(shape.Elements());
  RETURN_IF_ERROR(graph->ReadLogits(logits.data()));
  return WriteSafetensors(path,
                          {{"images",
                            "U8",
                            {samples.shape.n, samples.shape.h, samples.shape.w, samples.shape.c},
                            samples.pixels.data(),
                            samples.pixels.size()},
                           {"logits",
                            "F32",
                            {shape.n, shape.h, shape.w, shape.c},
                            logits.data(),
                            logits.size() * sizeof(float)}},
                          {});
}

Status WriteOne(const TrainedModel& model, const std::string& stem) {
  const auto ops = CpuOps();
  ASSIGN_OR_RETURN(
      const ModelSpec spec,
      BuildModel(*FindModel(model.name), {model.images.c, kClasses, model.width, model.depth}));
  ASSIGN_OR_RETURN(const auto graph, Graph::Create(spec, ops.get(), PixelOptions()));
  const Samples samples(model.images);
  RETURN_IF_ERROR(Train(samples, graph.get()));
  RETURN_IF_ERROR(WriteLogits(stem + ".logits.safetensors", samples, graph.get()));
  proto::Checkpoint description;
  *description.mutable_model() = DescribeModel(*graph);
  for (const float mean : PixelOptions().image_mean) {
    description.mutable_trained_on()->add_image_mean(mean);
  }
  for (const float deviation : PixelOptions().image_deviation) {
    description.mutable_trained_on()->add_image_deviation(deviation);
  }
  return WriteCheckpoint(stem + ".ckpt", std::move(description), NetworkTensors(graph.get()));
}

int Main(const std::string& folder) {
  for (const TrainedModel& model : kModels) {
    const Status status = WriteOne(model, folder + "/" + model.name);
    if (!status.ok()) {
      std::fprintf(stderr, "%s: %s\n", model.name, status.ToString().c_str());
      return ExitCode(status);
    }
    std::printf("%s %ld %ld\n", model.name, static_cast<long>(model.width),
                static_cast<long>(model.depth));
  }
  return 0;
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) { return argc == 2 ? shardmill::Main(argv[1]) : 2; }
