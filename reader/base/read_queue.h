// Many reads at once, past the page cache if the descriptors say so: a thin layer over io_uring.
//
//   ASSIGN_OR_RETURN(auto queue, ReadQueue::Create(32));
//   queue->Push(read);                     // up to 32 that have not been waited for
//   RETURN_IF_ERROR(queue->Submit());
//   ASSIGN_OR_RETURN(size_t done, queue->Wait(completions, 32));
//
// Push() and Submit() are for one thread at a time, and so is Wait(); the two may overlap.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

class ReadQueue {
 public:
  static constexpr int kNotRegistered = -1;
  struct Read {
    int descriptor = -1;
    void* buffer = nullptr;
    uint32_t bytes = 0;
    uint64_t offset = 0;              // in the file
    uint64_t tag = 0;                 // comes back with the completion
    int registered = kNotRegistered;  // number of the registered buffer that `buffer` lies in
  };
  struct Completion {
    uint64_t tag = 0;
    int64_t result = 0;  // bytes, or a negative errno value
  };

  // Io when the kernel has no io_uring or refuses it to this process, with the reason.
  static Result<std::unique_ptr<ReadQueue>> Create(uint32_t depth);
  // All reads must have been waited for: the kernel writes to their buffers until then.
  ~ReadQueue();
  ReadQueue(const ReadQueue&) = delete;
  ReadQueue& operator=(const ReadQueue&) = delete;

  uint32_t depth() const;

  // Saves the kernel the pinning of pages at each read. False when it refuses (a limit on locked
  // memory, a buffer over 1 GiB): reads then go without.
  bool RegisterBuffers(const std::vector<iovec>& buffers);

  // Requires that fewer than depth() reads are under way.
  void Push(const Read& read);
  Status Submit();
  // Waits for at least one read, and takes up to `most` that are done. Requires that one is under
  // way.
  Result<size_t> Wait(Completion* completions, size_t most);

 private:
  struct Impl;
  explicit ReadQueue(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// What O_DIRECT asks of offsets, sizes and addresses: enough for every disk of today.
constexpr uint64_t kDirectAlignment = 4096;

// Opens a file for reads past the page cache. Io names the file and says when it is the file
// system that refuses, which some do only at the first read: so one is tried.
Result<int> OpenDirect(const std::string& path);

}  // namespace shardmill
