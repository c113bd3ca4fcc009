// Makes zstd dictionaries from samples. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"

namespace shardmill {

// A dictionary that grows with its samples much beyond this share of them learns them by heart.
constexpr uint64_t kSampleBytesPerDictionaryByte = 100;
constexpr uint64_t kMinTrainedDictionaryBytes = 1024;

// A dictionary of at most a hundredth of the samples' bytes, but 1 to 64 KiB, for records like
// `samples`. The same samples in the same order give the same dictionary with the same version of
// zstd. InvalidArgument when they are too few or too small to learn anything from.
Result<std::shared_ptr<const ZstdDictionary>> TrainZstdDictionary(
    const std::vector<std::string>& samples);

}  // namespace shardmill
