// log.jsonl: one JSON object per line, appended and flushed as the run goes on.
//
//   {"kind": "start", "step": …}        each start of the program, resumed ones too
//   {"kind": "step", "step": …}         each step; total_ms of it is wait_ms, copy_ms,
//                                       communication_ms and compute_ms (see StepTimes)
//   {"kind": "outlier", "step": …}      before the line of a step whose loss stands out
//   {"kind": "evaluation", "step": …}   each evaluation
//
// A run that is resumed from a checkpoint continues the file: lines of later steps, which are run
// again, are taken out first, so that each step and evaluation stands in it once. Not for
// concurrent use.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/logs/open_log.h"
#include "trainer/logs/run_events.h"

namespace shardmill {

class JsonWriter;

class JsonlLog {
 public:
  // Starts an empty file, or keeps the lines of an existing one up to `place`.
  static Result<JsonlLog> Create(const std::string& path);
  static Result<JsonlLog> Continue(const std::string& path, const LogPlace& place);
  // False for a regular file that is neither empty nor begins as a log does.
  static bool MayReplace(const std::string& path);

  // `add_members` writes further members of the object.
  Status WriteStart(uint64_t step, const std::function<void(JsonWriter*)>& add_members);
  Status Write(const StepEvent& event);
  Status Write(const OutlierEvent& event);
  // Class names stand in the order of the ids.
  Status Write(const EvaluationEvent& event, const std::vector<std::string>& classes);

 private:
  struct CloseFile {
    void operator()(FILE* file) const { std::fclose(file); }
  };
  JsonlLog(std::string path, FILE* file) : path_(std::move(path)), file_(file) {}
  static Result<JsonlLog> Open(const std::string& path, LogStart start);
  Status WriteLine(const std::string& line);

  std::string path_;
  std::unique_ptr<FILE, CloseFile> file_;
};

}  // namespace shardmill
