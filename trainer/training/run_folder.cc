#include "trainer/training/run_folder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace shardmill {
namespace {

namespace fs = std::filesystem;

bool IsEpochCheckpoint(const std::string& name) {
  const size_t prefix = std::min<size_t>(6, name.size());
  return name == EpochCheckpoint(std::strtoull(name.c_str() + prefix, nullptr, 10));
}

bool IsCheckpoint(const std::string& name) {
  return name == kLastCheckpoint || name == kBestCheckpoint || IsEpochCheckpoint(name);
}

// See BatchDumpName.
bool IsBatchDump(const std::string& name) {
  constexpr std::string_view kPrefix = "bad-batch-step-", kSuffix = ".safetensors";
  return name.size() > kPrefix.size() + kSuffix.size() && name.rfind(kPrefix, 0) == 0 &&
         name.compare(name.size() - kSuffix.size(), kSuffix.size(), kSuffix) == 0;
}

bool IsReplaced(const std::string& name) { return IsCheckpoint(name) || IsBatchDump(name); }

bool IsLeftover(const std::string& name) {
  const size_t suffix = name.find(".tmp-");
  return suffix != std::string::npos && IsRunFile(name.substr(0, suffix));
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

bool IsRunFile(const std::string& name) {
  return IsReplaced(name) || name == kLogFile || name == kConfigFile;
}

Status RemoveRun(const std::string& folder) { return RemoveFiles(folder, IsReplaced); }

Status RemoveLeftovers(const std::string& folder) { return RemoveFiles(folder, IsLeftover); }

}  // namespace shardmill
