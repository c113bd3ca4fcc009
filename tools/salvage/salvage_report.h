// What `shardmill verify --salvage` prints: tables for people, JSON for programs.
//
// Pure functions; safe for concurrent use.
#pragma once

#include <string>

#include "tools/salvage/salvage.h"

namespace shardmill {

// The losses, a table for each file; empty when there are none.
std::string LossesText(const SalvageReport& report, bool colored);
// "saved: 7 records in 3 shards, 124 KiB; 2 records of set were lost"
std::string SalvageVerdict(const std::string& path, const std::string& out,
                           const SalvageReport& report);
// One JSON object.
std::string SalvageReportJson(const std::string& path, const std::string& out,
                              const SalvageReport& report);

}  // namespace shardmill
