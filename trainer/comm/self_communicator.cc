#include "trainer/comm/self_communicator.h"

namespace shardmill {
namespace {

class SelfCommunicator final : public Communicator {
 public:
  SelfCommunicator() : Communicator(RankLayout{}) {}

  void set_step(int64_t) override {}
  Status Barrier(std::string_view) override { return failure_; }
  Status Broadcast(void*, int64_t, int root, std::string_view name) override {
    if (root != 0) {
      return InternalError(std::string(name) + ": there is no rank " + std::to_string(root));
    }
    return failure_;
  }
  Result<StartedCall> StartSum(void*, int64_t, SumType, std::string_view) override {
    if (!failure_.ok()) return failure_;
    return StartedCall{0};
  }
  Status Wait(StartedCall) override { return failure_; }
  Status Progress() override { return failure_; }
  Result<std::vector<std::string>> Gather(std::string_view message, std::string_view) override {
    if (!failure_.ok()) return failure_;
    return std::vector<std::string>{std::string(message)};
  }
  Status Exchange(const std::vector<SendPiece>& sends, const std::vector<ReceivePiece>& receives,
                  std::string_view name) override {
    if (!sends.empty() || !receives.empty()) {
      return InternalError(std::string(name) + ": there is no other rank to exchange with");
    }
    return failure_;
  }
  // One rank tells nobody: its caller reports the error as that of any program.
  Status Abort(const Status& status) override {
    if (failure_.ok()) failure_ = status;
    return failure_;
  }
  Status AbortTogether(const Status& status) override { return Abort(status); }
  double waited_seconds() const override { return 0; }
  const Status& failure() const override { return failure_; }
  Status Close() override { return failure_; }

 private:
  Status failure_;
};

}  // namespace

std::unique_ptr<Communicator> CreateSelfCommunicator() {
  return std::make_unique<SelfCommunicator>();
}

}  // namespace shardmill
