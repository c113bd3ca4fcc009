// A Chrome trace, read back with a JSON parser that knows nothing of the writer.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace shardmill {

struct ParsedSpan {
  std::string name;
  double begin_us = 0;
  double end_us = 0;
  double step = 0;
};

struct ParsedTrace {
  using Thread = std::pair<double, double>;  // process and thread id
  std::map<double, std::string> processes;   // names
  std::map<Thread, std::string> lanes;       // names
  std::map<Thread, std::vector<ParsedSpan>> spans;
  double spans_lost = 0;

  // Fails the test when there is no such lane.
  std::vector<ParsedSpan> SpansOf(double process, const std::string& lane) const;
};

// Fails the test where the text breaks the schema of a Chrome trace: a document of events that name
// a process or thread, or are complete spans with numbers for process, thread, begin and length.
ParsedTrace ParseTrace(const std::string& text);

}  // namespace shardmill
