// Sums of GPU memory over the ranks, one process per GPU, through NCCL.
//
// Sums run on a communication stream, so GradientBuckets overlaps them with backward. Everything
// else, for memory of the host, is the bootstrap communicator's; it carries NCCL's id too.
//
// Errors: NCCL is non-blocking; its asynchronous errors, the deadline and what the other ranks
// tell through the bootstrap communicator are looked at in Progress and AwaitDevice. The deadline
// is for sums: time counts while a sum has all that it needs from this rank and is not done, for a
// GPU may compute for longer, 30 deadlines from one sum to the next. Where that cannot be told, in
// a captured step, it may take longer than before by the deadline. The first failure aborts NCCL,
// which ends what hangs on the device, and then the job; its message names the rank, the step and
// the sum that was not done. Of a captured step that is launched again only the first and the last
// sum are known.
//
// One thread at a time. All ranks make the same calls in the same order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/cuda/comm/device_communicator.h"
#include "trainer/cuda/comm/nccl_table.h"
#include "trainer/cuda/runtime/runtime.h"

namespace shardmill {

class NcclCommunicator final : public DeviceCommunicator {
 public:
  struct Parts {  // all must outlive the communicator
    Communicator* bootstrap = nullptr;
    CudaRuntime* runtime = nullptr;
    const NcclTable* nccl = nullptr;
    StreamHandle compute = nullptr;
  };
  // Exchanges the id and waits until all ranks are connected. The device of this rank is current.
  static Result<std::unique_ptr<NcclCommunicator>> Create(const Parts& parts,
                                                          const CommunicatorOptions& options);
  // Aborts NCCL unless it was closed.
  ~NcclCommunicator() override;

  // `data` is memory of the device.
  Result<StartedCall> StartSum(void* data, int64_t count, SumType type,
                               std::string_view name) override;
  Status Wait(StartedCall call) override;
  // Never blocks: NCCL's errors, and those of other ranks.
  Status Progress() override;
  Status AwaitDevice(EventHandle event, std::string_view name) override;
  void ForgetCaptured() override;
  void set_drop_graphs(std::function<bool()> drop_graphs) override {
    drop_graphs_ = std::move(drop_graphs);
  }

  // All after this is the bootstrap communicator's.
  void set_step(int64_t step) override;
  Status Barrier(std::string_view name) override;
  Status Broadcast(void* data, int64_t bytes, int root, std::string_view name) override;
  Result<std::vector<std::string>> Gather(std::string_view message, std::string_view name) override;
  Status Exchange(const std::vector<SendPiece>& sends, const std::vector<ReceivePiece>& receives,
                  std::string_view name) override;
  double waited_seconds() const override { return waited_seconds_; }
  Status Abort(const Status& status) override;
  Status AbortTogether(const Status& status) override;
  const Status& failure() const override { return parts_.bootstrap->failure(); }
  // Leaves NCCL; the bootstrap communicator stays.
  Status Close() override;

 private:
  struct Slot {
    EventHandle made = nullptr, summed = nullptr;
    bool busy = false;       // not yet given to Wait
    int64_t step = kNoStep;  // the last one that used it
  };
  // A sum of this step, or of one before it that may be under way.
  struct Started {
    int slot = 0;
    int64_t step = 0;
    std::string name;
  };
  static constexpr int64_t kNoStep = -1;
  // A step is enqueued while this many before it may be under way; see DeviceStep::kMostPending.
  static constexpr int64_t kStepsBefore = 1;

  NcclCommunicator(const Parts& parts, const CommunicatorOptions& options)
      : DeviceCommunicator(parts.bootstrap->layout()), parts_(parts), options_(options) {}
  Status Connect();
  // OK when NCCL has taken the call; waits while it is in progress, some deadlines long.
  Status Settle(int result, std::string_view name, int deadlines = 1);
  Status CheckTime(double waited_seconds, std::string_view name);
  // What is known of the sums that were started.
  enum class SumState { kNoneWaits, kOneWaits, kUnknown };
  SumState StateOfSums(const Started** waiting) const;
  Status LateError(std::string_view name, double limit_seconds) const;
  Status HangError(std::string_view name, double limit_seconds) const;
  // "gradient bucket 3 in step 12 on rank 2 of 4": the first sum that the device has not done; else
  // `name`, in this step.
  std::string Unfinished(std::string_view name) const;
  std::string Place(std::string_view what, int64_t step) const;
  Status Fail(const Status& status);
  Status NcclFailure(int result, const std::string& place) const;
  void AbortNccl();
  Result<int> FreeSlot();
  void ForgetOldSteps();

  Parts parts_;
  CommunicatorOptions options_;
  NcclHandle nccl_ = nullptr;
  StreamHandle stream_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<Started> started_;  // in order
  // Of one wait: since when what is waited for waits for other ranks, since when it is the same,
  // and when that was looked at.
  struct Clock {
    double since = 0, changed = 0, looked_at = 0;
    const void* waiting = nullptr;
    int64_t step = kNoStep;
  };
  Clock clock_;
  double longest_wait_ = 0;  // for a device that came, in seconds
  std::function<bool()> drop_graphs_;
  int64_t step_ = 0;
  double waited_seconds_ = 0;
};

}  // namespace shardmill
