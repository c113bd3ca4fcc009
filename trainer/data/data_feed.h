// Batches of a split in the form that the graph takes them: images as stored, labels as class ids.
//
// Training: the shuffled order of (seed, epoch), whole batches only: the records that do not fill
// the last batch of an epoch are left out of that epoch (another order chooses others in the
// next). Evaluation: stored order, one epoch, every record exactly once, the last batch smaller.
// Sequences of varying length are padded to one of a few lengths, the same for all ranks; training
// puts sequences of similar length into a batch. Images of several sizes train in crops of one
// size; evaluation has each as it is (BatchRows::row_sizes). Training may augment images (see
// input_augmentation.h) and learn soft labels; evaluation sees images as they are stored, and class
// ids always. The loader works in threads of its own. Not for concurrent use.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/augment.h"
#include "reader/base/status.h"
#include "reader/batch_loader.h"
#include "reader/dataset.h"
#include "reader/schema.h"
#include "trainer/data/batch_rows.h"
#include "trainer/data/data_task.h"
#include "trainer/graph/tensor.h"

namespace shardmill {

// The views are into the lease: valid until it is destroyed or moved over.
struct FeedBatch {
  Batch lease;
  ImageBatch images;
  LabelBatch labels;
  std::vector<uint16_t> own_labels;  // class ids that were made from shares, or are without padding
  std::vector<uint8_t> own_pixels;   // images of several sizes without padding
  std::vector<uint32_t> row_sizes;   // height and width of each

  BatchRows rows() const {
    return {images, labels, lease.global_rows(), row_sizes.empty() ? nullptr : row_sizes.data()};
  }
};

struct TrainingFeedOptions {
  std::string split;
  uint64_t batch = 1;
  uint64_t seed = 0;
  uint64_t epochs = 1;       // of the whole run
  uint64_t first_epoch = 0;  // < epochs; 0 is the first of the run
  uint64_t first_step = 0;   // within first_epoch
  uint32_t rank = 0;         // which part of each batch comes: SliceForRank
  uint32_t ranks = 1;
  Io io = Io::kMapped;
  Augment augment;
  int threads = 1;           // of the loader
  uint64_t trace_spans = 0;  // that the loader keeps for trace_lanes()
  int slots = 3;             // batches of the loader, with those that are held
  // Memory of the batches; see BatchLoaderOptions.
  std::function<void*(uint64_t bytes)> allocate;
  std::function<void(void* buffer, uint64_t bytes)> release;
};

// The most frames of a sequence of the split; the fixed number where all have the same.
Result<int64_t> LongestSequence(const Dataset& dataset, const DataTask& task,
                                const std::string& split);

// The task with the least height and the least width of the images of the split; the same task
// where all have one size.
Result<DataTask> WithSmallestImages(const Dataset& dataset, const DataTask& task,
                                    const std::string& split);

class DataFeed {
 public:
  // InvalidArgument for images of several sizes without a crop.
  static Result<std::unique_ptr<DataFeed>> OpenTraining(std::shared_ptr<const Dataset> dataset,
                                                        const DataTask& task,
                                                        const TrainingFeedOptions& options);
  static Result<std::unique_ptr<DataFeed>> OpenEvaluation(std::shared_ptr<const Dataset> dataset,
                                                          const DataTask& task,
                                                          const std::string& split, uint64_t batch,
                                                          uint32_t rank = 0, uint32_t ranks = 1,
                                                          Io io = Io::kMapped);

  // nullopt at the end.
  Result<std::optional<FeedBatch>> Next();
  // Of the loader; they live as long as the feed.
  std::vector<TraceLane> trace_lanes() const { return loader_->trace_lanes(); }

 private:
  DataFeed(DataTask task, bool learns_shares, std::unique_ptr<BatchLoader> loader, uint32_t rank,
           uint32_t ranks)
      : task_(std::move(task)),
        learns_shares_(learns_shares),
        loader_(std::move(loader)),
        rank_(rank),
        ranks_(ranks) {}
  Status SetShares(FeedBatch* batch) const;
  Status TakeOffPadding(FeedBatch* batch) const;
  Status TakeOffPaddingOfLabels(FeedBatch* batch) const;
  Status TakeClasses(const FeedBatch& batch, int64_t row, int64_t height, int64_t width,
                     uint8_t* ids) const;

  DataTask task_;
  bool learns_shares_;
  std::unique_ptr<BatchLoader> loader_;
  uint32_t rank_, ranks_;
  FieldSpec image_spec_, label_spec_;  // as stored, of evaluations
};

}  // namespace shardmill
