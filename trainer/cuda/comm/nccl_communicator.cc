#include "trainer/cuda/comm/nccl_communicator.h"

#include <algorithm>
#include <utility>

#include "trainer/comm/patience.h"

namespace shardmill {
namespace {

// How often in each deadline the events are looked at, of which a step may have hundreds.
constexpr double kLooksPerDeadline = 50;
// A captured step takes as long as it did before it was captured, give or take.
constexpr double kLongestWaits = 2;
// Over several hosts NCCL takes its time.
constexpr int kDeadlinesToConnect = 6;
// For the own work of a GPU between two sums. Where all GPUs hang in it nobody waits for a sum.
constexpr int kDeadlinesWithoutSum = 30;

}  // namespace

Result<std::unique_ptr<NcclCommunicator>> NcclCommunicator::Create(
    const Parts& parts, const CommunicatorOptions& options) {
  std::unique_ptr<NcclCommunicator> created(new NcclCommunicator(parts, options));
  ASSIGN_OR_RETURN(created->stream_, parts.runtime->CreateStream());
  RETURN_IF_ERROR(created->Connect());
  // What waits for the device waits for the other ranks too.
  parts.runtime->set_watch([nccl = created.get()](double waited_seconds) {
    RETURN_IF_ERROR(nccl->Progress());
    const Status status = nccl->CheckTime(waited_seconds, "the work of the GPU");
    return status.ok() ? OkStatus() : nccl->Fail(status);
  });
  return created;
}

NcclCommunicator::~NcclCommunicator() {
  parts_.runtime->set_watch(nullptr);
  AbortNccl();
  for (const Slot& slot : slots_) {
    for (const EventHandle event : {slot.made, slot.summed}) {
      if (event != nullptr && !parts_.runtime->DestroyEvent(event).ok()) return;  // it is lost
    }
  }
  if (stream_ != nullptr && !parts_.runtime->DestroyStream(stream_).ok()) return;
}

Status NcclCommunicator::Connect() {
  char id[kNcclIdBytes] = "";
  int result = kNcclSuccess;
  if (rank() == 0) result = parts_.nccl->make_id(id);
  // Rank 0 fails before it sends anything: the bootstrap communicator tells the others.
  if (result != kNcclSuccess) return Fail(NcclFailure(result, Place("NCCL's id", step_)));
  RETURN_IF_ERROR(parts_.bootstrap->Broadcast(id, kNcclIdBytes, 0, "NCCL's id"));
  result = parts_.nccl->start(size(), id, rank(), &nccl_);
  return Settle(result, "connecting the GPUs", kDeadlinesToConnect);
}

Status NcclCommunicator::NcclFailure(int result, const std::string& place) const {
  std::string message = "NCCL, " + place + ": " + parts_.nccl->error_text(result);
  const char* words = nccl_ == nullptr ? "" : parts_.nccl->last_words(nccl_);
  if (words != nullptr && *words != '\0') message += std::string(" (") + words + ")";
  return UnavailableError(message);
}

// Aborting first ends the kernels that wait for other ranks; the host may then wait for the
// device without end.
Status NcclCommunicator::Fail(const Status& status) {
  AbortNccl();
  return parts_.bootstrap->Abort(status);
}

void NcclCommunicator::AbortNccl() {
  if (nccl_ == nullptr) return;
  const NcclHandle nccl = std::exchange(nccl_, nullptr);
  if (drop_graphs_ && !drop_graphs_()) return;
  // What it says changes nothing: the job has failed, or ends.
  parts_.nccl->abort(nccl);
}

// Sums run one after the other. Those of a graph that is launched again are of an old step or
// cannot be asked.
NcclCommunicator::SumState NcclCommunicator::StateOfSums(const Started** waiting) const {
  for (const Started& sum : started_) {
    if (sum.step < step_ - kStepsBefore) return SumState::kUnknown;
    const auto summed = parts_.runtime->IsDone(slots_[sum.slot].summed);
    if (!summed.ok()) return SumState::kUnknown;
    if (*summed) continue;
    const auto made = parts_.runtime->IsDone(slots_[sum.slot].made);
    if (!made.ok()) return SumState::kUnknown;
    *waiting = &sum;
    return *made ? SumState::kOneWaits : SumState::kNoneWaits;
  }
  return SumState::kNoneWaits;
}

Status NcclCommunicator::CheckTime(double waited_seconds, std::string_view name) {
  double limit = options_.timeout_seconds;
  if (waited_seconds < clock_.looked_at) {  // of a wait before this one, which has ended well
    longest_wait_ = std::max(longest_wait_, clock_.looked_at);
    clock_ = Clock();
  }
  if (limit <= 0 || waited_seconds < clock_.looked_at + limit / kLooksPerDeadline) {
    return OkStatus();
  }
  clock_.looked_at = waited_seconds;
  const Started* sum = nullptr;
  const SumState state = StateOfSums(&sum);
  const void* const waiting = sum == nullptr ? nullptr : slots_[sum->slot].summed;
  const int64_t step = sum == nullptr ? step_ : sum->step;
  const bool is_other = waiting != clock_.waiting || step != clock_.step;
  if (state == SumState::kNoneWaits || is_other) clock_.since = waited_seconds;
  if (is_other) clock_.changed = waited_seconds;
  clock_.waiting = waiting;
  clock_.step = step;
  const double longest = limit * kDeadlinesWithoutSum;
  if (state == SumState::kNoneWaits && waited_seconds - clock_.changed > longest) {
    return HangError(name, longest);
  }
  if (state == SumState::kUnknown) limit += kLongestWaits * longest_wait_;
  return waited_seconds - clock_.since <= limit ? OkStatus() : LateError(name, limit);
}

Status NcclCommunicator::LateError(std::string_view name, double limit_seconds) const {
  return UnavailableError(Unfinished(name) + " did not end within " +
                          std::to_string(static_cast<int64_t>(limit_seconds)) +
                          " s: a rank died, hangs or took another path (--rank-timeout " +
                          std::to_string(static_cast<int64_t>(options_.timeout_seconds)) + ")");
}

Status NcclCommunicator::HangError(std::string_view name, double limit_seconds) const {
  return UnavailableError(Unfinished(name) + " did not end within " +
                          std::to_string(static_cast<int64_t>(limit_seconds)) +
                          " s, in which this GPU came to no sum over the GPUs: it hangs (see "
                          "nvidia-smi), or needs a longer --rank-timeout than " +
                          std::to_string(static_cast<int64_t>(options_.timeout_seconds)));
}

// Sums run one after the other. Events that were captured cannot be asked, and say nothing of later
// launches.
std::string NcclCommunicator::Unfinished(std::string_view name) const {
  for (const Started& sum : started_) {
    if (sum.step < step_ - kStepsBefore) break;
    const auto done = parts_.runtime->IsDone(slots_[sum.slot].summed);
    if (done.ok() && !*done) return Place(sum.name, sum.step);
    if (!done.ok()) break;
  }
  if (started_.empty()) return Place(name, step_);
  return Place(std::string(name) + ", with the sums from \"" + started_.front().name + "\" to \"" +
                   started_.back().name + "\",",
               step_);
}

std::string NcclCommunicator::Place(std::string_view what, int64_t step) const {
  return std::string(what) + (step > 0 ? " in step " + std::to_string(step) : "") + " on rank " +
         std::to_string(rank()) + " of " + std::to_string(size());
}

void NcclCommunicator::set_step(int64_t step) {
  parts_.bootstrap->set_step(step);
  step_ = step;
}

Status NcclCommunicator::Settle(int result, std::string_view name, int deadlines) {
  const double limit = options_.timeout_seconds * deadlines;
  Patience patience;
  while (result == kNcclInProgress) {
    if (Status status = parts_.bootstrap->Progress(); !status.ok()) return Fail(status);
    if (limit > 0 && patience.waited_seconds() > limit) return Fail(LateError(name, limit));
    patience.Pause();
    int state = kNcclSuccess;
    const int asked = parts_.nccl->state(nccl_, &state);
    result = asked == kNcclSuccess ? state : asked;
  }
  waited_seconds_ += patience.waited_seconds();
  return result == kNcclSuccess ? OkStatus() : Fail(NcclFailure(result, Place(name, step_)));
}

Status NcclCommunicator::Progress() {
  if (Status status = failure(); !status.ok()) return Fail(status);
  if (Status status = parts_.bootstrap->Progress(); !status.ok()) return Fail(status);
  if (nccl_ == nullptr) return InternalError("NCCL was closed");
  int state = kNcclSuccess;
  int result = parts_.nccl->state(nccl_, &state);
  if (result == kNcclSuccess) result = state;
  const bool sound = result == kNcclSuccess || result == kNcclInProgress;
  return sound ? OkStatus() : Fail(NcclFailure(result, Unfinished("a sum over the GPUs")));
}

Status NcclCommunicator::AwaitDevice(EventHandle event, std::string_view name) {
  Patience patience;
  for (;;) {
    const auto done = parts_.runtime->IsDone(event);
    if (!done.ok()) return Fail(done.status());
    if (*done) break;
    RETURN_IF_ERROR(Progress());
    if (Status status = CheckTime(patience.waited_seconds(), name); !status.ok()) {
      return Fail(status);
    }
    patience.Pause();
  }
  waited_seconds_ += patience.waited_seconds();
  return Progress();
}

// Each sum of a step that may be under way has a slot of its own, so that its event tells whether
// it is done.
Result<int> NcclCommunicator::FreeSlot() {
  const bool full = slots_.size() == kMaxStartedCalls;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const bool is_old = slots_[i].step == kNoStep || slots_[i].step < step_ - kStepsBefore;
    if (!slots_[i].busy && (full || is_old)) return static_cast<int>(i);
  }
  if (full) return InternalError("too many sums were started at once");
  slots_.emplace_back();
  ASSIGN_OR_RETURN(slots_.back().made, parts_.runtime->CreateEvent());
  ASSIGN_OR_RETURN(slots_.back().summed, parts_.runtime->CreateEvent());
  return static_cast<int>(slots_.size()) - 1;
}

