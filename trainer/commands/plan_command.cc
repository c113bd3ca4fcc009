#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "reader/base/text_file.h"
#include "reader/console/json_writer.h"
#include "reader/console/option_types.h"
#include "reader/console/terminal.h"
#include "reader/console/text_table.h"
#include "reader/console/units.h"
#include "trainer/comm/run_job.h"
#include "trainer/commands/model_options.h"
#include "trainer/commands/train_command.h"
#include "trainer/cuda/plugin_library.h"
#include "trainer/graph/model_convolutions.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxDescriptionBytes = 1 << 20;
constexpr ConvolutionPass kPasses[] = {ConvolutionPass::kForward, ConvolutionPass::kBackwardData,
                                       ConvolutionPass::kBackwardWeights};

struct PlanOptions {
  ModelOptions model;
  std::string device_file;
  std::string cache;
  uint64_t batch = 8;
  ImageSize images = {352, 480};
  std::vector<std::string> math = {"bf16", "tf32", "f32"};
  bool deterministic = false;
  bool json = false;
};

std::vector<MathMode> ModesOf(const std::vector<std::string>& names) {
  std::vector<MathMode> modes;
  for (const MathMode mode : {MathMode::kBf16, MathMode::kTf32, MathMode::kF32}) {
    for (const std::string& name : names) {
      if (name != MathModeName(mode)) continue;
      modes.push_back(mode);
      break;
    }
  }
  return modes;
}

std::string BytesText(int64_t bytes) { return FormatBytes(static_cast<uint64_t>(bytes)); }

// What forward ends in, and how much of that its plan does.
std::string EndingText(const ConvolutionShape& shape, const PlanRow& row) {
  const bool activates = shape.activation != Activation::kNone;
  if (!shape.bias && !activates) return "none";
  const std::string what = !activates ? "bias" : shape.bias ? "bias, ReLU" : "ReLU";
  const bool whole = row.adds_bias == shape.bias && row.activates == activates;
  const bool part = row.adds_bias || row.activates;
  return what + (whole ? " fused" : part ? " fused in part" : " apart");
}

const char* PhaseName(const ConvolutionShape& shape) {
  return shape.forward_only ? "evaluation" : "training";
}

// What a row of the report is about.
struct PlannedLayer {
  ModelConvolution convolution;
  MathMode math;
};

// Of one pass: its workspace, if it has a plan or needs one.
std::string PassText(const ConvolutionShape& shape, const PlanRow& row, int pass) {
  if (shape.forward_only && pass > 0) return "";
  if (!row.status.ok()) return "no plan";
  const bool is_data = pass == static_cast<int>(ConvolutionPass::kBackwardData);
  return is_data && shape.zero_channels > 0 ? "not needed" : BytesText(row.workspace_bytes[pass]);
}

void PrintTable(const std::vector<PlannedLayer>& layers, const PlanReport& report) {
  using Align = TextTable::Align;
  TextTable table({{"layer", Align::kLeft},
                   {"math", Align::kLeft},
                   {"phase", Align::kLeft},
                   {"end of forward", Align::kLeft},
                   {"forward", Align::kRight},
                   {"data gradient", Align::kRight},
                   {"weight gradient", Align::kRight}});
  bool rounds_gradients = false;
  for (size_t i = 0; i < layers.size(); ++i) {
    const PlanRow& row = report.rows[i];
    const ConvolutionShape& shape = layers[i].convolution.shape;
    std::vector<std::string> cells = {EscapeControl(layers[i].convolution.layer),
                                      MathModeName(layers[i].math), PhaseName(shape),
                                      EndingText(shape, row)};
    for (int pass = 0; pass < 3; ++pass) cells.push_back(PassText(shape, row, pass));
    table.AddRow(std::move(cells));
    rounds_gradients = rounds_gradients || row.rounds_gradient;
  }
  std::printf("%s", table.ToString(0, WantsColor(stdout)).c_str());
  if (rounds_gradients) {
    std::printf(
        "bf16: weight gradients are rounded to bf16 once: cuDNN has no plan for f32 ones\n");
  }
  std::printf("%s, %s: %s plans built, %s from the cache; the table shows their workspaces\n",
              EscapeControl(report.device).c_str(), report.library.c_str(),
              FormatCount(static_cast<uint64_t>(report.numbers.built)).c_str(),
              FormatCount(static_cast<uint64_t>(report.numbers.loaded)).c_str());
}

void PrintRow(const PlannedLayer& layer, const PlanRow& row, JsonWriter* json) {
  const ConvolutionShape& shape = layer.convolution.shape;
  json->BeginObject();
  json->Key("layer").String(layer.convolution.layer);
  json->Key("math").String(MathModeName(layer.math));
  json->Key("phase").String(PhaseName(shape));
  json->Key("input_channels").Number(shape.input.c);
  json->Key("padding_channels").Number(shape.zero_channels);
  json->Key("bias").Bool(shape.bias);
  json->Key("bias_fused").Bool(row.adds_bias);
  json->Key("activation").Bool(shape.activation != Activation::kNone);
  json->Key("activation_fused").Bool(row.activates);
  json->Key("weight_gradient_rounded").Bool(row.rounds_gradient);
  json->Key("found").Bool(row.status.ok());
  json->Key("workspace_bytes").BeginArray();
  for (int pass = 0; pass < (shape.forward_only ? 1 : 3); ++pass) {
    json->Number(row.workspace_bytes[pass]);
  }
  json->EndArray();
  json->EndObject();
}

