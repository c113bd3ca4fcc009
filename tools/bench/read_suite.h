// Runs the measurements of `shardmill bench read`: on one packed set, or on synthetic ones that
// it makes in a temporary folder, one after the other.
//
// Not for concurrent use.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/bench/read_figures.h"

namespace shardmill {

struct ReadSuiteOptions {
  std::string path;                    // empty: synthetic sets
  std::string split;                   // of the set at `path`; empty: the first one
  std::vector<uint64_t> record_bytes;  // of synthetic sets; empty: all of kSyntheticSizes, and
                                       // the first batch and the one-hot labels besides
  uint64_t set_bytes = uint64_t{512} << 20;
  uint64_t first_batch_records = 1000000;
  uint64_t batch = 0;  // records; 0: about 4 MiB
  int threads = 1;     // measured are 1 and this
  int rounds = 15;
  bool cold = false;                                      // from the disk too
  std::string trace_path;                                 // empty: no trace
  std::function<void(const std::string& what)> progress;  // called before each measurement
};

// CIFAR, 224², 352², 512² and 1110² pixels of four bytes.
inline constexpr uint64_t kSyntheticSizes[] = {3136, 150544, 495616, 1048576, 4928400};

Result<ReadReport> RunReadSuite(const ReadSuiteOptions& options);

}  // namespace shardmill
