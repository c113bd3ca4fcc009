// What is done to the images and labels of a run while they are read for training.
//
// Pure functions; safe for concurrent use.
#pragma once

#include "reader/augment.h"
#include "reader/base/status.h"
#include "trainer/data/data_task.h"

namespace shardmill {

namespace proto {
class TrainConfig;
}  // namespace proto

// What the options ask for. InvalidArgument names the flag when the data set cannot give it.
Result<Augment> InputAugmentation(const proto::TrainConfig& config, const DataTask& task);

// The task as training sees it: images and class maps have the size of the crop.
DataTask TrainingTask(const DataTask& task, const Augment& augment);

}  // namespace shardmill
