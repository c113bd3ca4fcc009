// An ordered pipeline: items are produced in order, worked on by several threads, and taken in
// the order in which they were produced. Shared by the packer and the loader.
//
//   PipelineOptions options;
//   options.threads = 2;
//   options.max_bytes = 256 << 20;
//   options.item_bytes = [&](uint64_t index) { return inputs[index].decoded_bytes; };
//   Status status = RunOrdered<EncodedRecord>(
//       options, inputs.size(),
//       [&](uint64_t index, int worker) { return Encode(inputs[index], &scratch[worker]); },
//       [&](uint64_t index, EncodedRecord record) { return writer.Append(std::move(record)); });
//
// Threads: `work` runs on `threads` threads of the pipeline; `produce` and `consume` run on the
// calling thread, one call at a time, so they may share state without locks.
// Order and errors: item i is consumed after item i-1, whatever the threads do. The first error
// in that order (of producing, working on or consuming the lowest item) ends the pipeline, and
// every item before it has been consumed: which error is reported and what was done before it do
// not depend on the threads. An exception that leaves a callback becomes
// kInternal, lack of memory kIo.
// Memory: at most `max_in_flight` items, and the sum of their declared bytes stays within
// `max_bytes`, except that a single larger item may pass alone.
// All threads are joined before the call returns or the object is gone.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

struct PipelineOptions {
  int threads = 1;
  int max_in_flight = 0;   // items between production and the end of consumption; 0: 2 threads + 2
  uint64_t max_bytes = 0;  // 0: no limit
  // Bytes that an item of RunOrdered holds while it is in flight; empty: 0.
  std::function<uint64_t(uint64_t index)> item_bytes;
  // RunOrdered hands over so many items at once, and counts them as one in flight: for items so
  // small that handing one over would take as long as the work on it. 0 is 1.
  uint64_t batch = 1;
  // Asked before every item and about 20 times a second while waiting; true ends the pipeline
  // with kCancelled. Called from several threads.
  std::function<bool()> cancelled;
};

// The part without types: it moves slot numbers, and the callbacks know what lies in a slot.
// An item may consist of parts that several threads work on at once. There are as many shares of
// the parts as threads. Each thread works on one share of every item in flight, the oldest first,
// and only then takes over what others have not begun: so it writes to the same memory of a slot
// again and again, which costs a third less than memory that another core has written before. A
// share stays with the core that it was worked on, whichever thread runs there.
class OrderedPipeline {
 public:
  struct Item {
    uint64_t index = 0;  // 0, 1, 2, … in the order of production
    int slot = 0;        // in [0, max_in_flight), the item's own until Release()
  };
  struct Size {
    uint64_t bytes = 0;
    uint32_t parts = 1;  // at least 1
  };
  // Prepares an item in its slot; nullopt: there are no more. One call at a time, in order.
  using Produce = std::function<Result<std::optional<Size>>(const Item&)>;
  using Work = std::function<Status(const Item&, uint32_t part, int worker)>;

  // Parts [begin, end).
  struct Share {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  // For `share` from 0 to below `workers`.
  static Share ShareOf(uint32_t parts, int share, int workers);

  // Where threads waited, in nanoseconds.
  struct Times {
    uint64_t workers_idle_ns = 0;  // summed over the workers: nothing to work on
    uint64_t take_wait_ns = 0;     // Take(): the next item was not done
  };

  // InvalidArgument for threads or max_in_flight out of range; Unavailable when the system
  // refuses a thread.
  static Result<std::unique_ptr<OrderedPipeline>> Start(const PipelineOptions& options,
                                                        Produce produce, Work work);
  ~OrderedPipeline();  // drops what is in flight and joins
  OrderedPipeline(const OrderedPipeline&) = delete;
  OrderedPipeline& operator=(const OrderedPipeline&) = delete;

  // Waits for the next item in order; nullopt after the last. For one thread at a time. Errors
  // stick, except InvalidArgument when the next item can never come because the caller holds
  // every slot (or the whole byte budget): that call may be repeated after a Release().
  Result<std::optional<Item>> Take();
  // Gives the slot of a taken item back, in any order, from any thread.
  void Release(int slot);
  // Later calls of Take() return kCancelled. From any thread.
  void Cancel();
  // Cancels and joins the threads; slots that were taken may still be released. One call at a time.
  void Stop();

  Times times() const;
  int max_in_flight() const { return static_cast<int>(slots_.size()); }

