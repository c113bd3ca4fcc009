#include "trainer/data_feed.h"

#include <algorithm>
#include <utility>

#include "reader/epoch_order.h"

namespace shardmill {
namespace {

BatchLoaderOptions LoaderOptions(const DataTask& task, const std::string& split, uint64_t batch) {
  BatchLoaderOptions options;
  options.split = split;
  options.fields = {{task.image_field, Delivery::kStored}, {task.label_field, Delivery::kIndex}};
  options.global_batch = batch;
  options.threads = 1;
  return options;
}

}  // namespace

Result<std::unique_ptr<DataFeed>> DataFeed::OpenTraining(std::shared_ptr<const Dataset> dataset,
                                                         const DataTask& task,
                                                         const TrainingFeedOptions& options) {
  BatchLoaderOptions loader_options = LoaderOptions(task, options.split, options.batch);
  loader_options.order = Order::kShuffled;
  loader_options.tail = TailPolicy::kDrop;
  loader_options.seed = options.seed;
  loader_options.first_epoch = options.first_epoch;
  loader_options.first_step = options.first_step;
  loader_options.epochs = options.epochs - options.first_epoch;
  loader_options.rank = options.rank;
  loader_options.ranks = options.ranks;
  ASSIGN_OR_RETURN(std::unique_ptr<BatchLoader> loader,
                   BatchLoader::Open(std::move(dataset), loader_options));
  return std::unique_ptr<DataFeed>(
      new DataFeed(task, std::move(loader), options.rank, options.ranks));
}

Result<std::unique_ptr<DataFeed>> DataFeed::OpenEvaluation(std::shared_ptr<const Dataset> dataset,
                                                           const DataTask& task,
                                                           const std::string& split, uint64_t batch,
                                                           uint32_t rank, uint32_t ranks) {
  ASSIGN_OR_RETURN(const Dataset::Split* records, dataset->split(split));
  const uint64_t largest = std::max<uint64_t>(records->records(), 1);
  BatchLoaderOptions loader_options =
      LoaderOptions(task, split, std::max<uint64_t>(std::min(batch, largest), ranks));
  loader_options.rank = rank;
  loader_options.ranks = ranks;
  loader_options.order = Order::kStored;
  loader_options.tail = TailPolicy::kPartial;
  ASSIGN_OR_RETURN(std::unique_ptr<BatchLoader> loader,
                   BatchLoader::Open(std::move(dataset), loader_options));
  return std::unique_ptr<DataFeed>(new DataFeed(task, std::move(loader), rank, ranks));
}

Result<std::optional<FeedBatch>> DataFeed::Next() {
  ASSIGN_OR_RETURN(std::optional<Batch> lease, loader_->Next());
  if (!lease) return std::optional<FeedBatch>();
  FeedBatch batch;
  batch.lease = std::move(*lease);
  batch.images.data = batch.lease.field(task_.image_field).data;
  batch.images.type = task_.image_type;
  batch.images.shape = task_.image;
  batch.images.shape.n = batch.lease.rows();
  batch.images.first_row =
      static_cast<int64_t>(SliceForRank(batch.lease.global_rows(), rank_, ranks_).begin);
  batch.labels.data = batch.lease.field(task_.label_field).data;
  batch.labels.type = task_.label_type;
  batch.labels.n = batch.lease.rows();
  batch.labels.h = task_.label_h;
  batch.labels.w = task_.label_w;
  return std::optional<FeedBatch>(std::move(batch));
}

}  // namespace shardmill
