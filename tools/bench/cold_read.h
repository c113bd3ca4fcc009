// Measures reading from the disk: the loader, mapped and direct, beside bare direct reads.
//
// Before each turn the page cache is told to drop the files of the set; that it did is checked.
// The bare loop reads the same byte ranges in random order past the page cache, with one thread and
// several reads under way, at the queue depth that was the best in a first turn of each: what fio
// does. Then all of them take turns. Not for concurrent use.
#pragma once

#include "reader/base/status.h"
#include "tools/bench/read_bench.h"
#include "tools/bench/read_figures.h"

namespace shardmill {

// Io when the page cache keeps the files (a file system in memory, another program that maps them).
Result<ColdFigures> MeasureCold(const ReadBenchOptions& options);

}  // namespace shardmill
