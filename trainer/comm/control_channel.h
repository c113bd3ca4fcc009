// Small messages between ranks, apart from the data: notes of where a rank is, questions whether a
// rank is alive, and the news of a failure.
//
// Sends never block and their buffers are reused; after a few calls nothing is allocated.
// Not for concurrent use.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "trainer/comm/call_position.h"
#include "trainer/comm/mpi_plugin.h"

namespace shardmill {

enum class ControlKind : uint32_t {
  kNote = 1,    // the sender has started `position`
  kAsk = 2,     // are you waiting, and where?
  kAnswer = 3,  // the sender is waiting in `position`
  kAbort = 4,   // the job ends: status code and text
};

struct ControlMessage {
  static constexpr uint32_t kMaxText = 3072;

  ControlKind kind = ControlKind::kNote;
  uint32_t status_code = 0;  // kAbort only
  uint32_t text_bytes = 0;   // kAbort only; only so much of `text` is sent
  uint32_t reserved = 0;
  CallPosition position;
  char text[kMaxText];

  std::string_view text_view() const { return {text, text_bytes}; }
};

class ControlChannel {
 public:
  explicit ControlChannel(const shardmill_mpi_table* table) : table_(*table) {}
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  Status Send(int rank, ControlKind kind, const CallPosition& position);
  Status SendAbort(int rank, const CallPosition& position, const Status& failure);

  // Takes one message that has arrived, if any, and says from whom. The content was checked.
  Result<bool> Take(ControlMessage* message, int* source);

  // True when all messages have left this process.
  Result<bool> Flushed();

 private:
  struct Slot {
    ControlMessage message;
    shardmill_mpi_request request = 0;
    bool busy = false;
  };

  Result<Slot*> FreeSlot();
  Status Start(int rank, Slot* slot);
  Result<bool> IsFree(Slot* slot);

  const shardmill_mpi_table& table_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace shardmill
