#include "reader/unfinished_pack.h"

#include <filesystem>
#include <system_error>

#include "reader/base/file.h"
#include "reader/base/folder_lock.h"
#include "reader/names.h"

namespace shardmill {
namespace {

UnfinishedPack Describe(const std::string& folder, const std::string& what,
                        const std::string& trace, const std::string& command) {
  const std::string holders = FolderLock::Holders(folder);
  if (!holders.empty()) {
    return {what + " is at work in " + folder + " (" + holders + "); wait until it has ended",
            true};
  }
  return {folder + " holds " + what + " that was stopped (" + trace + "); give " + command +
              " again to complete it",
          false};
}

}  // namespace

UnfinishedPack FindUnfinishedPack(const std::string& folder) {
  std::error_code error;
  const std::string incoming = JoinPath(folder, kIncomingName);
  if (std::filesystem::is_directory(incoming, error) &&
      !std::filesystem::is_empty(incoming, error)) {
    return Describe(folder, "a pack with --overwrite", kIncomingName,
                    "the same pack command with --overwrite");
  }
  if (!std::filesystem::exists(JoinPath(folder, kPackStateName), error)) return {};
  return Describe(folder, "a pack", kPackStateName, "the same pack command");
}

}  // namespace shardmill
