#include "trainer/comm/control_channel.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "trainer/comm/mpi_library.h"

namespace shardmill {
namespace {

constexpr int kTag = 1;
constexpr int kHeaderBytes = offsetof(ControlMessage, text);

bool IsSound(const ControlMessage& message, int bytes) {
  return bytes >= kHeaderBytes && message.text_bytes <= ControlMessage::kMaxText &&
         bytes == kHeaderBytes + static_cast<int>(message.text_bytes) &&
         message.kind >= ControlKind::kNote && message.kind <= ControlKind::kAbort &&
         message.status_code <= static_cast<uint32_t>(StatusCode::kInternal);
}

}  // namespace

Status ControlChannel::Send(int rank, ControlKind kind, const CallPosition& position) {
  ASSIGN_OR_RETURN(Slot * slot, FreeSlot());
  slot->message.kind = kind;
  slot->message.status_code = 0;
  slot->message.text_bytes = 0;
  slot->message.position = position;
  return Start(rank, slot);
}

Status ControlChannel::SendAbort(int rank, const CallPosition& position, const Status& failure) {
  ASSIGN_OR_RETURN(Slot * slot, FreeSlot());
  ControlMessage& message = slot->message;
  message.kind = ControlKind::kAbort;
  message.status_code = static_cast<uint32_t>(failure.code());
  message.text_bytes =
      static_cast<uint32_t>(std::min<size_t>(failure.message().size(), ControlMessage::kMaxText));
  message.position = position;
  std::memcpy(message.text, failure.message().data(), message.text_bytes);
  return Start(rank, slot);
}

Status ControlChannel::Start(int rank, Slot* slot) {
  const int bytes = kHeaderBytes + static_cast<int>(slot->message.text_bytes);
  RETURN_IF_ERROR(MpiStatus(
      table_, table_.send(SHARDMILL_MPI_CONTROL, &slot->message, bytes, rank, kTag, &slot->request),
      "send a control message"));
  slot->busy = true;
  return OkStatus();
}

Result<bool> ControlChannel::Take(ControlMessage* message, int* source) {
  int bytes = -1;
  RETURN_IF_ERROR(MpiStatus(table_, table_.take_control(message, sizeof *message, source, &bytes),
                            "receive a control message"));
  if (bytes < 0) return false;
  if (!IsSound(*message, bytes)) {
    return UnavailableError("rank " + std::to_string(*source) +
                            " sent a control message of an unknown form; do all hosts run the "
                            "same build of this program?");
  }
  return true;
}

Result<bool> ControlChannel::IsFree(Slot* slot) {
  if (!slot->busy) return true;
  int done = 0;
  RETURN_IF_ERROR(
      MpiStatus(table_, table_.test(&slot->request, &done), "finish a control message"));
  slot->busy = done == 0;
  return !slot->busy;
}

Result<ControlChannel::Slot*> ControlChannel::FreeSlot() {
  for (auto& slot : slots_) {
    ASSIGN_OR_RETURN(const bool is_free, IsFree(slot.get()));
    if (is_free) return slot.get();
  }
  slots_.push_back(std::make_unique<Slot>());
  return slots_.back().get();
}

Result<bool> ControlChannel::Flushed() {
  for (auto& slot : slots_) {
    ASSIGN_OR_RETURN(const bool is_free, IsFree(slot.get()));
    if (!is_free) return false;
  }
  return true;
}

}  // namespace shardmill