void PrintJson(const std::vector<PlannedLayer>& layers, const PlanReport& report) {
  JsonWriter json;
  json.BeginObject();
  json.Key("device").String(report.device);
  json.Key("library").String(report.library);
  json.Key("built").Number(report.numbers.built);
  json.Key("loaded").Number(report.numbers.loaded);
  json.Key("passes").BeginArray();
  for (const ConvolutionPass pass : kPasses) json.String(PassName(pass));
  json.EndArray();
  json.Key("convolutions").BeginArray();
  for (size_t i = 0; i < layers.size(); ++i) PrintRow(layers[i], report.rows[i], &json);
  json.EndArray();
  json.EndObject();
  std::printf("%s", json.Take().c_str());
}

// Of a phase, layers in order, for each the modes in order. How images are padded depends on the
// mode.
Status AddLayers(const PlanOptions& options, const ModelSpec& spec, Phase phase,
                 std::vector<PlannedLayer>* layers) {
  const Shape images = {static_cast<int64_t>(options.batch), options.images.height,
                        options.images.width, spec.input_channels};
  const std::vector<MathMode> modes = ModesOf(options.math);
  std::vector<std::vector<ModelConvolution>> of_modes;
  for (const MathMode mode : modes) {
    ASSIGN_OR_RETURN(std::vector<ModelConvolution> convolutions,
                     ConvolutionsOf(spec, images, phase, ImageChannelMultiple(mode)));
    of_modes.push_back(std::move(convolutions));
  }
  for (size_t layer = 0; !modes.empty() && layer < of_modes.front().size(); ++layer) {
    for (size_t mode = 0; mode < modes.size(); ++mode) {
      layers->push_back({of_modes[mode][layer], modes[mode]});
    }
  }
  return OkStatus();
}

Result<PlanRequest> RequestOf(const PlanOptions& options, const std::vector<PlannedLayer>& layers) {
  PlanRequest request;
  ASSIGN_OR_RETURN(request.device_json, ReadTextFile(options.device_file, kMaxDescriptionBytes));
  request.device_file = options.device_file;
  request.cache_path = options.cache;
  for (const PlannedLayer& layer : layers) {
    request.convolutions.push_back({layer.convolution.shape, layer.math});
  }
  request.deterministic = options.deterministic;
  return request;
}

Result<int> RunPlan(const PlanOptions& options) {
  ASSIGN_OR_RETURN(const ModelSpec spec, SpecOf(options.model));
  std::vector<PlannedLayer> layers;
  for (const Phase phase : {Phase::kTraining, Phase::kEvaluation}) {
    RETURN_IF_ERROR(AddLayers(options, spec, phase, &layers));
  }
  ASSIGN_OR_RETURN(const PlanRequest request, RequestOf(options, layers));
  ASSIGN_OR_RETURN(const CudaPlugin* plugin, OpenCudaPlugin());
  ASSIGN_OR_RETURN(const PlanReport report, plugin->prepare_plans(request));
  if (!report.note.empty()) std::fprintf(stderr, "note: %s\n", report.note.c_str());
  options.json ? PrintJson(layers, report) : PrintTable(layers, report);
  for (size_t i = 0; i < layers.size(); ++i) {
    if (report.rows[i].status.ok()) continue;
    return UnavailableError("layer \"" + layers[i].convolution.layer +
                            "\": " + report.rows[i].status.message());
  }
  return kExitDone;
}

}  // namespace

void AddPlanCommand(CommandLine* commands) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* app = commands->Add(
      "plan", "Prepares the convolutions of a model for a GPU, which need not be there.",
      [options] {
        return RunAlone("plan", [&options](Communicator*) { return RunPlan(*options); });
      });
  app->add_option("--model", options->model.model, "Name of a model, or a file")
      ->required()
      ->type_name("MODEL");
  app->add_option("--device-description", options->device_file,
                  "Properties of the GPU, as in trainer/cuda/dnn/devices")
      ->required()
      ->type_name("FILE.json");
  app->add_option("--plan-cache", options->cache, "File to keep the plans in")->type_name("FILE");
  AddUnsigned(app, "--batch", &options->batch, 1 << 20, "Images per step and GPU");
  AddImageSize(app, "--size", &options->images, "Height and width of the images");
  AddModelSize(app, &options->model);
  app->add_option("--math", options->math, "Which arithmetic")
      ->delimiter(',')
      ->check(CLI::IsMember({"bf16", "tf32", "f32"}).description(""))
      ->capture_default_str()
      ->type_name("bf16,tf32,f32");
  app->add_flag("--deterministic", options->deterministic, "Only plans that repeat their bits");
  app->add_flag("--json", options->json, "Results on stdout as one JSON object");
}

}  // namespace shardmill
