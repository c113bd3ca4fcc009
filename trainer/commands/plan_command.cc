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

void PrintTable(const std::vector<ModelConvolution>& convolutions, const PlanReport& report) {
  using Align = TextTable::Align;
  TextTable table({{"layer", Align::kLeft},
                   {"math", Align::kLeft},
                   {"phase", Align::kLeft},
                   {"end of forward", Align::kLeft},
                   {"forward", Align::kRight},
                   {"data gradient", Align::kRight},
                   {"weight gradient", Align::kRight}});
  for (const PlanRow& row : report.rows) {
    const ModelConvolution& convolution = convolutions[row.shape];
    std::vector<std::string> cells = {EscapeControl(convolution.layer), MathModeName(row.math)};
    cells.push_back(PhaseName(convolution.shape));
    cells.push_back(EndingText(convolution.shape, row));
    for (int pass = 0; pass < 3; ++pass) {
      const bool is_wanted = pass == 0 || !convolution.shape.forward_only;
      cells.push_back(!is_wanted        ? ""
                      : row.status.ok() ? BytesText(row.workspace_bytes[pass])
                                        : "no plan");
    }
    table.AddRow(std::move(cells));
  }
  std::printf("%s", table.ToString(0, WantsColor(stdout)).c_str());
  std::printf("%s, %s: %s plans built, %s from the cache; the table shows their workspaces\n",
              EscapeControl(report.device).c_str(), report.library.c_str(),
              FormatCount(static_cast<uint64_t>(report.numbers.built)).c_str(),
              FormatCount(static_cast<uint64_t>(report.numbers.loaded)).c_str());
}

void PrintRow(const ModelConvolution& convolution, const PlanRow& row, JsonWriter* json) {
  json->BeginObject();
  json->Key("layer").String(convolution.layer);
  json->Key("math").String(MathModeName(row.math));
  json->Key("phase").String(PhaseName(convolution.shape));
  json->Key("bias").Bool(convolution.shape.bias);
  json->Key("bias_fused").Bool(row.adds_bias);
  json->Key("activation").Bool(convolution.shape.activation != Activation::kNone);
  json->Key("activation_fused").Bool(row.activates);
  json->Key("found").Bool(row.status.ok());
  json->Key("workspace_bytes").BeginArray();
  for (int pass = 0; pass < (convolution.shape.forward_only ? 1 : 3); ++pass) {
    json->Number(row.workspace_bytes[pass]);
  }
  json->EndArray();
  json->EndObject();
}

void PrintJson(const std::vector<ModelConvolution>& convolutions, const PlanReport& report) {
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
  for (const PlanRow& row : report.rows) PrintRow(convolutions[row.shape], row, &json);
  json.EndArray();
  json.EndObject();
  std::printf("%s", json.Take().c_str());
}

Result<PlanRequest> RequestOf(const PlanOptions& options,
                              const std::vector<ModelConvolution>& convolutions) {
  PlanRequest request;
  ASSIGN_OR_RETURN(request.device_json, ReadTextFile(options.device_file, kMaxDescriptionBytes));
  request.device_file = options.device_file;
  request.cache_path = options.cache;
  for (const ModelConvolution& convolution : convolutions) {
    request.shapes.push_back(convolution.shape);
  }
  request.modes = ModesOf(options.math);
  request.deterministic = options.deterministic;
  return request;
}

Result<int> RunPlan(const PlanOptions& options) {
  ASSIGN_OR_RETURN(const ModelSpec spec, SpecOf(options.model));
  const Shape images = {static_cast<int64_t>(options.batch), options.images.height,
                        options.images.width, spec.input_channels};
  ASSIGN_OR_RETURN(auto convolutions, ConvolutionsOf(spec, images, Phase::kTraining));
  ASSIGN_OR_RETURN(const auto evaluated, ConvolutionsOf(spec, images, Phase::kEvaluation));
  convolutions.insert(convolutions.end(), evaluated.begin(), evaluated.end());
  ASSIGN_OR_RETURN(const PlanRequest request, RequestOf(options, convolutions));
  ASSIGN_OR_RETURN(const CudaPlugin* plugin, OpenCudaPlugin());
  ASSIGN_OR_RETURN(const PlanReport report, plugin->prepare_plans(request));
  if (!report.note.empty()) std::fprintf(stderr, "note: %s\n", report.note.c_str());
  options.json ? PrintJson(convolutions, report) : PrintTable(convolutions, report);
  for (const PlanRow& row : report.rows) {
    if (row.status.ok()) continue;
    return UnavailableError("layer \"" + convolutions[row.shape].layer +
                            "\": " + row.status.message());
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
