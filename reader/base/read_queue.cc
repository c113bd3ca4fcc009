#include "reader/base/read_queue.h"

#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

namespace shardmill {
namespace {

constexpr uint32_t kMostDepth = 4096;

Status Refused(const std::string& path, int error_number) {
  if (error_number != EINVAL && error_number != EOPNOTSUPP) {
    return ErrnoError("cannot open " + path + " for direct reads", error_number);
  }
  return IoError("the file system of " + path +
                 " refuses direct reads (O_DIRECT); read it mapped instead");
}

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

struct ReadQueue::Impl {
  io_uring ring = {};
  uint32_t depth = 0;
};

ReadQueue::ReadQueue(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ReadQueue::~ReadQueue() { io_uring_queue_exit(&impl_->ring); }

Result<std::unique_ptr<ReadQueue>> ReadQueue::Create(uint32_t depth) {
  if (depth < 1 || depth > kMostDepth) {
    return InvalidArgumentError("the queue depth is " + std::to_string(depth) +
                                "; it must be 1 to " + std::to_string(kMostDepth));
  }
  auto impl = std::make_unique<Impl>();
  impl->depth = depth;
  const int result = io_uring_queue_init(depth, &impl->ring, 0);
  if (result < 0) {
    return ErrnoError("direct reads need io_uring, which this system refuses; read mapped instead",
                      -result);
  }
  return std::unique_ptr<ReadQueue>(new ReadQueue(std::move(impl)));
}

uint32_t ReadQueue::depth() const { return impl_->depth; }

bool ReadQueue::RegisterBuffers(const std::vector<iovec>& buffers) {
  return io_uring_register_buffers(&impl_->ring, buffers.data(),
                                   static_cast<unsigned>(buffers.size())) == 0;
}

void ReadQueue::Push(const Read& read) {
  io_uring_sqe* entry = io_uring_get_sqe(&impl_->ring);
  SHARDMILL_CHECK(entry != nullptr);
  if (read.registered == kNotRegistered) {
    io_uring_prep_read(entry, read.descriptor, read.buffer, read.bytes, read.offset);
  } else {
    io_uring_prep_read_fixed(entry, read.descriptor, read.buffer, read.bytes, read.offset,
                             read.registered);
  }
  io_uring_sqe_set_data64(entry, read.tag);
}

Status ReadQueue::Submit() {
  int result = 0;
  do {
    result = io_uring_submit(&impl_->ring);
  } while (result == -EINTR || result == -EAGAIN || result == -EBUSY);
  return result < 0 ? ErrnoError("cannot submit direct reads", -result) : OkStatus();
}

Result<size_t> ReadQueue::Wait(Completion* completions, size_t most) {
  io_uring_cqe* entry = nullptr;
  int result = 0;
  do {
    result = io_uring_wait_cqe(&impl_->ring, &entry);
  } while (result == -EINTR);
  if (result < 0) return ErrnoError("cannot wait for direct reads", -result);
  size_t count = 0;
  while (entry != nullptr) {
    completions[count].tag = io_uring_cqe_get_data64(entry);
    completions[count].result = entry->res;
    ++count;
    io_uring_cqe_seen(&impl_->ring, entry);
    if (count == most || io_uring_peek_cqe(&impl_->ring, &entry) != 0) break;
  }
  return count;
}

Result<int> OpenDirect(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (descriptor < 0) {
    if (errno == EMFILE) {
      return IoError("cannot open " + path + " for direct reads: this process may have no more " +
                     "open files; raise the limit (ulimit -n) or read mapped instead");
    }
    return Refused(path, errno);
  }
  const std::unique_ptr<void, FreeMemory> page(
      std::aligned_alloc(kDirectAlignment, kDirectAlignment));
  if (page != nullptr && ::pread(descriptor, page.get(), kDirectAlignment, 0) < 0) {
    const int error_number = errno;
    ::close(descriptor);
    return Refused(path, error_number);
  }
  return descriptor;
}

}  // namespace shardmill
