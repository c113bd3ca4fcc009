// Keeps a batch that broke the training, for a look at it.
#pragma once

#include <cstdint>
#include <string>

#include "reader/base/status.h"
#include "trainer/comm/communicator.h"
#include "trainer/data/data_feed.h"

namespace shardmill {

// "bad-batch-step-123.safetensors"; with several ranks each has its own.
std::string BatchDumpName(uint64_t step, const Communicator& communicator);

// Images (or sequences), labels and the numbers of the records, as the loader delivered them.
Status DumpBatch(const std::string& path, const FeedBatch& batch);

}  // namespace shardmill
