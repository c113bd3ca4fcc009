#include "reader/base/ordered_pipeline.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <system_error>

#include "reader/base/exception_status.h"
#include "reader/base/thread_budget.h"

namespace shardmill {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxInFlight = 1 << 20;
// How often a waiting thread asks whether the caller has cancelled: a signal handler can set a
// flag but may not notify a condition variable.
constexpr std::chrono::milliseconds kCancelPoll(50);
// How long a worker leaves to its owner what would be slower in other hands.
constexpr std::chrono::milliseconds kPatience(1);

uint64_t NanosecondsSince(Clock::time_point start) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

// Waits for a mutex that is held for a few hundred nanoseconds at a time. A thread that went to
// sleep for it would have to be woken up, often on another core, where the memory that it works
// on is not; so it looks a little longer first.
std::unique_lock<std::mutex> LockSoon(std::mutex& mutex) {
  constexpr int kLooks = 256;
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  for (int look = 0; look < kLooks; ++look) {
    if (lock.try_lock()) return lock;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  lock.lock();
  return lock;
}

// Runs a callback and turns an exception that leaves it into a status.
template <typename Callback>
auto Fenced(const Callback& callback) -> decltype(callback()) {
  try {
    return callback();
  } catch (...) {
    return ExceptionStatus("in a pipeline stage");
  }
}

}  // namespace

Result<std::unique_ptr<OrderedPipeline>> OrderedPipeline::Start(const PipelineOptions& options,
                                                                Produce produce, Work work) {
  if (options.threads < 1 || options.threads > kMaxThreads) {
    return InvalidArgumentError("threads is " + std::to_string(options.threads) +
                                "; it must be 1 to " + std::to_string(kMaxThreads));
  }
  if (options.max_in_flight < 0 || options.max_in_flight > kMaxInFlight) {
    return InvalidArgumentError("items in flight is " + std::to_string(options.max_in_flight) +
                                "; it must be 0 to " + std::to_string(kMaxInFlight));
  }
  std::unique_ptr<OrderedPipeline> pipeline(
      new OrderedPipeline(options, std::move(produce), std::move(work)));
  RETURN_IF_ERROR(pipeline->StartThreads(options.threads));
  pipeline->Pump();
  return pipeline;
}

OrderedPipeline::OrderedPipeline(const PipelineOptions& options, Produce produce, Work work)
    : max_bytes_(options.max_bytes),
      workers_(options.threads),
      cancelled_(options.cancelled),
      produce_(std::move(produce)),
      work_(std::move(work)),
      slots_(internal::EffectiveMaxInFlight(options)),
      slot_of_(slots_.size()),
      share_of_(static_cast<size_t>(workers_)),
      core_of_(static_cast<size_t>(workers_), -1) {
  std::iota(share_of_.begin(), share_of_.end(), 0);
  free_slots_.reserve(slots_.size());
  for (Slot& slot : slots_) slot.next.resize(static_cast<size_t>(workers_));
  for (int slot = static_cast<int>(slots_.size()) - 1; slot >= 0; --slot) {
    free_slots_.push_back(slot);
  }
}

OrderedPipeline::~OrderedPipeline() { Stop(); }

void OrderedPipeline::Stop() {
  Cancel();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

Status OrderedPipeline::StartThreads(int threads) {
  threads_.reserve(threads);
  try {
    for (int worker = 0; worker < threads; ++worker) {
      threads_.emplace_back([this, worker] { RunWorker(worker); });
    }
  } catch (const std::system_error& error) {
    return IoError("cannot start thread " + std::to_string(threads_.size() + 1) + " of " +
                   std::to_string(threads) + ": " + error.what() + "; ask for fewer threads");
  }
  return OkStatus();
}

// Whoever is woken up finds the mutex free: nobody is notified under it.
void OrderedPipeline::RunWorker(int worker) {
  std::unique_lock<std::mutex> lock = LockSoon(mutex_);
  while (true) {
    std::optional<Claim> claim;
    TakeOver take_over = TakeOver::kAllButNewest;
    while (!stop_ && !(claim = ClaimLocked(worker, take_over)).has_value()) {
      take_over = WaitForWork(&lock);
    }
    if (stop_) return;
    lock.unlock();
    Status status = IsCancelled() ? CancelledError("cancelled by the caller")
                                  : Fenced([&] { return work_(claim->item, claim->part, worker); });
    lock = LockSoon(mutex_);
    if (!FinishPartLocked(&slots_[claim->item.slot], claim->part, std::move(status))) continue;
    lock.unlock();
    item_done_.notify_all();
    lock = LockSoon(mutex_);
  }
}

bool OrderedPipeline::FinishPartLocked(Slot* slot, uint32_t part, Status status) {
  ++slot->finished;
  if (!status.ok() && part < slot->failed_part) {
    slot->failed_part = part;
    slot->status = std::move(status);
    failed_index_ = std::min(failed_index_, slot->index);
  }
  return slot->index == take_index_ && IsDoneLocked(*slot);
}

OrderedPipeline::Share OrderedPipeline::ShareOf(uint32_t parts, int share, int workers) {
  const auto bound = [&](int number) {
    return static_cast<uint32_t>(uint64_t{parts} * static_cast<uint64_t>(number) /
                                 static_cast<uint64_t>(workers));
  };
  return {bound(share), bound(share + 1)};
}

// Of an item that has failed, only the parts before the failed one are still begun: one of them
// may fail too.
bool OrderedPipeline::HasUnclaimedLocked(const Slot& slot, int share) const {
  const uint32_t end = ShareOf(slot.parts, share, workers_).end;
  return slot.next[static_cast<size_t>(share)] < std::min(end, slot.failed_part);
}

bool OrderedPipeline::HasUnclaimedLocked(const Slot& slot) const {
  if (slot.status.ok()) return slot.claimed < slot.parts;
  for (int share = 0; share < workers_; ++share) {
    if (HasUnclaimedLocked(slot, share)) return true;
  }
  return false;
}

// The system moves threads between the cores, in the worst case each time that the caller of Take()
// is woken up. Two that were moved exchange their shares.
int OrderedPipeline::ShareOnThisCoreLocked(int worker) {
  const int core = sched_getcpu();
  int& share = share_of_[static_cast<size_t>(worker)];
  int& last_core = core_of_[static_cast<size_t>(share)];
  if (last_core == core) return share;
  if (last_core >= 0) {
    for (int& other : share_of_) {
      if (core_of_[static_cast<size_t>(other)] != core) continue;
      std::swap(share, other);
      return share;
    }
  }
  last_core = core;
  return share;
}

uint64_t OrderedPipeline::ClaimEndLocked() const {
  return failed_index_ < produce_index_ ? failed_index_ + 1 : produce_index_;
}

// The newest item in the ring is not waited for yet. Who is early had better sleep, so that the
// caller of Take() gets a core and the ring new items, than write to memory of another core.
bool OrderedPipeline::IsLeftToOwnersLocked(uint64_t index) const {
  return index > take_index_ && index + 1 == ClaimEndLocked() &&
         slots_[slot_of_[index % slots_.size()]].parts >= static_cast<uint32_t>(workers_);
}

// First of the share of this core, then of the others; always of the oldest item. No item behind a
// failed one is begun: it could not be taken anyway.
std::optional<OrderedPipeline::Claim> OrderedPipeline::ClaimLocked(int worker, TakeOver take_over) {
  const int share = ShareOnThisCoreLocked(worker);
  claim_index_ = std::max(claim_index_, take_index_);
  while (claim_index_ < produce_index_ && claim_index_ < failed_index_ &&
         !HasUnclaimedLocked(SlotOfLocked(claim_index_))) {
    ++claim_index_;
  }
  const uint64_t end = ClaimEndLocked();
  for (uint64_t index = claim_index_; index < end; ++index) {
    if (HasUnclaimedLocked(SlotOfLocked(index), share)) return ClaimFromLocked(index, share);
  }
  for (uint64_t index = claim_index_; index < end; ++index) {
    const Slot& slot = SlotOfLocked(index);
    if (!HasUnclaimedLocked(slot)) continue;
    if (take_over == TakeOver::kAllButNewest && IsLeftToOwnersLocked(index)) break;
    int other = share;
    while (!HasUnclaimedLocked(slot, other)) other = (other + 1) % workers_;
    return ClaimFromLocked(index, other);
  }
  return std::nullopt;
}

// Requires that the share has one.
OrderedPipeline::Claim OrderedPipeline::ClaimFromLocked(uint64_t index, int share) {
  Slot& slot = SlotOfLocked(index);
  ++slot.claimed;
  return {{index, slot_of_[index % slots_.size()]}, slot.next[static_cast<size_t>(share)]++};
}

bool OrderedPipeline::IsDoneLocked(const Slot& slot) const {
  return slot.finished == slot.claimed && !HasUnclaimedLocked(slot);
}

bool OrderedPipeline::CanProduceLocked() const {
  return !stop_ && !staged_ && !free_slots_.empty() && produce_index_ < end_index_;
}

bool OrderedPipeline::CanPublishLocked() const {
  if (stop_ || !staged_) return false;
  if (max_bytes_ == 0 || bytes_in_flight_ == 0) return true;
  return staged_bytes_ <= max_bytes_ && bytes_in_flight_ <= max_bytes_ - staged_bytes_;
}

void OrderedPipeline::Pump() {
  std::lock_guard<std::mutex> producing(produce_mutex_);
  while (true) {
    uint32_t parts = 0;
    std::optional<Item> item;
    {
      const std::unique_lock<std::mutex> lock = LockSoon(mutex_);
      if (CanPublishLocked()) parts = PublishLocked();
      if (CanProduceLocked()) {
        item = {produce_index_, free_slots_.back()};
        free_slots_.pop_back();
        producing_ = true;
      }
    }
    if (parts == 1) work_ready_.notify_one();
    if (parts > 1) work_ready_.notify_all();
    if (!item.has_value()) return;
    Result<std::optional<Size>> size = IsCancelled() ? CancelledError("cancelled by the caller")
                                                     : Fenced([&] { return produce_(*item); });
    const std::unique_lock<std::mutex> lock = LockSoon(mutex_);
    StageLocked(*item, std::move(size));
  }
}

void OrderedPipeline::StageLocked(const Item& item, Result<std::optional<Size>> size) {
  producing_ = false;
  if (size.ok() && !size->has_value()) {
    end_index_ = produce_index_;
    free_slots_.push_back(item.slot);
    return;
  }
  slot_of_[item.index % slots_.size()] = item.slot;
  Slot& slot = slots_[item.slot];
  slot.index = item.index;
  slot.bytes = 0;
  slot.parts = 0;
  slot.claimed = 0;
  slot.finished = 0;
  slot.failed_part = std::numeric_limits<uint32_t>::max();
  slot.status = OkStatus();
  if (size.ok()) {
    SHARDMILL_CHECK((*size)->parts >= 1);
    slot.parts = (*size)->parts;
    for (int share = 0; share < workers_; ++share) {
      slot.next[static_cast<size_t>(share)] = ShareOf(slot.parts, share, workers_).begin;
    }
    slot.bytes = (*size)->bytes;
  } else {
    // An item without parts: it is done, with this status, once the items before it are taken.
    slot.status = size.status();
    failed_index_ = std::min(failed_index_, item.index);
    end_index_ = item.index + 1;
  }
  staged_bytes_ = slot.bytes;
  staged_ = true;
}

uint32_t OrderedPipeline::PublishLocked() {
  staged_ = false;
  bytes_in_flight_ += staged_bytes_;
  const Slot& slot = SlotOfLocked(produce_index_);
  ++produce_index_;
  return slot.parts;
}

Result<std::optional<OrderedPipeline::Item>> OrderedPipeline::Take() {
  while (true) {
    Pump();
    std::unique_lock<std::mutex> lock = LockSoon(mutex_);
    while (true) {
      if (sticky_.ok() && (stop_ || IsCancelled())) {
        sticky_ = CancelledError("cancelled by the caller");
      }
      if (!sticky_.ok()) return sticky_;
      if (take_index_ == end_index_) return std::optional<Item>();
      if (take_index_ == produce_index_) break;
      if (IsDoneLocked(SlotOfLocked(take_index_))) return TakeDoneLocked();
      WaitForItem(&lock);
    }
    // Nothing is in the ring: either another thread has just released a slot, or the caller holds
    // all of them and would wait for ever.
    if (!producing_ && !CanProduceLocked() && !CanPublishLocked()) {
      return InvalidArgumentError(
          "all " + std::to_string(slots_.size() - free_slots_.size()) +
          " items in flight are held by the caller; release one before asking for the next");
    }
  }
}

Result<std::optional<OrderedPipeline::Item>> OrderedPipeline::TakeDoneLocked() {
  const Slot& slot = SlotOfLocked(take_index_);
  if (!slot.status.ok()) {
    sticky_ = slot.status;
    return sticky_;
  }
  const Item item{take_index_, slot_of_[take_index_ % slots_.size()]};
  ++take_index_;
  return std::optional<Item>(item);
}

void OrderedPipeline::Release(int slot) {
  {
    const std::unique_lock<std::mutex> lock = LockSoon(mutex_);
    SHARDMILL_CHECK(slots_[slot].index < take_index_);
    bytes_in_flight_ -= slots_[slot].bytes;
    free_slots_.push_back(slot);
  }
  Pump();
}

void OrderedPipeline::Cancel() {
  std::lock_guard<std::mutex> lock(mutex_);
  stop_ = true;
  work_ready_.notify_all();
  item_done_.notify_all();
}

OrderedPipeline::Times OrderedPipeline::times() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return times_;
}

OrderedPipeline::TakeOver OrderedPipeline::WaitForWork(std::unique_lock<std::mutex>* lock) {
  const Clock::time_point start = Clock::now();
  const uint64_t end = ClaimEndLocked();
  auto woken = std::cv_status::no_timeout;
  if (claim_index_ < end && HasUnclaimedLocked(SlotOfLocked(end - 1))) {
    woken = work_ready_.wait_for(*lock, kPatience);
  } else {
    work_ready_.wait(*lock);
  }
  times_.workers_idle_ns += NanosecondsSince(start);
  return woken == std::cv_status::timeout ? TakeOver::kAll : TakeOver::kAllButNewest;
}

void OrderedPipeline::WaitForItem(std::unique_lock<std::mutex>* lock) {
  const Clock::time_point start = Clock::now();
  if (cancelled_) {
    item_done_.wait_for(*lock, kCancelPoll);
  } else {
    item_done_.wait(*lock);
  }
  times_.take_wait_ns += NanosecondsSince(start);
}

namespace internal {

int EffectiveMaxInFlight(const PipelineOptions& options) {
  if (options.max_in_flight > 0) return std::min(options.max_in_flight, kMaxInFlight);
  return 2 * std::clamp(options.threads, 1, kMaxThreads) + 2;
}

Status RunFenced(const std::function<Status()>& callback) { return Fenced(callback); }

Status DrainPipeline(OrderedPipeline* pipeline,
                     const std::function<Status(const OrderedPipeline::Item&)>& consume) {
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<OrderedPipeline::Item> item, pipeline->Take());
    if (!item.has_value()) return OkStatus();
    RETURN_IF_ERROR(Fenced([&] { return consume(*item); }));
    pipeline->Release(item->slot);
  }
}

}  // namespace internal
}  // namespace shardmill
