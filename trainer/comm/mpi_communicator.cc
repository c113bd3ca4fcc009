#include "trainer/comm/mpi_communicator.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>

#include "reader/base/checksum.h"
#include "reader/base/error_prefix.h"
#include "reader/base/interrupt.h"
#include "trainer/comm/control_channel.h"
#include "trainer/comm/mpi_library.h"
#include "trainer/comm/patience.h"
#include "trainer/comm/rank_page.h"
#include "trainer/comm/rank_watch.h"

namespace shardmill {
namespace {

enum class CallKind : uint64_t { kBarrier = 1, kBroadcast, kSum, kGatherSizes, kGather, kExchange };

// MPI counts are int; larger pieces are cut alike on all ranks.
constexpr int64_t kMaxPieceBytes = int64_t{1} << 30;
constexpr int64_t kMaxPieceElements = int64_t{1} << 27;
constexpr int64_t kMaxMessageBytes = 1 << 20;
constexpr int kDataTag = 1;
constexpr double kTellSeconds = 1;
constexpr double kWordSeconds = 10;  // for rank 0 to say why all leave
// MPI's own start and end get this much more than a call, for the hosts to come up.
constexpr double kStartSeconds = 5;

uint64_t Signature(CallKind kind, int64_t size, uint64_t detail, std::string_view name) {
  const uint64_t parts[] = {static_cast<uint64_t>(kind), static_cast<uint64_t>(size), detail,
                            Checksum64(name.data(), name.size())};
  return Checksum64(parts, sizeof parts);
}

void ReportOnStandardError(const std::string& message) {
  const std::string line = message + "\n";
  // One write, so that the lines of several ranks do not mix.
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

int64_t LimitFromNow(const CommunicatorOptions& options) {
  if (options.timeout_seconds <= 0) return 0;
  const double seconds = options.timeout_seconds + kStartSeconds;
  return MonotonicNanoseconds() + static_cast<int64_t>(seconds * 1e9);
}

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(const shardmill_mpi_table* table, const RankLayout& layout,
                  const CommunicatorOptions& options)
      : Communicator(layout),
        table_(*table),
        options_(options),
        control_(table),
        watch_(&control_, layout, options.timeout_seconds) {}
  ~MpiCommunicator() override;
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  void set_step(int64_t step) override {
    own_.step = step;
    ThisRankPage().position.step = step;
  }
  Status Barrier(std::string_view name) override;
  Status Broadcast(void* data, int64_t bytes, int root, std::string_view name) override;
  Result<StartedCall> StartSum(void* data, int64_t count, SumType type,
                               std::string_view name) override;
  Status Wait(StartedCall call) override;
  Status Progress() override;
  Result<std::vector<std::string>> Gather(std::string_view message, std::string_view name) override;
  Status Exchange(const std::vector<SendPiece>& sends, const std::vector<ReceivePiece>& receives,
                  std::string_view name) override;
  double waited_seconds() const override { return static_cast<double>(waited_nanoseconds_) * 1e-9; }
  void set_wait_listener(WaitListener listener) override { wait_listener_ = std::move(listener); }
  Status Abort(const Status& status) override;
  Status AbortTogether(const Status& status) override;
  const Status& failure() const override { return failure_; }
  Status Close() override;

 private:
  struct Slot {
    CallPosition position;
    std::vector<shardmill_mpi_request> requests;
    size_t finished = 0;  // requests before this one are done
    bool busy = false;
  };

  // Notes that a call starts and gives it a slot, which Await frees.
  Result<int> Begin(CallKind kind, int64_t size, uint64_t detail, std::string_view name);
  // Room for one more request of the slot; valid until the next call.
  shardmill_mpi_request* AddRequest(int slot);
  Status Post(int code, const char* what) { return Checked(MpiStatus(table_, code, what)); }
  Status Await(int slot);
  Result<bool> IsFinished(Slot* slot);
  void ReportInterrupt(const Slot& slot, double waited_seconds);
  // Concatenates the ranks' bytes, of which rank r has sizes[r], in gathered_.
  Status GatherBytes(const void* own, std::vector<int> sizes, CallKind kind, std::string_view name);
  // Passes OK on; any error ends the job.
  Status Checked(const Status& status) { return status.ok() ? status : Fail(status); }
  Status Fail(const Status& status);
  void TellOthers();
  void AwaitWordOfRank0();
  void Report(const std::string& message) const;

  const shardmill_mpi_table& table_;
  CommunicatorOptions options_;
  ControlChannel control_;
  RankWatch watch_;
  CallPosition own_;
  std::deque<Slot> slots_;  // references stay valid when it grows
  // Of the gather that is going on: MPI keeps their addresses.
  std::vector<int> gather_sizes_;
  std::vector<int> gather_offsets_;
  std::string gathered_;
  Status failure_;
  int64_t waited_nanoseconds_ = 0;
  WaitListener wait_listener_;
  bool closed_ = false;
  bool told_interrupt_ = false;
};

MpiCommunicator::~MpiCommunicator() {
  if (closed_) return;
  if (failure_.ok()) {
    const Status left = Abort(UnavailableError("this rank left before the job was done"));
    SHARDMILL_CHECK(!left.ok());
  }
  // A rank that is stopped or hangs will not end by itself, and not every launcher ends it.
  if (watch_.found_silent()) table_.abort_job(ExitCode(failure_));
}

Result<int> MpiCommunicator::Begin(CallKind kind, int64_t size, uint64_t detail,
                                   std::string_view name) {
  if (!failure_.ok()) return failure_;
  SHARDMILL_CHECK(!closed_);
  int slot = 0;
  while (slot < static_cast<int>(slots_.size()) && slots_[slot].busy) ++slot;
  if (slot == kMaxStartedCalls) {
    return Fail(InternalError(std::string(name) + ": too many calls were started at once"));
  }
  if (slot == static_cast<int>(slots_.size())) slots_.emplace_back();

  ++own_.sequence;
  own_.signature = Signature(kind, size, detail, name);
  own_.set_name(name);
  ThisRankPage().position = own_;
  ThisRankPage().call_state = CallState::kStarted;
  slots_[slot].position = own_;
  slots_[slot].requests.clear();
  slots_[slot].finished = 0;
  slots_[slot].busy = true;
  RETURN_IF_ERROR(Checked(watch_.Listen(own_)));
  RETURN_IF_ERROR(Checked(watch_.Started(own_)));
  return slot;
}

shardmill_mpi_request* MpiCommunicator::AddRequest(int slot) {
  return &slots_[slot].requests.emplace_back();
}

Result<bool> MpiCommunicator::IsFinished(Slot* slot) {
  while (slot->finished < slot->requests.size()) {
    int done = 0;
    RETURN_IF_ERROR(MpiStatus(table_, table_.test(&slot->requests[slot->finished], &done),
                              "go on with a call"));
    if (!done) return false;
    ++slot->finished;
  }
  return true;
}

Status MpiCommunicator::Await(int slot_number) {
  Slot& slot = slots_[slot_number];
  RankWatch::Wait wait = watch_.BeginWait(slot.position);
  const int64_t start = MonotonicNanoseconds();
  Patience patience;
  for (;;) {
    const Result<bool> finished = IsFinished(&slot);
    if (!finished.ok()) return Fail(finished.status());
    if (*finished) break;
    RETURN_IF_ERROR(Checked(watch_.Listen(own_)));
    RETURN_IF_ERROR(Checked(watch_.Check(&wait, patience.waited_seconds())));
    ReportInterrupt(slot, patience.waited_seconds());
    patience.Pause();
  }
  slot.busy = false;
  const int64_t end = MonotonicNanoseconds();
  waited_nanoseconds_ += end - start;
  if (wait_listener_) {
    wait_listener_(slot.position.name, static_cast<uint64_t>(start), static_cast<uint64_t>(end));
  }
  if (slot.position.sequence == own_.sequence) ThisRankPage().call_state = CallState::kEnded;
  return OkStatus();
}

Status MpiCommunicator::Barrier(std::string_view name) {
  ASSIGN_OR_RETURN(const int slot, Begin(CallKind::kBarrier, 0, 0, name));
  RETURN_IF_ERROR(Post(table_.barrier(AddRequest(slot)), "start a barrier"));
  return Await(slot);
}

Status MpiCommunicator::Broadcast(void* data, int64_t bytes, int root, std::string_view name) {
  ASSIGN_OR_RETURN(const int slot, Begin(CallKind::kBroadcast, bytes, root, name));
  for (int64_t begin = 0; begin < bytes; begin += kMaxPieceBytes) {
    const int piece = static_cast<int>(std::min(kMaxPieceBytes, bytes - begin));
    char* address = static_cast<char*>(data) + begin;
    RETURN_IF_ERROR(
        Post(table_.broadcast(address, piece, root, AddRequest(slot)), "start a broadcast"));
  }
  return Await(slot);
}

Result<StartedCall> MpiCommunicator::StartSum(void* data, int64_t count, SumType type,
                                              std::string_view name) {
  ASSIGN_OR_RETURN(const int slot, Begin(CallKind::kSum, count, static_cast<uint64_t>(type), name));
  for (int64_t begin = 0; begin < count; begin += kMaxPieceElements) {
    const int piece = static_cast<int>(std::min(kMaxPieceElements, count - begin));
    char* address = static_cast<char*>(data) + begin * SumTypeBytes(type);
    RETURN_IF_ERROR(
        Post(table_.sum(address, piece, static_cast<int>(type), AddRequest(slot)), "start a sum"));
  }
  return StartedCall{slot};
}

Status MpiCommunicator::Wait(StartedCall call) {
  if (!failure_.ok()) return failure_;
  SHARDMILL_CHECK(call.slot >= 0 && call.slot < static_cast<int>(slots_.size()) &&
                  slots_[call.slot].busy);
  return Await(call.slot);
}

Status MpiCommunicator::Progress() {
  if (!failure_.ok()) return failure_;
  for (Slot& slot : slots_) {
    if (!slot.busy) continue;
    const Result<bool> finished = IsFinished(&slot);
    if (!finished.ok()) return Fail(finished.status());
  }
  return Checked(watch_.Listen(own_));
}

Status MpiCommunicator::GatherBytes(const void* own, std::vector<int> sizes, CallKind kind,
                                    std::string_view name) {
  gather_sizes_ = std::move(sizes);
  gather_offsets_.assign(gather_sizes_.size(), 0);
  std::partial_sum(gather_sizes_.begin(), gather_sizes_.end() - 1, gather_offsets_.begin() + 1);
  gathered_.resize(gather_offsets_.back() + gather_sizes_.back());
  ASSIGN_OR_RETURN(const int slot, Begin(kind, 0, 0, name));
  RETURN_IF_ERROR(
      Post(table_.gather(own, gather_sizes_[rank()], gathered_.data(), gather_sizes_.data(),
                         gather_offsets_.data(), AddRequest(slot)),
           "start a gather"));
  return Await(slot);
}

Result<std::vector<std::string>> MpiCommunicator::Gather(std::string_view message,
                                                         std::string_view name) {
  constexpr int64_t kMaxTotalBytes = int64_t{1} << 30;
  if (static_cast<int64_t>(message.size()) > std::min(kMaxMessageBytes, kMaxTotalBytes / size())) {
    return Fail(InternalError(std::string(name) + ": a message of " +
                              std::to_string(message.size()) + " bytes is too large to gather"));
  }
  const int own_bytes = static_cast<int>(message.size());
  RETURN_IF_ERROR(GatherBytes(&own_bytes, std::vector<int>(size(), sizeof own_bytes),
                              CallKind::kGatherSizes, name));
  std::vector<int> sizes(size());
  std::memcpy(sizes.data(), gathered_.data(), gathered_.size());
  RETURN_IF_ERROR(GatherBytes(message.data(), std::move(sizes), CallKind::kGather, name));
  std::vector<std::string> messages;
  for (int rank = 0; rank < size(); ++rank) {
    messages.push_back(gathered_.substr(gather_offsets_[rank], gather_sizes_[rank]));
  }
  return messages;
}

Status MpiCommunicator::Exchange(const std::vector<SendPiece>& sends,
                                 const std::vector<ReceivePiece>& receives, std::string_view name) {
  ASSIGN_OR_RETURN(const int slot, Begin(CallKind::kExchange, 0, 0, name));
  for (const ReceivePiece& piece : receives) {
    for (int64_t begin = 0; begin < piece.bytes; begin += kMaxPieceBytes) {
      const int bytes = static_cast<int>(std::min(kMaxPieceBytes, piece.bytes - begin));
      RETURN_IF_ERROR(
          Post(table_.receive(SHARDMILL_MPI_DATA, static_cast<char*>(piece.data) + begin, bytes,
                              piece.rank, kDataTag, AddRequest(slot)),
               "start to receive"));
    }
  }
  for (const SendPiece& piece : sends) {
    for (int64_t begin = 0; begin < piece.bytes; begin += kMaxPieceBytes) {
      const int bytes = static_cast<int>(std::min(kMaxPieceBytes, piece.bytes - begin));
      RETURN_IF_ERROR(
          Post(table_.send(SHARDMILL_MPI_DATA, static_cast<const char*>(piece.data) + begin, bytes,
                           piece.rank, kDataTag, AddRequest(slot)),
               "start to send"));
    }
  }
  return Await(slot);
}

// When a launcher ends the job because one rank is gone, this tells the user where the others
// were: a training loop only looks at the signal between its steps.
void MpiCommunicator::ReportInterrupt(const Slot& slot, double waited_seconds) {
  constexpr double kShortWait = 0.2;
  if (told_interrupt_ || waited_seconds < kShortWait || !WasInterrupted()) return;
  told_interrupt_ = true;
  const std::string absent = watch_.NotThere(slot.position);
  if (absent.empty()) return;
  Report("rank 0 was asked to stop while it waits for " + absent + " at " +
         PositionText(slot.position, CallState::kStarted));
}

void MpiCommunicator::Report(const std::string& message) const {
  options_.report ? options_.report(message) : ReportOnStandardError(message);
}

Status MpiCommunicator::Fail(const Status& status) {
  if (!failure_.ok()) return failure_;
  if (!watch_.failed_remotely()) return Abort(status);
  failure_ = status;
  ThisRankPage().state = RankState::kAborted;
  return failure_;
}

Status MpiCommunicator::Abort(const Status& status) {
  SHARDMILL_CHECK(!status.ok() && !closed_);
  if (!failure_.ok()) return failure_;
  // The error of a rank that failed earlier explains this one.
  if (const Status heard = watch_.Listen(own_); watch_.failed_remotely()) return Fail(heard);
  failure_ = status.WithContext("rank " + std::to_string(rank()) + " of " + std::to_string(size()) +
                                ", " + PositionText(own_, ThisRankPage().call_state));
  Report(ErrorPrefix() + failure_.message());
  ThisRankPage().state = RankState::kAborted;
  TellOthers();
  return failure_;
}

Status MpiCommunicator::AbortTogether(const Status& status) {
  if (rank() == 0) return Abort(status);
  SHARDMILL_CHECK(!status.ok() && !closed_);
  if (!failure_.ok()) return failure_;
  failure_ = status;
  ThisRankPage().state = RankState::kAborted;
  AwaitWordOfRank0();
  return failure_;
}

// Rank 0 says why the job ends and then tells the others. A rank that left before could have the
// launcher end rank 0 before it has spoken. Where rank 0 is gone there is nothing to wait for long.
void MpiCommunicator::AwaitWordOfRank0() {
  Patience patience;
  while (!watch_.failed_remotely() && patience.waited_seconds() < kWordSeconds) {
    if (!watch_.Listen(own_).ok()) return;  // as the word itself is
    patience.Pause();
  }
}

// Best effort: whoever cannot be told finds out by its own deadline.
void MpiCommunicator::TellOthers() {
  for (int other = 0; other < size(); ++other) {
    if (other != rank() && !control_.SendAbort(other, own_, failure_).ok()) return;
  }
  Patience patience;
  while (patience.waited_seconds() < kTellSeconds) {
    const Result<bool> flushed = control_.Flushed();
    if (!flushed.ok() || *flushed) return;
    patience.Pause();
  }
}

Status MpiCommunicator::Close() {
  if (closed_) return OkStatus();
  for (const Slot& slot : slots_) SHARDMILL_CHECK(!slot.busy || !failure_.ok());
  RETURN_IF_ERROR(Barrier("end of the job"));
  ThisRankPage().limit_nanoseconds = LimitFromNow(options_);
  ThisRankPage().state = RankState::kClosing;
  RETURN_IF_ERROR(Checked(MpiStatus(table_, table_.finish(), "end the job")));
  ThisRankPage().state = RankState::kClosed;
  closed_ = true;
  return OkStatus();
}

Status StartMpi(const shardmill_mpi_table& table, const Launch& launch,
                shardmill_mpi_world* world) {
  RETURN_IF_ERROR(MpiStatus(table, table.start(world), "start"));
  if (world->size == launch.size) return OkStatus();
  return UnavailableError("the launcher started " + std::to_string(launch.size) +
                          " processes, but MPI (" + world->library + ") connects " +
                          std::to_string(world->size) +
                          "; start with the mpirun of that library, or with srun --mpi=pmix");
}

}  // namespace

Result<std::unique_ptr<Communicator>> CreateMpiCommunicator(const Launch& launch,
                                                            const CommunicatorOptions& options) {
  ASSIGN_OR_RETURN(const shardmill_mpi_table* table, OpenMpiLibrary());
  RankPage& page = ThisRankPage();
  page.limit_nanoseconds = LimitFromNow(options);
  page.state = RankState::kStarting;
  shardmill_mpi_world world = {};
  const Status started = StartMpi(*table, launch, &world);
  page.state = started.ok() ? RankState::kOpen : RankState::kAborted;
  RETURN_IF_ERROR(started);
  const RankLayout layout = {world.rank, world.size, world.local_rank, world.local_size};
  return Result<std::unique_ptr<Communicator>>(
      std::make_unique<MpiCommunicator>(table, layout, options));
}

}  // namespace shardmill
