// Checkpoints: one file that appears whole or not at all, and in which every byte is checked.
//
//   0   64 bytes  "SMILLCKP", u32 version, u32 zero, u64 bytes of the description, u64 bytes of
//                 the file, u64 XXH3-64 of the description, 16 zeros, u64 XXH3-64 of the 56
//                 bytes before it; all little-endian
//   64            description (proto::Checkpoint), then the flat buffers of f32 in the order of
//                 Checkpoint.tensors; each part starts at a multiple of 64, gaps are zero
//
// The checksums find damage, not malice. Free functions, safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

namespace proto {
class Checkpoint;
}  // namespace proto

struct TensorView {
  std::string name;
  const float* data = nullptr;
  int64_t elements = 0;
};

// Fills in description.tensors and writes the file: temporary name, flush, rename, flush of the
// folder. After an error the file of that name, if any, is as it was.
Status WriteCheckpoint(const std::string& path, proto::Checkpoint description,
                       const std::vector<TensorView>& tensors);

class LoadedCheckpoint {
 public:
  // NotFound when there is no such file; DataLoss with the path when it is damaged, cut or no
  // checkpoint.
  static Result<LoadedCheckpoint> Read(const std::string& path);
  // The same of a file's content that is already here. `path` is for messages.
  static Result<LoadedCheckpoint> FromBytes(const std::string& path, std::string bytes);
  ~LoadedCheckpoint();
  LoadedCheckpoint(LoadedCheckpoint&&) noexcept;
  LoadedCheckpoint& operator=(LoadedCheckpoint&&) noexcept;

  const std::string& path() const { return path_; }
  const std::string& bytes() const { return bytes_; }  // of the whole file
  const proto::Checkpoint& description() const { return *description_; }

  // Copies a buffer out; DataLoss when it is missing or has another number of elements.
  Status CopyTensor(const std::string& name, float* out, int64_t elements) const;

 private:
  LoadedCheckpoint(std::string path, std::string bytes);
  Status Parse();

  std::string path_;
  std::string bytes_;  // the file
  std::unique_ptr<proto::Checkpoint> description_;
};

// OK when the run that `before` describes can go on as `now` describes: the same model, data set
// and order of records. InvalidArgument says what differs and what to do.
Status CheckResumable(const proto::Checkpoint& before, const proto::Checkpoint& now);

}  // namespace shardmill
