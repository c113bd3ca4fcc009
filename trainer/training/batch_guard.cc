#include "trainer/training/batch_guard.h"

#include <cmath>
#include <cstdio>

#include "proto/checkpoint.pb.h"
#include "proto/record_meta.pb.h"
#include "reader/console/terminal.h"
#include "trainer/export/batch_dump.h"
#include "trainer/optimization/schedule.h"

namespace shardmill {
namespace {

// A message is no place for thousands of records.
constexpr size_t kMostRecords = 64;
// A run that goes wrong must not fill the disk.
constexpr int kMostDumps = 10;

std::string Joined(const std::vector<std::string>& records) {
  std::string text;
  for (const std::string& record : records) text += (text.empty() ? "" : ", ") + record;
  return text;
}

std::string Format(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

}  // namespace

std::vector<std::string> RecordNames(const Dataset::Split& split,
                                     const std::vector<uint64_t>& records) {
  std::vector<std::string> names;
  for (const uint64_t record : records) {
    if (names.size() == kMostRecords) {
      names.push_back("and " + std::to_string(records.size() - kMostRecords) + " more");
      break;
    }
    const auto [shard, in_shard] = split.Locate(record);
    const Result<proto::RecordMeta> meta = shard->ReadMeta(in_shard);
    names.push_back(std::to_string(record) +
                    (meta.ok() ? " (" + EscapeControl(meta->key()) + ")" : ""));
  }
  return names;
}

std::string OutlierText(const OutlierEvent& event) {
  return "the loss of step " + std::to_string(event.step) + ", " + Format("%.4g", event.loss) +
         ", is " + Format("%.1f", event.deviations) + " standard deviations above the mean of " +
         Format("%.4g", event.mean) +
         " of the steps before. Records in the batch: " + Joined(event.records) +
         (event.dump.empty() ? "" : ". The batch is kept in " + event.dump);
}

BatchGuard::BatchGuard(TrainSetup* setup)
    : setup_(*setup), outliers_(setup->config.outlier_z(), setup->description.mutable_progress()) {}

Result<std::vector<std::string>> BatchGuard::RecordsOfAllRanks(const FeedBatch& batch) const {
  ASSIGN_OR_RETURN(const Dataset::Split* split, setup_.dataset->split(setup_.config.train_split()));
  std::string own;
  for (const std::string& name : RecordNames(*split, batch.lease.records())) own += name + "\n";
  ASSIGN_OR_RETURN(const std::vector<std::string> of_ranks,
                   setup_.communicator->Gather(own, "records of the batch"));
  std::vector<std::string> records;
  for (const std::string& part : of_ranks) {
    for (size_t begin = 0; begin < part.size();) {
      const size_t end = part.find('\n', begin);
      records.push_back(part.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return records;
}

std::string BatchGuard::Dump(const FeedBatch& batch) const {
  const uint64_t step = setup_.description.progress().steps() + 1;
  const std::string path = setup_.OutputPath(BatchDumpName(step, *setup_.communicator));
  return DumpBatch(path, batch).ok() ? path : "";
}

Status BatchGuard::CheckFinite(const FeedBatch& batch, const LossResult& loss,
                               double gradient_norm) const {
  if (std::isfinite(loss.loss_sum) && std::isfinite(gradient_norm)) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> records, RecordsOfAllRanks(batch));
  const std::string dump = Dump(batch);
  const proto::Progress& progress = setup_.description.progress();
  return setup_.communicator->AbortTogether(InvalidArgumentError(
      std::string(std::isfinite(loss.loss_sum) ? "the gradient" : "the loss") +
      " is not finite at step " + std::to_string(progress.steps() + 1) + " (epoch " +
      std::to_string(progress.epoch() + 1) + ", learning rate " +
      std::to_string(LearningRate(setup_.schedule, progress.steps())) + "). Records of split '" +
      setup_.config.train_split() + "' in the batch: " + Joined(records) +
      (dump.empty() ? "" : ". The batch is kept in " + dump) +
      ". The weights were not changed by this step" +
      (setup_.has_checkpoint ? ", and the last checkpoint is kept" : "") +
      "; try a lower --lr, or look at these records with 'shardmill dump'"));
}

Result<std::optional<OutlierEvent>> BatchGuard::CheckOutlier(const FeedBatch& batch,
                                                             const LossResult& loss,
                                                             bool is_updated) {
  if (loss.weight_sum == 0) return std::optional<OutlierEvent>();  // no labels, no loss
  const double mean = outliers_.mean();
  const std::optional<double> deviations = outliers_.Add(loss.Mean());
  if (!deviations) return std::optional<OutlierEvent>();
  const proto::Progress& progress = setup_.description.progress();
  OutlierEvent event;
  event.step = progress.steps() + 1;
  event.epoch = progress.epoch() + 1;
  event.loss = loss.Mean();
  event.mean = mean;
  event.deviations = *deviations;
  ASSIGN_OR_RETURN(event.records, RecordsOfAllRanks(batch));
  const std::string& action = setup_.config.outlier_action();
  if (action != "warn" && dumps_++ < kMostDumps) event.dump = Dump(batch);
  if (action != "stop") return std::optional<OutlierEvent>(std::move(event));
  return setup_.communicator->AbortTogether(
      InvalidArgumentError(OutlierText(event) +
                           (is_updated ? ". The last checkpoint is kept"
                                       : ". The weights were not changed by this step, and the "
                                         "last checkpoint is kept") +
                           "; go on with --resume and --outlier-action warn"));
}

}  // namespace shardmill
