// Options that were given and that the rest of the configuration makes no use of.
#pragma once

#include <string>
#include <vector>

#include "proto/train_config.pb.h"
#include "trainer/data/data_task.h"

namespace shardmill {

// What to tell the user, one text per option: "--nesterov has no effect: it is for --optimizer
// sgd". Options of `given` that have their default are passed over, as a configuration file names
// all of them.
std::vector<std::string> UnusedOptions(const proto::TrainConfig& given,
                                       const proto::TrainConfig& config, TaskKind task);

}  // namespace shardmill
