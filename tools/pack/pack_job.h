// A whole pack as the command runs it: read the folder, plan, pack, publish, report.
#pragma once

#include "reader/base/status.h"
#include "tools/pack/pack_options.h"

namespace shardmill {

enum class ReportStyle { kText, kJson };

// Prints the report to stdout, all else to stderr. The value is the program's exit code: done,
// or done with inputs skipped beyond what the policy allows.
Result<int> RunPackJob(const PackOptions& options, ReportStyle style);

}  // namespace shardmill
