// What `shardmill verify` prints: tables for people, JSON for programs.
//
// Pure functions; safe for concurrent use.
#pragma once

#include <string>

#include "reader/base/status.h"
#include "reader/verify.h"

namespace shardmill {

// The findings, a table for each file; empty when there are none.
std::string FindingsText(const VerifyReport& report, bool colored);
// "set: 7 records in 3 shards, 124.0 KiB: intact", or how many findings there are in which files.
std::string VerdictText(const std::string& path, const VerifyReport& report);
// One JSON object.
std::string VerifyReportJson(const std::string& path, const VerifyReport& report);

}  // namespace shardmill
