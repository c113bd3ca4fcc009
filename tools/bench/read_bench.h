// Measures how fast a packed set is read: by the loader, and by bare loops over the same records
// in turns with it.
//
// The loader under each checksum policy takes short turns of later epochs, each between two turns
// of memcpy out of a mapping, and whole first epochs with the one behind it. The median of the
// ratios counts: on a machine that does other things too, neighbouring turns suffer alike. All
// data are in memory before the clock starts. Not for concurrent use.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "reader/base/status.h"
#include "tools/bench/read_figures.h"

namespace shardmill {

struct ReadBenchOptions {
  std::string path;
  std::string split;   // empty: the first one
  uint64_t batch = 0;  // records; 0: about 4 MiB
  int threads = 1;
  int rounds = 15;
};

// InvalidArgument when no field of the set has a fixed shape.
Result<ReadFigures> MeasureReading(const ReadBenchOptions& options);

// The field "label" of the set as one_hot_f32.
Result<OneHotFigures> MeasureOneHot(const ReadBenchOptions& options);

// Streams one epoch and writes the Chrome trace of its threads.
Status WriteReadTrace(const ReadBenchOptions& options, const std::string& trace_path);

// Opens the set and waits for its first batch.
Status TakeFirstBatch(const ReadBenchOptions& options);

// Starts this program `rounds` times with `bench read PATH --first-batch` and waits for the line
// that it prints then.
Result<FirstBatchFigures> MeasureFirstBatch(const ReadBenchOptions& options);

}  // namespace shardmill
