#include "tests/reader/memory_cgroup.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

namespace shardmill {
namespace {

bool WriteText(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The folder of this process's group below `mount`: "…:memory:/…" (version 1) or "0::/…".
std::string OwnGroup(const std::string& mount, const std::string& controller) {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    if (line.substr(first + 1, second - first - 1) != controller) continue;
    const std::string path = line.substr(second + 1);
    return path == "/" ? mount : mount + path;
  }
  return "";
}

}  // namespace

MemoryCgroup::MemoryCgroup(uint64_t limit_bytes) {
  const std::string root = "/sys/fs/cgroup";
  std::string parent = OwnGroup(root + "/memory", "memory");
  version2_ = parent.empty();
  if (version2_) parent = OwnGroup(root, "");
  if (parent.empty()) {
    refused_ = "there is no memory controller of cgroups here";
    return;
  }
  folder_ = parent + "/shardmill-test-" + std::to_string(::getpid());
  if (version2_) WriteText(parent + "/cgroup.subtree_control", "+memory");
  if (::mkdir(folder_.c_str(), 0755) != 0) {
    refused_ = "cannot make the cgroup " + folder_ + ": " + std::strerror(errno);
    folder_.clear();
    return;
  }
  const std::string limit = folder_ + (version2_ ? "/memory.max" : "/memory.limit_in_bytes");
  if (!WriteText(limit, std::to_string(limit_bytes))) {
    refused_ = "cannot limit the memory of " + folder_;
  }
}

MemoryCgroup::~MemoryCgroup() {
  if (!folder_.empty()) ::rmdir(folder_.c_str());
}

bool MemoryCgroup::Join() const {
  return WriteText(folder_ + "/cgroup.procs", std::to_string(::getpid()));
}

uint64_t MemoryCgroup::PeakBytes() const {
  const std::string line =
      FirstLine(folder_ + (version2_ ? "/memory.peak" : "/memory.max_usage_in_bytes"));
  return line.empty() ? 0 : std::stoull(line);
}

}  // namespace shardmill
