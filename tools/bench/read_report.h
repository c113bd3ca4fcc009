// The report of `shardmill bench read`: tables for people, JSON, and a plot.
//
// Pure functions; safe for concurrent use.
#pragma once

#include <string>

#include "tools/bench/read_figures.h"
#include "tools/bench/time_plot.h"

namespace shardmill {

std::string ReadReportText(const ReadReport& report, bool colored);
std::string ReadReportJson(const ReadReport& report);
// Where the time of the loader's threads went, a bar for each set, number of threads and policy.
StackedPlot ReadReportPlot(const ReadReport& report);

}  // namespace shardmill
