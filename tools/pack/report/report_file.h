// The name of the HTML report in the folder of a data set.
#pragma once

namespace shardmill {

inline constexpr char kReportFileName[] = "pack-report.html";

}  // namespace shardmill
