// Tells what a pack will do and what it did: for people, and as JSON with stable keys.
//
// Free functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/pack/input_set.h"
#include "tools/pack/pack_options.h"
#include "tools/pack/pack_plan.h"
#include "tools/pack/pack_run.h"

namespace shardmill {

struct PackReport {
  const PackOptions* options = nullptr;
  const PackPlan* plan = nullptr;
  const PackResult* result = nullptr;  // null for a dry run
  std::string layout;
  std::vector<std::string> notes;
  std::string page;  // the HTML report; empty when there is none
  double seconds = 0;
};

// "packing into OUT: 352 high × 480 wide, …": one line before the work begins.
std::string DescribePlan(const PackReport& report);
// What the plan would write, split by split.
std::string PlanText(const PackReport& report);
std::string SummaryText(const PackReport& report, bool colored);
std::string SummaryJson(const PackReport& report);

// "gray to RGB" and how many images, for each conversion that was done.
std::vector<std::pair<std::string, uint64_t>> ConvertedImages(const PackResult& result);

// Classes of the table without any pixel (or image) in the whole set: names for a warning.
std::vector<std::string> AbsentClasses(const PackReport& report);

}  // namespace shardmill
