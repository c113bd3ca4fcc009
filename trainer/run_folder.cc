#include "trainer/run_folder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace shardmill {
namespace {

namespace fs = std::filesystem;

bool IsEpochCheckpoint(const std::string& name) {
  const size_t prefix = std::min<size_t>(6, name.size());
  return name == EpochCheckpoint(std::strtoull(name.c_str() + prefix, nullptr, 10));
}

bool IsLeftover(const std::string& name) {
  const size_t suffix = name.find(".tmp-");
  if (suffix == std::string::npos) return false;
  const std::string final_name = name.substr(0, suffix);
  return final_name == kLastCheckpoint || final_name == kBestCheckpoint || final_name == kLogFile ||
         final_name == kConfigFile || IsEpochCheckpoint(final_name);
}

// Removes the files whose name `chosen` picks. A folder that cannot be read is left as it is: who
// writes to it next says why.
Status RemoveFiles(const std::string& folder, bool (*chosen)(const std::string& name)) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!chosen(entry->path().filename().string())) continue;
    std::error_code failed;
    fs::remove(entry->path(), failed);
    if (failed) return IoError("cannot remove " + entry->path().string() + ": " + failed.message());
  }
  return OkStatus();
}

}  // namespace

std::string EpochCheckpoint(uint64_t epoch) {
  const std::string number = std::to_string(epoch);
  return "epoch-" + std::string(number.size() < 5 ? 5 - number.size() : 0, '0') + number + ".ckpt";
}

Status RemoveEpochCheckpoints(const std::string& folder) {
  return RemoveFiles(folder, IsEpochCheckpoint);
}

Status RemoveLeftovers(const std::string& folder) { return RemoveFiles(folder, IsLeftover); }

}  // namespace shardmill
