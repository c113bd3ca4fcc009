// pack-report.html: what was packed, on one page that needs nothing else.
//
// Made from the finished data set, so it is the same whoever packed it; readers never need it. No
// time, no host and no absolute path is in it. Free functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/report/report_file.h"

namespace shardmill {

// What the data set itself does not say.
struct ReportContext {
  std::string source;              // how the user called the source folder
  std::vector<std::string> notes;  // how the folder was understood
  uint64_t inputs = 0;
  uint64_t source_bytes = 0;  // of all inputs, as listed
  // What was converted, and how many images; empty where it is not known.
  std::vector<std::pair<std::string, uint64_t>> conversions;
  int threads = 1;  // that draw the samples; the page is the same
};

Result<std::string> MakeHtmlReport(const std::string& folder, const ReportContext& context);

// Writes it into the folder, whole or not at all.
Status WriteHtmlReport(const std::string& folder, const ReportContext& context);

}  // namespace shardmill
