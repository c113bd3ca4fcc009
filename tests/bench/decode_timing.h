// What the decoder benchmarks share: files in memory, and the best time of several rounds.
#pragma once

#include <time.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace shardmill {

// The files of a folder that end in `extension`, sorted by name.
inline std::vector<std::string> ReadFiles(const std::string& folder, const std::string& extension) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> files;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return files;
}

// Processor time of this thread.
class BestTime {
 public:
  template <typename Function>
  void Run(const Function& function) {
    const double start = Now();
    function();
    seconds_ = std::min(seconds_, Now() - start);
  }
  double Seconds() const { return seconds_; }

 private:
  static double Now() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }

  double seconds_ = std::numeric_limits<double>::infinity();
};

}  // namespace shardmill
