// What each verb of `shardmill dump` does, behind the option table in tools/dump_command.cc.
//
// Results go to stdout, remarks to stderr. The value is the exit code of a run that did its work.
#pragma once

#include <cstdint>
#include <string>

#include "reader/base/status.h"

namespace shardmill {

struct DumpOptions {
  std::string path;
  std::string split;   // empty: the first one (stats: all)
  std::string output;  // of a picture; empty: a name made from set, split and record
  std::string field;   // shown as the image; empty: the image field
  std::string key;     // show: instead of `record`
  std::string range;   // records: "A:B"
  uint64_t record = 0;
  uint64_t limit = 20;  // records; 0: no limit
  uint64_t count = 12;  // sheet
  double opacity = 0.55;
  uint64_t jobs = 0;  // stats; 0: all cores
  bool json = false;
  bool quiet = false;
};

Result<int> RunDumpInfo(const DumpOptions& options);
Result<int> RunDumpRecords(const DumpOptions& options);
Result<int> RunDumpShow(const DumpOptions& options);
Result<int> RunDumpSheet(const DumpOptions& options);
Result<int> RunDumpStats(const DumpOptions& options);

// Records [first, end) that "A:B" (either may be missing), the limit and the number of records
// mean. InvalidArgument when it is no range or begins after the last record.
struct RecordRange {
  uint64_t first = 0;
  uint64_t end = 0;
};
Result<RecordRange> ParseRecordRange(const std::string& range, uint64_t limit, uint64_t records);

// "camvid-shards-train-12.png": letters, digits, '.', '_' and '-' only.
std::string PictureFileName(const std::string& set, const std::string& split,
                            const std::string& what);

}  // namespace shardmill
