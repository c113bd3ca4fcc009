#include "trainer/cuda/dnn/execution_plan.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace shardmill {
namespace {

constexpr int kMostConfigs = 64;

bool MathAllows(MathMode math, int note) {
  switch (note) {
    case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
      return false;
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
    case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
    case CUDNN_NUMERICAL_NOTE_FFT:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
      return math != MathMode::kF32;
    default:
      return true;
  }
}

// The engine configurations that the heuristics recommend, best first.
Result<std::vector<DnnDescriptor>> Recommend(const ConvolutionGraph& graph,
                                             cudnnBackendHeurMode_t mode,
                                             const DeviceDescription& device) {
  ASSIGN_OR_RETURN(const DnnDescriptor heuristics,
                   DnnBuilder(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "the choice of an engine")
                       .Descriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.operations())
                       .Value(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode)
                       .Descriptor(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device.properties())
                       .Finalize());
  std::vector<DnnDescriptor> configs;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int i = 0; i < kMostConfigs; ++i) {
    ASSIGN_OR_RETURN(DnnDescriptor config,
                     DnnDescriptor::Create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    handles.push_back(config.get());
    configs.push_back(std::move(config));
  }
  int64_t count = 0;
  RETURN_IF_ERROR(DnnStatus(
      cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                               CUDNN_TYPE_BACKEND_DESCRIPTOR, kMostConfigs, &count, handles.data()),
      "recommend engines"));
  configs.resize(std::clamp<int64_t>(count, 0, kMostConfigs));
  return configs;
}

Result<std::vector<int>> NumericalNotes(const DnnDescriptor& config) {
  ASSIGN_OR_RETURN(DnnDescriptor engine, DnnDescriptor::Create(CUDNN_BACKEND_ENGINE_DESCRIPTOR));
  RETURN_IF_ERROR(config.Read(CUDNN_ATTR_ENGINECFG_ENGINE, &engine));
  return engine.Values(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                       CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
}

constexpr char kNoEngine[] =
    "cuDNN recommends no engine; if it recommends none for any convolution, one of its libraries "
    "(libcudnn_heuristic, libcudnn_engines_precompiled) is missing or damaged";

// The last refusal, unless an earlier one says that something is out of order.
void Refuse(Status reason, Status* refusal) {
  if (refusal->code() == StatusCode::kInvalidArgument) *refusal = std::move(reason);
}

}  // namespace

bool NotesMeet(const PlanNeeds& needs, const std::vector<int>& numerical_notes) {
  return std::all_of(numerical_notes.begin(), numerical_notes.end(), [&](int note) {
    if (note == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) return !needs.deterministic;
    return MathAllows(needs.math, note);
  });
}

Result<ExecutionPlan> ExecutionPlan::Finish(DnnBuilder* builder) {
  ExecutionPlan plan;
  ASSIGN_OR_RETURN(plan.plan_, builder->Finalize());
  ASSIGN_OR_RETURN(const std::vector<int64_t> bytes,
                   plan.plan_.Int64s(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 1));
  if (bytes.size() != 1 || bytes[0] < 0) {
    return InternalError("cuDNN did not say how much workspace a plan needs");
  }
  plan.workspace_bytes_ = bytes[0];
  return plan;
}

Result<ExecutionPlan> ExecutionPlan::Build(const ConvolutionGraph& graph, const PlanNeeds& needs,
                                           const DeviceDescription& device) {
  int seen = 0;
  Status refusal = InvalidArgumentError(kNoEngine);
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    auto configs = Recommend(graph, mode, device);
    if (!configs.ok()) {
      Refuse(configs.status(), &refusal);
      continue;
    }
    for (DnnDescriptor& config : *configs) {
      ++seen;
      ASSIGN_OR_RETURN(const std::vector<int> notes, NumericalNotes(config));
      if (!NotesMeet(needs, notes)) {
        Refuse(InvalidArgumentError("its numerical notes do not suit the math mode"), &refusal);
        continue;
      }
      DnnBuilder builder(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "a plan");
      builder.Descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config)
          .Descriptor(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device.properties());
      auto plan = Finish(&builder);
      if (!plan.ok()) {
        Refuse(plan.status(), &refusal);
        continue;
      }
      plan->place_ = "engine " + std::to_string(seen);
      const auto json = plan->plan_.Text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
      if (json.ok()) plan->json_ = *json;
      if (needs.failed.count(plan->name()) > 0) {
        Refuse(InvalidArgumentError("it has failed before"), &refusal);
      } else if (plan->workspace_bytes() > needs.most_workspace_bytes) {
        Refuse(InvalidArgumentError("it needs " + std::to_string(plan->workspace_bytes()) +
                                    " bytes of workspace"),
               &refusal);
      } else {
        plan->config_ = std::move(config);
        return plan;
      }
    }
  }
  if (seen == 0) return refusal;
  return refusal.WithContext("none of " + std::to_string(seen) + " engines can be taken, the last");
}

Result<ExecutionPlan> ExecutionPlan::FromJson(const std::string& json,
                                              const DeviceDescription& device) {
  DnnBuilder builder(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "a plan from its text");
  builder.Descriptor(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device.properties())
      .Text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, json);
  ASSIGN_OR_RETURN(ExecutionPlan plan, Finish(&builder));
  plan.json_ = json;
  return plan;
}

}  // namespace shardmill
