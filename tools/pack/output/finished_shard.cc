#include "tools/pack/output/finished_shard.h"

#include <algorithm>
#include <memory>

#include "reader/base/file.h"
#include "reader/manifest.h"
#include "reader/serialize.h"
#include "reader/shard_reader.h"

namespace shardmill {
namespace {

bool FitsPlan(const ShardReader& reader, const PackPlan& plan, const PlannedShard& shard) {
  const ShardPlan expected = plan.ShardPlanOf(shard);
  return reader.dataset_id() == expected.dataset_id &&
         reader.shard_number() == expected.shard_number &&
         reader.shard_count() == expected.shard_count &&
         reader.first_input() == expected.first_input && reader.end_input() == expected.end_input &&
         SerializeDeterministic(reader.schema_message()) ==
             SerializeDeterministic(plan.SchemaOf(plan.splits[shard.split]));
}

// Inputs that are no samples are told first in the first shard.
bool TellsProblems(const proto::ShardSummary& summary, const std::vector<Problem>& problems) {
  return static_cast<size_t>(summary.skipped_size()) >= problems.size() &&
         std::equal(problems.begin(), problems.end(), summary.skipped().begin(),
                    [](const Problem& problem, const proto::SkippedInput& skipped) {
                      return problem.key == skipped.key() && problem.reason == skipped.reason();
                    });
}

}  // namespace

Result<FinishedShard> ReadFinishedShard(const PackPlan& plan, const PlannedShard& shard,
                                        const std::string& folder) {
  const std::string path = JoinPath(folder, plan.FileNameOf(shard));
  RETURN_IF_ERROR(CheckIsRegularFile(path));
  ASSIGN_OR_RETURN(const std::unique_ptr<ShardReader> reader,
                   ShardReader::Open(path, ChecksumPolicy::kOff));
  if (!FitsPlan(*reader, plan, shard)) {
    return DataLossError(path + " was made by another plan than this one");
  }
  RETURN_IF_ERROR(reader->CheckDigest());
  FinishedShard finished;
  finished.records = reader->records();
  finished.bytes = reader->file_bytes();
  finished.digest = reader->digest();
  finished.summary = reader->summary();
  const uint64_t told =
      finished.summary.counts().inputs() + static_cast<uint64_t>(finished.summary.skipped_size());
  if (told != plan.InputsOf(shard) ||
      (shard.number == 0 && !TellsProblems(finished.summary, plan.splits[shard.split].problems))) {
    return DataLossError(path + " tells of other inputs than the plan");
  }
  return finished;
}

bool KeepsTo(const ErrorPolicy& policy, const FinishedShard& shard) {
  return policy.skip ||
         std::all_of(shard.summary.skipped().begin(), shard.summary.skipped().end(),
                     [](const proto::SkippedInput& skipped) { return skipped.by_rule(); });
}

}  // namespace shardmill
