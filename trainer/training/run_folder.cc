#include "trainer/training/run_folder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>

#include "reader/base/file.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

// The epoch of "epoch-00012.ckpt".
std::optional<uint64_t> EpochOf(const std::string& name) {
  const size_t prefix = std::min<size_t>(6, name.size());
  const uint64_t epoch = std::strtoull(name.c_str() + prefix, nullptr, 10);
  return name == EpochCheckpoint(epoch) ? std::optional(epoch) : std::nullopt;
}

bool IsCheckpoint(const std::string& name) {
  return name == kLastCheckpoint || name == kBestCheckpoint || EpochOf(name);
}

bool IsFramed(const std::string& name, std::string_view start, std::string_view end) {
  return name.size() > start.size() + end.size() && name.rfind(start, 0) == 0 &&
         name.compare(name.size() - end.size(), end.size(), end) == 0;
}

// See BatchDumpName.
bool IsBatchDump(const std::string& name) {
  return IsFramed(name, "bad-batch-step-", ".safetensors");
}

// See TensorboardLog.
bool IsTensorboardLog(const std::string& name) {
  return IsFramed(name, "events.out.tfevents.", ".shardmill");
}

bool IsReplaced(const std::string& name) {
  return IsCheckpoint(name) || IsBatchDump(name) || IsTensorboardLog(name);
}

bool IsLeftover(const std::string& name) {
  const size_t suffix = name.find(".tmp-");
  return suffix != std::string::npos && IsRunFile(name.substr(0, suffix));
}

// Removes the files whose name `chosen` picks. A folder that cannot be read is left as it is: who
// writes to it next says why.
Status RemoveFiles(const std::string& folder,
                   const std::function<bool(const std::string& name)>& chosen) {
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

std::string CheckpointFile(const std::string& path, const char* name) {
  std::error_code error;
  return fs::is_directory(path, error) ? JoinPath(path, name) : path;
}

bool IsRunFile(const std::string& name) {
  return IsReplaced(name) || name == kLogFile || name == kConfigFile;
}

std::string FindCheckpoint(const std::string& folder) {
  std::string found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (IsCheckpoint(name) && name > found) found = name;
  }
  return found;
}

Status RemoveRun(const std::string& folder) { return RemoveFiles(folder, IsReplaced); }

Status RemoveStaleEpochs(const std::string& folder, uint64_t done, uint64_t kept) {
  return RemoveFiles(folder, [&](const std::string& name) {
    const std::optional<uint64_t> epoch = EpochOf(name);
    return epoch && (*epoch > done || (kept > 0 && *epoch + kept <= done));
  });
}

Status RemoveLeftovers(const std::string& folder) { return RemoveFiles(folder, IsLeftover); }

}  // namespace shardmill
