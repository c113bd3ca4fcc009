// Writes checkpoints while training goes on.
//
// A checkpoint is copied, and a thread of its own puts it on the disk: the run waits for the copy
// only, or for the checkpoint before when the disk is slow. Not for concurrent use.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "reader/base/status.h"
#include "trainer/checkpoint/checkpoint.h"

namespace shardmill {

class CheckpointWriter {
 public:
  CheckpointWriter();
  ~CheckpointWriter();  // waits
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // What follows once the file at `path` is complete, in this order: a run that is killed on the
  // way goes on from what the last name meant before, and does all of it again.
  struct Aftermath {
    std::string remove;             // a file that goes; empty: none
    std::vector<std::string> also;  // the same file under more names, which are replaced
  };

  // Waits for the write before, copies, and starts to write. The error is that of a write before:
  // once there was one, nothing more is written.
  Status Start(const std::string& path, const proto::Checkpoint& description,
               const std::vector<TensorView>& tensors, Aftermath aftermath);
  // Returns when nothing is being written any more; the first error so far.
  Status Wait();

 private:
  Status Write(const Aftermath& aftermath) const;

  std::thread thread_;
  Status result_;  // of the thread, once it was joined
  std::string path_;
  std::unique_ptr<proto::Checkpoint> description_;
  std::vector<std::vector<float>> copies_;  // kept between checkpoints
  std::vector<TensorView> tensors_;         // of the copies
};

}  // namespace shardmill
