// Pictures of what a network makes of the first records of a split, for the log of a run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/dataset.h"
#include "trainer/data/data_task.h"
#include "trainer/graph/graph.h"
#include "trainer/logs/run_events.h"

namespace shardmill {

// One picture per record, named by its number: on the left the image tinted with its labels, on the
// right with the classes that the network predicts. None where records have one class each. Runs
// the graph alone, without other ranks.
Result<std::vector<PictureEvent::Picture>> DrawPredictions(Graph* graph,
                                                           std::shared_ptr<const Dataset> dataset,
                                                           const DataTask& task,
                                                           const std::string& split,
                                                           uint64_t count);

}  // namespace shardmill
