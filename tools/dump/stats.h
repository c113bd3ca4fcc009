// `shardmill dump stats`: what was counted again, in words and in JSON.
//
// Pure functions; safe for concurrent use.
#pragma once

#include <string>
#include <vector>

#include "reader/schema.h"
#include "tools/dump/recount.h"

namespace shardmill {

struct SplitStats {
  std::string name;
  SplitRecount recount;
  std::vector<std::string> differences;  // see CompareStatistics
};

std::string StatsText(const std::string& name, const RecordSchema& schema,
                      const std::vector<SplitStats>& splits, bool colored);
std::string StatsJson(const std::string& name, const RecordSchema& schema,
                      const std::vector<SplitStats>& splits);

}  // namespace shardmill
