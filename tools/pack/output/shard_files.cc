#include "tools/pack/output/shard_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "reader/base/file.h"
#include "reader/base/file_remnants.h"
#include "reader/manifest.h"
#include "reader/names.h"
#include "tools/pack/output/pack_state.h"
#include "tools/pack/output/rank_marks.h"
#include "tools/pack/report/report_file.h"

namespace shardmill {
namespace {

constexpr std::string_view kClaimPrefix = ".claim-";

}  // namespace

std::string FinalNameOf(const std::string& leftover) {
  if (leftover.rfind(kClaimPrefix, 0) == 0) {
    const std::string shard = leftover.substr(kClaimPrefix.size());
    return ParseShardFileName(shard).has_value() ? shard : "";
  }
  if (IsRankMark(leftover)) return leftover;
  const std::string name(NameWithoutTemporarySuffix(leftover));
  const bool is_ours = name == kManifestFileName || name == kPackStateName ||
                       name == kReportFileName || IsRankMark(name) ||
                       ParseShardFileName(name).has_value();
  return is_ours ? name : "";
}

Result<std::vector<std::string>> ShardFileNames(const std::string& folder, ShardFileKind kind) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    const bool wanted = kind == ShardFileKind::kShards ? ParseShardFileName(name).has_value()
                                                       : !FinalNameOf(name).empty();
    if (wanted) names.push_back(std::move(name));
  }
  if (error) return ErrnoError("cannot read folder " + folder, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

std::string ClaimName(const std::string& shard_file) {
  return std::string(kClaimPrefix) + shard_file;
}

bool FileExists(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0;
}

Status RemoveFile(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return OkStatus();
  return ErrnoError("cannot remove " + path, errno);
}

Status RemoveFiles(const std::string& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) RETURN_IF_ERROR(RemoveFile(JoinPath(folder, name)));
  return OkStatus();
}

Status MoveFile(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return OkStatus();
  return ErrnoError("cannot move " + from + " to " + to, errno);
}

}  // namespace shardmill
