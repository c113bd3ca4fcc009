#include "trainer/cuda/prepare_plans.h"

#include <utility>

#include "trainer/cuda/dnn/convolution_plan_set.h"

namespace shardmill {
namespace {

PlanRow RowOf(const Result<ConvolutionPlanSet>& set) {
  PlanRow row;
  row.status = set.status();
  if (!set.ok()) return row;
  row.adds_bias = set->adds_bias;
  for (int i = 0; i < 3; ++i) row.workspace_bytes[i] = set->plans[i]->workspace_bytes();
  return row;
}

}  // namespace

Result<PlanReport> PreparePlans(const PlanRequest& request) {
  PlanReport report;
  ASSIGN_OR_RETURN(DeviceDescription device, DeviceDescription::FromJson(request.device_json));
  report.device = device.name();
  report.library = DnnLibraryName();
  PlanCache cache;
  if (!request.cache_path.empty()) cache = PlanCache::Open(request.cache_path, &report.note);
  ConvolutionPlans plans(std::move(device), &cache);
  for (size_t i = 0; i < request.shapes.size(); ++i) {
    for (const MathMode math : request.modes) {
      PlanRow row =
          RowOf(ConvolutionPlanSet::Find(request.shapes[i], math, request.deterministic, &plans));
      row.shape = static_cast<int>(i);
      row.math = math;
      report.rows.push_back(std::move(row));
    }
  }
  report.built = plans.counts().built;
  report.loaded = plans.counts().loaded;
  report.refused = plans.counts().refused;
  RETURN_IF_ERROR(cache.Save());
  return report;
}

}  // namespace shardmill
