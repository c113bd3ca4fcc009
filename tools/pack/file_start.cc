#include "tools/pack/file_start.h"

#include <fcntl.h>
#include <unistd.h>

namespace shardmill {

std::string ReadFileStart(const std::string& path, uint64_t bytes) {
  std::string start(bytes, '\0');
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return "";
  ssize_t found = ::pread(file, start.data(), start.size(), 0);
  ::close(file);
  start.resize(found < 0 ? 0 : static_cast<size_t>(found));
  return start;
}

}  // namespace shardmill
