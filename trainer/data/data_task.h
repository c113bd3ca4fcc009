// What a packed data set asks of a network: images, or sequences of feature vectors, in; a class
// per pixel, per image or per sequence out. Plain data and pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"
#include "trainer/evaluation/metrics.h"
#include "trainer/graph/tensor.h"

namespace shardmill {

namespace proto {
class Statistics;
}  // namespace proto

enum class TaskKind {
  kSegmentation,    // a class map per image, scored by mean IoU
  kClassification,  // a class id per image or sequence, scored by accuracy
};

struct DataTask {
  TaskKind kind = TaskKind::kSegmentation;
  std::string image_field;
  ImageType image_type = ImageType::kU8;
  // n is 0. Of images of several sizes h and w are 0; of sequences h is 1, w the frames (0: they
  // vary) and c the features.
  Shape image;
  bool sequences = false;
  // Class ids; empty: only soft_field has labels, and the largest share of a pixel is its class.
  std::string label_field;
  LabelType label_type = LabelType::kIndexU8;  // of class ids: always an index
  std::string soft_field;  // f32, a share per class, which training learns; empty: the class ids
  int64_t label_h = 1;     // of class maps: as the image
  int64_t label_w = 1;
  std::vector<std::string> classes;  // names, in the order of the ids
  std::optional<uint32_t> ignore;

  // Images of several sizes: training needs a crop; evaluation takes each as it is.
  bool SizesVary() const { return !sequences && image.h == 0; }
};

// `soft_labels`: the field of soft labels; "none": there is none. InvalidArgument says what the
// data set lacks and how to pack it.
Result<DataTask> DescribeTask(const RecordSchema& schema, const std::string& soft_labels = "none");

// The score that checkpoints are compared by, and its name in tables.
std::optional<double> ScoreOf(TaskKind kind, const Scores& scores);
std::string ScoreName(TaskKind kind);  // "mIoU", "accuracy"

// Per channel, in stored units; the network sees (x - mean) / deviation.
struct ImageScale {
  std::vector<float> mean;
  std::vector<float> deviation;
};

// Of the images that `statistics` counts. 0 and 1 where nothing was counted, a deviation of 1
// where all pixels are equal.
ImageScale ScaleOf(const proto::Statistics& statistics, int64_t channels);

}  // namespace shardmill
