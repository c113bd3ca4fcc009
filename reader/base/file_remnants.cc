#include "reader/base/file_remnants.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "reader/base/file.h"

namespace shardmill {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// A writer holds a lock on its file until that has its name.
void RemoveUnlessInUse(const std::string& path) {
  // O_NONBLOCK: a pipe of that name must not be waited for.
  const int file = ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  struct stat locked, named;
  const bool is_ours = ::flock(file, LOCK_EX | LOCK_NB) == 0 && ::fstat(file, &locked) == 0 &&
                       ::lstat(path.c_str(), &named) == 0 && S_ISREG(locked.st_mode) &&
                       locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
  if (is_ours) ::unlink(path.c_str());
  ::close(file);
}

}  // namespace

std::string_view NameWithoutTemporarySuffix(std::string_view name) {
  constexpr std::string_view kSuffix = ".tmp-";
  const size_t end = name.rfind(kSuffix);
  if (end == std::string_view::npos) return {};
  const std::string_view process = name.substr(end + kSuffix.size());
  const size_t dash = std::min(process.find('-'), process.size());
  const bool is_attempt = dash == process.size() || IsNumber(process.substr(dash + 1));
  return IsNumber(process.substr(0, dash)) && is_attempt ? name.substr(0, end) : std::string_view();
}

void RemoveRemnants(const std::string& path) {
  const std::string own = FileName(path);
  RemoveRemnantsIn(FolderName(path), [&own](const std::string& name) { return name == own; });
}

void RemoveRemnantsIn(const std::string& folder,
                      const std::function<bool(const std::string& final_name)>& is_ours) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::string final_name(NameWithoutTemporarySuffix(name));
    if (!final_name.empty() && is_ours(final_name)) RemoveUnlessInUse(JoinPath(folder, name));
  }
}

}  // namespace shardmill
