// The pieces of a Chrome trace: open the file in chrome://tracing or Perfetto.
//
// A trace is a list of events: names of processes and threads ("ph": "M") and spans of time
// ("ph": "X"), in microseconds from a zero that the caller chooses. Lists of several processes can
// be joined to one file. Not for concurrent use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardmill {

struct TraceSpan {
  std::string_view name;
  uint64_t begin_ns = 0;  // of the steady clock
  uint64_t end_ns = 0;
  uint64_t epoch = 0;
  uint64_t step = 0;
};

class TraceEvents {
 public:
  // What begins before the zero is shown from it on.
  explicit TraceEvents(uint64_t zero_ns) : zero_ns_(zero_ns) {}

  void NameProcess(int process, std::string_view name);
  void NameThread(int process, int thread, std::string_view name);
  void AddSpan(int process, int thread, const TraceSpan& span);

  // The events as JSON objects with commas between them.
  const std::string& text() const { return text_; }

 private:
  void AddName(const char* kind, int process, int thread, std::string_view name);
  void Add(const std::string& event);

  uint64_t zero_ns_;
  std::string text_;
};

// The JSON document of several lists of events; some may be empty. `spans_lost`, of spans for which
// there was no room, stands in "otherData".
std::string JoinTrace(const std::vector<std::string>& lists, uint64_t spans_lost);

}  // namespace shardmill
