#include "trainer/cuda/prepare_plans.h"

#include <utility>

#include "trainer/cuda/dnn/convolution_plan_set.h"

namespace shardmill {
namespace {

PlanRow RowOf(const Result<ConvolutionPlanSet>& set) {
  PlanRow row;
  row.status = set.status();
  if (!set.ok()) return row;
  row.adds_bias = set->AddsBias();
  row.activates = set->Activates();
  row.rounds_gradient = set->RoundsGradient();
  for (int i = 0; i < 3; ++i) {
    if (set->plans[i] != nullptr) row.workspace_bytes[i] = set->plans[i]->workspace_bytes();
  }
  return row;
}

}  // namespace

Result<PlanReport> PreparePlans(const PlanRequest& request) {
  PlanReport report;
  auto described = DeviceDescription::FromJson(request.device_json);
  if (!described.ok()) return described.status().WithContext(request.device_file);
  DeviceDescription device = std::move(*described);
  report.device = device.name();
  report.library = DnnLibraryName();
  PlanCache cache;
  if (!request.cache_path.empty()) {
    ASSIGN_OR_RETURN(cache, PlanCache::Open(request.cache_path, &report.note));
  }
  ConvolutionPlans plans(std::move(device), &cache);
  bool was_saved = false;
  for (const PlannedConvolution& convolution : request.convolutions) {
    report.rows.push_back(RowOf(ConvolutionPlanSet::Find(convolution.shape, convolution.math,
                                                         request.deterministic, &plans)));
    // A file that cannot be written is told of before the rest is made for it.
    if (!was_saved && plans.counts().built > 0) RETURN_IF_ERROR(cache.Save());
    was_saved |= plans.counts().built > 0;
  }
  report.numbers = {plans.counts().built, plans.counts().loaded, plans.counts().refused};
  RETURN_IF_ERROR(cache.Save());
  return report;
}

}  // namespace shardmill