Result<StartedCall> NcclCommunicator::StartSum(void* data, int64_t count, SumType type,
                                               std::string_view name) {
  RETURN_IF_ERROR(failure());
  if (nccl_ == nullptr) return InternalError("NCCL was closed");
  ForgetOldSteps();
  ASSIGN_OR_RETURN(const int number, FreeSlot());
  Slot& slot = slots_[number];
  RETURN_IF_ERROR(parts_.runtime->RecordEvent(slot.made, parts_.compute));
  RETURN_IF_ERROR(parts_.runtime->WaitEvent(stream_, slot.made));
  const MemorySpan span = {data, count * SumTypeBytes(type)};
  RETURN_IF_ERROR(parts_.runtime->Launch(
      stream_, {"sum over the GPUs", {span}, {span}}, [&](StreamHandle stream) {
        return Settle(parts_.nccl->sum(nccl_, data, count, type, stream), name);
      }));
  RETURN_IF_ERROR(parts_.runtime->RecordEvent(slot.summed, stream_));
  slot.busy = true;
  slot.step = step_;
  if (started_.size() < kMaxStartedCalls) started_.push_back({number, step_, std::string(name)});
  return StartedCall{number};
}

Status NcclCommunicator::Wait(StartedCall call) {
  SHARDMILL_CHECK(call.slot >= 0 && call.slot < static_cast<int>(slots_.size()));
  Slot& slot = slots_[call.slot];
  SHARDMILL_CHECK(slot.busy);
  slot.busy = false;
  RETURN_IF_ERROR(failure());
  return parts_.runtime->WaitEvent(parts_.compute, slot.summed);
}

