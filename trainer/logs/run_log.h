// The logs of a run in its output folder: log.jsonl and, unless it was asked not to, that of
// TensorBoard. Both are flushed with each event and continue where a resumed run goes on. Not for
// concurrent use.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/logs/jsonl_log.h"
#include "trainer/logs/run_events.h"
#include "trainer/logs/tensorboard_log.h"

namespace shardmill {

struct RunLogOptions {
  std::string folder;
  bool tensorboard = true;
  std::optional<LogPlace> place;     // goes on behind it; not given: starts afresh
  std::vector<std::string> classes;  // names, in the order of the ids
};

class RunLog {
 public:
  static Result<RunLog> Open(const RunLogOptions& options);

  // `add_members` writes further members of the object.
  Status WriteStart(uint64_t step, const std::function<void(JsonWriter*)>& add_members);
  Status Write(const StepEvent& event);
  Status Write(const OutlierEvent& event);
  Status Write(const EvaluationEvent& event);
  Status Write(const PictureEvent& event);  // TensorBoard only
  bool TakesPictures() const { return tensorboard_.has_value(); }

 private:
  RunLog(JsonlLog jsonl, std::vector<std::string> classes)
      : jsonl_(std::move(jsonl)), classes_(std::move(classes)) {}

  JsonlLog jsonl_;
  std::optional<TensorboardLog> tensorboard_;
  std::vector<std::string> classes_;
};

}  // namespace shardmill
