// A TensorBoard log of a run, OUTPUT/events.out.tfevents.…: scalars of each step and evaluation,
// the IoU of each class and their histogram, pictures of predictions.
//
// Each event is written whole and at once, so that a run that is killed leaves at most one cut
// event at the end of the file, which readers pass over. A run that is resumed from a checkpoint
// continues the file: events of later steps, which are run again, are taken out first. Scores and
// pictures stand below the name of their split; one that is named like what stands there otherwise
// is "evaluation_NAME". Not for concurrent use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/logs/run_events.h"

namespace shardmill {

namespace proto {
class TensorboardEvent;
}  // namespace proto

class TensorboardLog {
 public:
  // Starts a file in the folder, after removing those that earlier runs left there.
  static Result<TensorboardLog> Create(const std::string& folder);
  // Keeps the events of an earlier file up to `place`, where there is one.
  static Result<TensorboardLog> Continue(const std::string& folder, const LogPlace& place);

  ~TensorboardLog();
  TensorboardLog(TensorboardLog&& other) noexcept;
  TensorboardLog& operator=(TensorboardLog&&) = delete;

  Status Write(const StepEvent& event);
  // Class names stand in the order of the ids.
  Status Write(const EvaluationEvent& event, const std::vector<std::string>& classes);
  Status Write(const PictureEvent& event);

  const std::string& path() const { return path_; }

 private:
  TensorboardLog(std::string path, int descriptor) : path_(std::move(path)), file_(descriptor) {}
  static Result<TensorboardLog> Open(const std::string& path);
  Status Append(proto::TensorboardEvent* event);

  std::string path_;
  int file_ = -1;
};

}  // namespace shardmill
