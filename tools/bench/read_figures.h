// What `shardmill bench read` measures, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/batch_loader.h"
#include "tools/bench/bare_loop.h"
#include "tools/bench/spread.h"
#include "tools/bench/stopwatch.h"

namespace shardmill {

// One loader under one checksum policy: the median turn of each kind, and where the time of all
// turns went.
struct LoaderFigures {
  Rate first_epoch;  // from BatchLoader::Open() on; the data are in memory
  Rate later_epoch;
  Spread of_loop;                 // the later epochs beside the bare loop
  Spread first_of_later;          // the first epoch beside the one behind it
  Spread first_of_later_written;  // the same in memory that was there before
  LoaderTimes first_times;
  LoaderTimes times;  // of the later epochs
};

// One set read with one number of threads.
struct ReadFigures {
  std::string set;     // "1.0 MiB", or the path
  std::string fields;  // "image raw, label zstd"
  uint64_t records = 0;
  uint64_t record_bytes = 0;  // decoded
  uint64_t batch = 0;
  int threads = 1;
  LoaderFigures unchecked;
  LoaderFigures first_touch;
  Rate gather;
  Spread gather_of_itself;  // how much the machine alone lets such ratios vary
  Rate gather_first;        // the same loop over files that have just been mapped
  Spread gather_first_of_later;
  Rate checked_first;  // … and computes the checksum of each record
  Spread checked_first_of_later;
  Rate pread;

  double BytesPerSecond(const Rate& rate) const {
    return rate.per_second() * static_cast<double>(record_bytes);
  }
};

// A label delivered as one_hot_f32, beside memset of as many bytes.
struct OneHotFigures {
  std::string label;          // how it is stored
  uint64_t output_bytes = 0;  // of a record
  int threads = 1;
  double bytes_per_second = 0;  // medians
  double memset_bytes_per_second = 0;
  Spread of_memset;
};

// From the start of a process to its first batch.
struct FirstBatchFigures {
  uint64_t records = 0;
  double best_seconds = 0;
  double median_seconds = 0;
};

// One epoch from the disk.
struct ColdFigures {
  std::string set;
  std::string fields;
  int threads = 1;
  uint64_t records = 0;
  uint64_t stored_bytes = 0;   // of all records
  Rate direct;                 // Io::kDirect
  Rate mapped;                 // Io::kMapped, with read-ahead
  Rate bare;                   // direct reads of the same ranges, at the best queue depth
  Spread direct_of_bare;       // from opening the loader on
  Spread direct_open_of_bare;  // once it is open, which is when the bare reads begin
  Spread mapped_of_bare;
  Spread bare_of_itself;
  uint32_t best_depth = 0;

  double BytesPerSecond(const Rate& rate) const {
    return rate.per_second() * static_cast<double>(stored_bytes) / static_cast<double>(records);
  }
};

struct MachineLimits {
  int threads = 1;
  MemoryRates memory;
};

struct ReadReport {
  int cpus = 1;
  int rounds = 1;
  std::vector<MachineLimits> limits;
  std::vector<ReadFigures> sets;
  std::vector<ColdFigures> cold;
  std::vector<OneHotFigures> one_hot;
  std::optional<FirstBatchFigures> first_batch;
};

}  // namespace shardmill
