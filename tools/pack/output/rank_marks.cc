#include "tools/pack/output/rank_marks.h"

#include <string_view>

#include "reader/base/file.h"

namespace shardmill {
namespace {

constexpr std::string_view kPrefix = ".rank-";
constexpr std::string_view kLeft = "left";
constexpr uint64_t kMaxMarkBytes = 4096;

std::string MarkPath(const std::string& folder, int rank) {
  return JoinPath(folder, std::string(kPrefix) + std::to_string(rank));
}

}  // namespace

std::string JobText(const Launch& launch) {
  return launch.job.empty() ? "" : ", job " + launch.job;
}

Status MarkRank(const std::string& folder, const Launch& launch, RankPresence presence) {
  if (launch.job.empty()) return OkStatus();
  const std::string text =
      (presence == RankPresence::kLeft ? std::string(kLeft) : "came") + JobText(launch) + "\n";
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(MarkPath(folder, launch.rank)));
  RETURN_IF_ERROR(file.Append(text.data(), text.size()));
  return file.Commit();
}

RankPresence PresenceOfRank(const std::string& folder, const Launch& launch, int rank) {
  if (launch.job.empty()) return RankPresence::kLeft;
  const Result<std::string> text = ReadFile(MarkPath(folder, rank), kMaxMarkBytes);
  if (!text.ok()) return RankPresence::kNeverCame;
  const size_t word = text->find(',');
  if (word == std::string::npos || text->substr(word) != JobText(launch) + "\n") {
    return RankPresence::kNeverCame;
  }
  return text->substr(0, word) == kLeft ? RankPresence::kLeft : RankPresence::kCame;
}

bool IsRankMark(const std::string& name) {
  if (name.rfind(kPrefix, 0) != 0 || name.size() == kPrefix.size()) return false;
  return name.find_first_not_of("0123456789", kPrefix.size()) == std::string::npos;
}

}  // namespace shardmill