void NcclCommunicator::ForgetOldSteps() {
  const auto behind = std::find_if(started_.begin(), started_.end(), [&](const Started& sum) {
    return sum.step >= step_ - kStepsBefore;
  });
  started_.erase(started_.begin(), behind);
}

void NcclCommunicator::ForgetCaptured() {
  while (!started_.empty() && started_.back().step == step_) {
    Slot& slot = slots_[started_.back().slot];
    slot.busy = false;
    slot.step = kNoStep;
    started_.pop_back();
  }
}

Status NcclCommunicator::Barrier(std::string_view name) { return parts_.bootstrap->Barrier(name); }

Status NcclCommunicator::Broadcast(void* data, int64_t bytes, int root, std::string_view name) {
  return parts_.bootstrap->Broadcast(data, bytes, root, name);
}

Result<std::vector<std::string>> NcclCommunicator::Gather(std::string_view message,
                                                          std::string_view name) {
  return parts_.bootstrap->Gather(message, name);
}

Status NcclCommunicator::Exchange(const std::vector<SendPiece>& sends,
                                  const std::vector<ReceivePiece>& receives,
                                  std::string_view name) {
  return parts_.bootstrap->Exchange(sends, receives, name);
}

Status NcclCommunicator::Abort(const Status& status) { return Fail(status); }

Status NcclCommunicator::AbortTogether(const Status& status) {
  AbortNccl();
  return parts_.bootstrap->AbortTogether(status);
}

Status NcclCommunicator::Close() {
  if (nccl_ == nullptr) return failure();
  parts_.runtime->set_watch(nullptr);
  RETURN_IF_ERROR(Settle(parts_.nccl->finalize(nccl_), "leaving NCCL"));
  const int result = parts_.nccl->destroy(std::exchange(nccl_, nullptr));
  return result == kNcclSuccess ? OkStatus() : NcclFailure(result, Place("leaving NCCL", step_));
}

}  // namespace shardmill