 private:
  struct Slot {
    uint64_t index = 0;
    uint64_t bytes = 0;
    uint32_t parts = 0;
    uint32_t claimed = 0;
    uint32_t finished = 0;
    std::vector<uint32_t> next;                                   // unclaimed part of each share
    uint32_t failed_part = std::numeric_limits<uint32_t>::max();  // the lowest
    Status status;
  };

  OrderedPipeline(const PipelineOptions& options, Produce produce, Work work);
  Status StartThreads(int threads);
  void RunWorker(int worker);
  void Pump();
  // The functions below require mutex_.
  bool CanProduceLocked() const;
  bool CanPublishLocked() const;
  void StageLocked(const Item& item, Result<std::optional<Size>> size);
  // The number of its parts.
  uint32_t PublishLocked();
  Result<std::optional<Item>> TakeDoneLocked();
  // A part that is to be worked on.
  struct Claim {
    Item item;
    uint32_t part = 0;
  };
  // What a worker may claim of the shares of others.
  enum class TakeOver { kAllButNewest, kAll };
  std::optional<Claim> ClaimLocked(int worker, TakeOver take_over);
  Claim ClaimFromLocked(uint64_t index, int share);
  int ShareOnThisCoreLocked(int worker);
  // Items from this index on are not begun.
  uint64_t ClaimEndLocked() const;
  bool IsLeftToOwnersLocked(uint64_t index) const;
  bool HasUnclaimedLocked(const Slot& slot, int share) const;
  bool HasUnclaimedLocked(const Slot& slot) const;
  bool IsDoneLocked(const Slot& slot) const;
  // Whether Take() may wait for what is done now.
  bool FinishPartLocked(Slot* slot, uint32_t part, Status status);
  Slot& SlotOfLocked(uint64_t index) { return slots_[slot_of_[index % slots_.size()]]; }
  const Slot& SlotOfLocked(uint64_t index) const { return slots_[slot_of_[index % slots_.size()]]; }
  bool IsCancelled() const { return cancelled_ && cancelled_(); }
  TakeOver WaitForWork(std::unique_lock<std::mutex>* lock);
  void WaitForItem(std::unique_lock<std::mutex>* lock);

  const uint64_t max_bytes_;
  const int workers_;
  const std::function<bool()> cancelled_;
  const Produce produce_;
  const Work work_;

