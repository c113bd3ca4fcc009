// What a dry run tells.
#include <algorithm>

#include "reader/console/json_writer.h"
#include "reader/console/terminal.h"
#include "reader/console/units.h"
#include "tools/pack/pack_report.h"
#include "tools/text_by_file.h"

namespace shardmill {
namespace {

constexpr size_t kProblemsShown = 20;

// The numbers that --shards means.
std::string ShardNumbers(uint64_t first, uint64_t count) {
  const std::string text = std::to_string(first);
  return count == 1 ? "number " + text
                    : "numbers " + text + "-" + std::to_string(first + count - 1);
}

std::string SplitLine(const SplitPlan& split, uint64_t record_bytes, uint64_t first_shard) {
  std::string text = "  " + split.name + ": " + CountOf(split.expected_records, "record") + " in " +
                     CountOf(split.shard_count, "shard") + " (" +
                     ShardNumbers(first_shard, split.shard_count) + "), " +
                     FormatBytes(split.expected_records * record_bytes) + " uncompressed";
  if (!split.problems.empty()) text += ", " + CountOf(split.problems.size(), "input") + " left out";
  return text + "\n";
}

// Those of the folder, then those of the inputs that were tried.
std::vector<Problem> AllProblems(const PackReport& report) {
  std::vector<Problem> problems;
  for (const SplitPlan& split : report.plan->splits) {
    problems.insert(problems.end(), split.problems.begin(), split.problems.end());
  }
  if (report.trial != nullptr) {
    problems.insert(problems.end(), report.trial->problems.begin(), report.trial->problems.end());
  }
  return problems;
}

std::string TrialText(const TrialResult& trial, int threads) {
  return "  about " + FormatBytes(trial.estimated_bytes) + " in " +
         FormatSeconds(trial.estimated_seconds) + " on " +
         CountOf(static_cast<uint64_t>(threads), "thread") + " without writing, as " +
         CountOf(trial.tried, "input") + " tried tell; " +
         (trial.problems.empty() ? "all of them can be packed"
                                 : FormatCount(trial.problems.size()) + " cannot be packed") +
         "\n";
}

}  // namespace

std::string PlanText(const PackReport& report) {
  const PackPlan& plan = *report.plan;
  std::string text = "plan: " + CountOf(plan.inputs(), "input") + ", " +
                     FormatBytes(plan.source_bytes()) + ", layout " + report.layout + "\n";
  uint64_t first_shard = 0;
  for (const SplitPlan& split : plan.splits) {
    text += SplitLine(split, plan.record_bytes, first_shard);
    first_shard += split.shard_count;
  }
  text += "  " + DescribePlan(report) + "\n  data set id " + DigestToHex(plan.dataset_id) + "\n";
  if (report.trial != nullptr) text += TrialText(*report.trial, report.threads);
  const std::vector<Problem> problems = AllProblems(report);
  for (size_t i = 0; i < std::min(kProblemsShown, problems.size()); ++i) {
    text += "  problem: " + EscapeControl(problems[i].key) + ": " +
            EscapeControl(problems[i].reason) + "\n";
  }
  if (problems.size() > kProblemsShown) text += "  … (--json lists them all)\n";
  return text;
}

void WritePlannedSplits(const PackReport& report, JsonWriter* json) {
  const PackPlan& plan = *report.plan;
  json->Key("source_bytes").Number(plan.source_bytes());
  json->Key("splits").BeginArray();
  for (const SplitPlan& split : plan.splits) {
    json->BeginObject();
    json->Key("name").String(split.name);
    json->Key("inputs").Number(uint64_t{split.samples.size() + split.problems.size()});
    json->Key("records").Number(split.expected_records);
    json->Key("shards").Number(uint64_t{split.shard_count});
    json->Key("uncompressed_bytes").Number(split.expected_records * plan.record_bytes);
    json->EndObject();
  }
  json->EndArray();
  if (report.trial != nullptr) {
    json->Key("tried").Number(report.trial->tried);
    json->Key("estimated_bytes").Number(report.trial->estimated_bytes);
    json->Key("estimated_seconds").Number(report.trial->estimated_seconds);
  }
  json->Key("problems").BeginArray();
  for (const Problem& problem : AllProblems(report)) {
    json->BeginObject();
    json->Key("key").String(problem.key);
    json->Key("reason").String(problem.reason);
    json->EndObject();
  }
  json->EndArray();
}

}  // namespace shardmill
