#include "trainer/logs/run_log.h"

#include <utility>

#include "reader/base/file.h"
#include "trainer/training/run_folder.h"

namespace shardmill {

Result<RunLog> RunLog::Open(const RunLogOptions& options) {
  const std::string path = JoinPath(options.folder, kLogFile);
  ASSIGN_OR_RETURN(JsonlLog jsonl, options.place ? JsonlLog::Continue(path, *options.place)
                                                 : JsonlLog::Create(path));
  RunLog log(std::move(jsonl), options.classes);
  if (!options.tensorboard) return log;
  ASSIGN_OR_RETURN(TensorboardLog tensorboard,
                   options.place ? TensorboardLog::Continue(options.folder, *options.place)
                                 : TensorboardLog::Create(options.folder));
  log.tensorboard_.emplace(std::move(tensorboard));
  return log;
}

Status RunLog::WriteStart(uint64_t step, const std::function<void(JsonWriter*)>& add_members) {
  return jsonl_.WriteStart(step, add_members);
}

Status RunLog::Write(const StepEvent& event) {
  RETURN_IF_ERROR(jsonl_.Write(event));
  return tensorboard_ ? tensorboard_->Write(event) : OkStatus();
}

Status RunLog::Write(const OutlierEvent& event) { return jsonl_.Write(event); }

Status RunLog::Write(const EvaluationEvent& event) {
  RETURN_IF_ERROR(jsonl_.Write(event, classes_));
  return tensorboard_ ? tensorboard_->Write(event, classes_) : OkStatus();
}

Status RunLog::Write(const PictureEvent& event) {
  return tensorboard_ ? tensorboard_->Write(event) : OkStatus();
}

}  // namespace shardmill
