#include "trainer/checkpoint/checkpoint_writer.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "proto/checkpoint.pb.h"
#include "reader/base/exception_status.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

// `name` becomes another name of the file, or a copy where the file system has no hard links. A
// file of that name is replaced in one step.
Status NameAlso(const std::string& path, const std::string& name) {
  const std::string temporary = name + ".tmp-link";
  std::error_code error;
  fs::remove(temporary, error);
  fs::create_hard_link(path, temporary, error);
  if (error) fs::copy_file(path, temporary, error);
  if (error) return IoError("cannot write " + temporary + ": " + error.message());
  fs::rename(temporary, name, error);
  // A rename between two names of one file does nothing, and leaves both.
  std::error_code ignored;
  fs::remove(temporary, ignored);
  return error ? IoError("cannot write " + name + ": " + error.message()) : OkStatus();
}

}  // namespace

CheckpointWriter::CheckpointWriter() : description_(std::make_unique<proto::Checkpoint>()) {}

CheckpointWriter::~CheckpointWriter() {
  if (thread_.joinable()) thread_.join();
}

Status CheckpointWriter::Write(const Aftermath& aftermath) const {
  RETURN_IF_ERROR(WriteCheckpoint(path_, *description_, tensors_));
  std::error_code error;
  if (!aftermath.remove.empty()) fs::remove(aftermath.remove, error);
  if (error) return IoError("cannot remove " + aftermath.remove + ": " + error.message());
  for (const std::string& name : aftermath.also) RETURN_IF_ERROR(NameAlso(path_, name));
  return OkStatus();
}

Status CheckpointWriter::Start(const std::string& path, const proto::Checkpoint& description,
                               const std::vector<TensorView>& tensors, Aftermath aftermath) {
  RETURN_IF_ERROR(Wait());
  path_ = path;
  *description_ = description;
  copies_.resize(tensors.size());
  tensors_ = tensors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    copies_[i].assign(tensors[i].data, tensors[i].data + tensors[i].elements);
    tensors_[i].data = copies_[i].data();
  }
  try {
    thread_ = std::thread([this, aftermath = std::move(aftermath)] {
      try {
        result_ = Write(aftermath);
      } catch (...) {
        result_ = ExceptionStatus(path_);
      }
    });
  } catch (const std::system_error& error) {
    return UnavailableError(std::string("cannot start a thread to write checkpoints: ") +
                            error.what());
  }
  return OkStatus();
}

Status CheckpointWriter::Wait() {
  if (thread_.joinable()) thread_.join();
  return result_;
}

}  // namespace shardmill
