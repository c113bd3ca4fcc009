// Tells what a pack will do and what it did: for people, and as JSON with stable keys.
//
// Free functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/pack/inputs/input_set.h"
#include "tools/pack/output/set_writer.h"
#include "tools/pack/pack_options.h"
#include "tools/pack/pack_plan.h"
#include "tools/pack/pack_result.h"
#include "tools/pack/trial.h"

namespace shardmill {

class JsonWriter;

struct PackReport {
  const PackOptions* options = nullptr;
  const PackPlan* plan = nullptr;
  const WrittenSet* written = nullptr;  // null for a dry run
  const TrialResult* trial = nullptr;   // of a dry run
  int threads = 1;
  std::string layout;
  std::vector<std::string> notes;
  std::string page;  // the HTML report; empty when there is none
  double seconds = 0;
};

// "packing into OUT: 352 high × 480 wide, …": one line before the work begins.
std::string DescribePlan(const PackReport& report);
// What the plan would write, split by split.
std::string PlanText(const PackReport& report);
// The same as members of the object that is being written.
void WritePlannedSplits(const PackReport& report, JsonWriter* json);
std::string SummaryText(const PackReport& report, bool colored);
std::string SummaryJson(const PackReport& report);

// "gray to RGB" and how many images, for each conversion that was done.
std::vector<std::pair<std::string, uint64_t>> ConvertedImages(const PackResult& result);

// Classes of the table without any pixel (or image) in the whole set: names for a warning.
std::vector<std::string> AbsentClasses(const PackReport& report);

}  // namespace shardmill