  std::mutex produce_mutex_;  // taken before mutex_; held while produce_ runs
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable work_ready_;
  std::condition_variable item_done_;
  std::vector<Slot> slots_;
  std::vector<int> slot_of_;  // by index modulo the number of slots, for items not yet taken
  std::vector<int> free_slots_;
  std::vector<int> share_of_;  // of each worker; no two have the same
  std::vector<int> core_of_;   // on which each share was worked on last; -1: none
  uint64_t bytes_in_flight_ = 0;
  // take_index_ <= claim_index_ <= produce_index_ <= end_index_
  uint64_t take_index_ = 0;     // the next item to take
  uint64_t claim_index_ = 0;    // items before this one have no part that no worker has
  uint64_t produce_index_ = 0;  // the next item to produce
  uint64_t end_index_ = std::numeric_limits<uint64_t>::max();
  uint64_t failed_index_ = std::numeric_limits<uint64_t>::max();  // the lowest
  // An item that is produced but must wait for the byte budget; it has index produce_index_.
  bool staged_ = false;
  bool producing_ = false;  // produce_ runs, or what it gave is not staged yet
  uint64_t staged_bytes_ = 0;
  bool stop_ = false;
  Status sticky_;
  Times times_;
  std::vector<std::thread> threads_;
};

// An input of RunOrderedStream, with the bytes that it and its output hold while in flight.
template <typename Input>
struct PipelineInput {
  Input value;
  uint64_t bytes = 0;
};

namespace internal {

int EffectiveMaxInFlight(const PipelineOptions& options);
// Runs `pipeline` to its end on the calling thread; `consume` gets each item in order.
Status DrainPipeline(OrderedPipeline* pipeline,
                     const std::function<Status(const OrderedPipeline::Item&)>& consume);
// Runs a callback and turns an exception that leaves it into a status.
Status RunFenced(const std::function<Status()>& callback);

// The outputs of a batch of items, up to the first failure.
template <typename Output>
struct OutputBatch {
  std::vector<Output> outputs;
  Status status;
};

// Works on the items [begin, end). A failure of the first one is returned; that of a later one
// goes into the batch, for the outputs before it are to be consumed.
template <typename Output, typename Work>
Status WorkOnBatch(const PipelineOptions& options, uint64_t begin, uint64_t end, const Work& work,
                   OutputBatch<Output>* batch) {
  batch->outputs.reserve(end - begin);
  for (uint64_t index = begin; index < end; ++index) {
    const bool cancelled = options.cancelled && options.cancelled();
    batch->status = cancelled ? CancelledError("cancelled by the caller") : RunFenced([&] {
      Result<Output> output = work(index);
      if (!output.ok()) return output.status();
      batch->outputs.push_back(std::move(output).value());
      return OkStatus();
    });
    if (!batch->status.ok()) break;
  }
  return batch->outputs.empty() ? batch->status : OkStatus();
}

}  // namespace internal

// Items 0 … count-1:
//   work:    Result<Output>(uint64_t index, int worker)
//   consume: Status(uint64_t index, Output output)
template <typename Output, typename Work, typename Consume>
Status RunOrdered(const PipelineOptions& options, uint64_t count, Work work, Consume consume) {
  using Item = OrderedPipeline::Item;
  const uint64_t size = std::max<uint64_t>(1, options.batch);
  std::vector<internal::OutputBatch<Output>> batches(internal::EffectiveMaxInFlight(options));
  const auto end_of = [&](const Item& item) {
    return std::min(count, item.index * size + std::min(size, count));
  };
  auto produce = [&](const Item& item) -> Result<std::optional<OrderedPipeline::Size>> {
    const uint64_t begin = item.index * size;
    if (begin >= count) return std::optional<OrderedPipeline::Size>();
    uint64_t bytes = 0;
    for (uint64_t i = begin; options.item_bytes && i < end_of(item); ++i) {
      bytes += options.item_bytes(i);
    }
    return std::optional<OrderedPipeline::Size>({bytes, 1});
  };
  auto work_on_batch = [&](const Item& item, uint32_t, int worker) -> Status {
    return internal::WorkOnBatch<Output>(
        options, item.index * size, end_of(item),
        [&](uint64_t index) { return work(index, worker); }, &batches[item.slot]);
  };
  ASSIGN_OR_RETURN(auto pipeline, OrderedPipeline::Start(options, produce, work_on_batch));
  return internal::DrainPipeline(pipeline.get(), [&](const Item& item) -> Status {
    internal::OutputBatch<Output> batch = std::exchange(batches[item.slot], {});
    uint64_t index = item.index * size;
    for (Output& output : batch.outputs) RETURN_IF_ERROR(consume(index++, std::move(output)));
    return batch.status;
  });
}

// As many items as `produce` gives:
//   produce: Result<std::optional<PipelineInput<Input>>>()
//   work:    Result<Output>(Input input, int worker)
//   consume: Status(Output output)
template <typename Input, typename Output, typename ProduceInput, typename Work, typename Consume>
Status RunOrderedStream(const PipelineOptions& options, ProduceInput produce_input, Work work,
                        Consume consume) {
  using Item = OrderedPipeline::Item;
  const int slots = internal::EffectiveMaxInFlight(options);
  std::vector<std::optional<Input>> inputs(slots);
  std::vector<std::optional<Output>> outputs(slots);
  auto produce = [&](const Item& item) -> Result<std::optional<OrderedPipeline::Size>> {
    ASSIGN_OR_RETURN(std::optional<PipelineInput<Input>> input, produce_input());
    if (!input.has_value()) return std::optional<OrderedPipeline::Size>();
    inputs[item.slot].emplace(std::move(input->value));
    return std::optional<OrderedPipeline::Size>({input->bytes, 1});
  };
  auto work_on_slot = [&](const Item& item, uint32_t, int worker) -> Status {
    Input input = std::move(*inputs[item.slot]);
    inputs[item.slot].reset();
    Result<Output> output = work(std::move(input), worker);
    if (!output.ok()) return output.status();
    outputs[item.slot].emplace(std::move(output).value());
    return OkStatus();
  };
  ASSIGN_OR_RETURN(auto pipeline, OrderedPipeline::Start(options, produce, work_on_slot));
  return internal::DrainPipeline(pipeline.get(), [&](const Item& item) -> Status {
    Output output = std::move(*outputs[item.slot]);
    outputs[item.slot].reset();
    return consume(std::move(output));
  });
}

}  // namespace shardmill
