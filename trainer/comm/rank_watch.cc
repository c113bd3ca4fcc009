#include "trainer/comm/rank_watch.h"

#include <algorithm>
#include <cstdio>

namespace shardmill {
namespace {

constexpr double kLongestAnswerSeconds = 2;
// When all ranks are there and the call still does not end, it may be large or the network slow.
constexpr int kExtensions = 5;
constexpr size_t kMaxRanksExplained = 8;

std::string SecondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f s", seconds < 10 ? 1 : 0, seconds);
  return text;
}

}  // namespace

RankWatch::RankWatch(ControlChannel* control, const RankLayout& layout, double timeout_seconds)
    : control_(control),
      layout_(layout),
      timeout_seconds_(timeout_seconds),
      answer_seconds_(std::min(kLongestAnswerSeconds, timeout_seconds / 4)),
      roll_(layout.rank, layout.size),
      answered_(layout.size) {}

Status RankWatch::Started(const CallPosition& own) {
  if (auto difference = roll_.Record(layout_.rank, own)) return UnavailableError(*difference);
  return control_->Send(layout_.rank == 0 ? 1 : 0, ControlKind::kNote, own);
}

Status RankWatch::Listen(const CallPosition& own) {
  for (;;) {
    int source = 0;
    ASSIGN_OR_RETURN(const bool found, control_->Take(&incoming_, &source));
    if (!found) return OkStatus();
    RETURN_IF_ERROR(Handle(incoming_, source, own));
  }
}

Status RankWatch::Handle(const ControlMessage& message, int source, const CallPosition& own) {
  switch (message.kind) {
    case ControlKind::kNote:
      if (auto difference = roll_.Record(source, message.position)) {
        return UnavailableError(*difference);
      }
      return OkStatus();
    case ControlKind::kAsk:
      return control_->Send(source, ControlKind::kAnswer, own);
    case ControlKind::kAnswer:
      answered_[source] = 1;
      return OkStatus();
    case ControlKind::kAbort:
      failed_remotely_ = true;
      return Status(static_cast<StatusCode>(message.status_code), std::string(message.text_view()));
  }
  return InternalError("control message of an unknown kind");
}

// Rank 0 comes first; the others leave it the time to ask and to tell them.
double RankWatch::OwnTurnSeconds() const {
  return timeout_seconds_ + std::min(layout_.rank, 2) * answer_seconds_ * 1.25;
}

RankWatch::Wait RankWatch::BeginWait(const CallPosition& call) const {
  Wait wait;
  wait.call = call;
  wait.ask_at_seconds = OwnTurnSeconds();
  return wait;
}

Status RankWatch::Check(Wait* wait, double waited_seconds) {
  if (timeout_seconds_ <= 0 || waited_seconds < wait->ask_at_seconds) return OkStatus();
  if (!wait->asked) {
    wait->asked = true;
    return Ask(wait->call);
  }
  if (waited_seconds < wait->ask_at_seconds + answer_seconds_) return OkStatus();
  return Verdict(wait, waited_seconds);
}

Status RankWatch::Ask(const CallPosition& call) {
  std::fill(answered_.begin(), answered_.end(), 0);
  answered_[layout_.rank] = 1;
  const int asked = layout_.rank == 0 ? layout_.size : 1;
  for (int rank = 0; rank < asked; ++rank) {
    if (rank != layout_.rank) RETURN_IF_ERROR(control_->Send(rank, ControlKind::kAsk, call));
  }
  return OkStatus();
}

std::vector<int> RankWatch::Silent() const {
  std::vector<int> silent;
  const int asked = layout_.rank == 0 ? layout_.size : 1;
  for (int rank = 0; rank < asked; ++rank) {
    if (!answered_[rank]) silent.push_back(rank);
  }
  return silent;
}

Status RankWatch::Verdict(Wait* wait, double waited_seconds) {
  const std::vector<int> silent = Silent();
  if (!silent.empty()) return SilentError(silent, waited_seconds);
  if (layout_.rank == 0) {
    const std::vector<int> absent = roll_.NotStarted(wait->call.sequence);
    if (!absent.empty()) return AbsentError(absent, waited_seconds);
    if (wait->extensions == kExtensions) {
      return UnavailableError("all ranks have come to this call, but it has not ended in " +
                              SecondsText(waited_seconds) + ": the network may be stuck");
    }
    ++wait->extensions;
  }
  // Rank 0 is there and will find out who is missing; or all are there.
  wait->asked = false;
  wait->ask_at_seconds = waited_seconds + timeout_seconds_;
  return OkStatus();
}

Status RankWatch::SilentError(const std::vector<int>& silent, double waited_seconds) {
  found_silent_ = true;
  std::string text = RanksText(silent) + " of " + std::to_string(layout_.size) +
                     (silent.size() == 1 ? " is" : " are") + " missing and " +
                     (silent.size() == 1 ? "does" : "do") + " not answer after " +
                     SecondsText(waited_seconds) + LastSeen(silent);
  text += ". Stopped, hanging, busy for too long, or the host is gone (--rank-timeout " +
          SecondsText(timeout_seconds_) + ")";
  return UnavailableError(text);
}

Status RankWatch::AbsentError(const std::vector<int>& absent, double waited_seconds) const {
  return UnavailableError(RanksText(absent) + " of " + std::to_string(layout_.size) +
                          (absent.size() == 1 ? " has" : " have") + " not come to this call in " +
                          SecondsText(waited_seconds) + " but " +
                          (absent.size() == 1 ? "waits" : "wait") + " elsewhere" +
                          LastSeen(absent) + ". Were all ranks started with the same options?");
}

// Only ranks 0 and 1 get notes; elsewhere there is nothing to tell.
std::string RankWatch::LastSeen(const std::vector<int>& ranks) const {
  if (layout_.rank > 1) return "";
  std::string text;
  for (size_t i = 0; i < std::min(ranks.size(), kMaxRanksExplained); ++i) {
    text += "; rank " + std::to_string(ranks[i]) + " was last seen at " +
            PositionText(roll_.Latest(ranks[i]), CallState::kStarted);
  }
  return text;
}

std::string RankWatch::NotThere(const CallPosition& call) const {
  if (layout_.rank != 0) return "";
  const std::vector<int> absent = roll_.NotStarted(call.sequence);
  return absent.empty() ? "" : RanksText(absent);
}

}  // namespace shardmill
