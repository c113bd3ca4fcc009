#include "trainer/comm/job_end.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "reader/base/error_prefix.h"
#include "reader/base/interrupt.h"
#include "reader/console/terminal.h"

namespace shardmill {
namespace {

constexpr size_t kMaxMessage = 4096;

std::string Encode(const Status& status) {
  return static_cast<char>(status.code()) + status.message().substr(0, kMaxMessage);
}

Status Decode(const std::string& text) {
  const auto code = static_cast<uint8_t>(text.empty() ? 0 : text[0]);
  if (code > static_cast<uint8_t>(StatusCode::kInternal)) {
    return InternalError("a rank sent a status of an unknown form");
  }
  return code == 0 ? OkStatus() : Status(static_cast<StatusCode>(code), text.substr(1));
}

// Any rank may have got the signal, and rank 0 gives the job its exit code.
Status ShareInterrupt(Communicator* communicator) {
  ASSIGN_OR_RETURN(const std::vector<std::string> all,
                   communicator->Gather(std::to_string(InterruptSignal()), "signal"));
  for (const std::string& text : all) AdoptInterrupt(std::atoi(text.c_str()));
  return OkStatus();
}

// What a rank says that did not get the signal itself lacks its name.
Status NamingTheSignal(const Status& status) {
  const Status interrupt = CheckInterrupt();
  if (status.code() != StatusCode::kCancelled || interrupt.ok()) return status;
  if (status.message().find(interrupt.message()) != std::string::npos) return status;
  return status.WithContext(interrupt.message());
}

// What has been printed so far comes first.
void Say(const Status& status) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s%s\n", ErrorPrefix().c_str(),
               EscapeControl(status.message(), KeepLineEnds::kYes).c_str());
}

}  // namespace

Status AgreeOnStatus(Communicator* communicator, const Status& own, std::string_view name) {
  if (communicator->size() == 1) return own;
  ASSIGN_OR_RETURN(const std::vector<std::string> all, communicator->Gather(Encode(own), name));
  const bool alike = std::equal(all.begin() + 1, all.end(), all.begin());
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const Status status = Decode(all[rank]);
    if (status.ok()) continue;
    return alike ? status
                 : status.WithContext("rank " + std::to_string(rank) + " of " +
                                      std::to_string(all.size()));
  }
  return OkStatus();
}

Result<int> EndJob(Communicator* communicator, const Status& status, Known known) {
  if (communicator->size() == 1) {
    if (!status.ok()) return status;
    return 0;
  }
  // Whoever failed first has reported it.
  if (!communicator->failure().ok()) return ExitCodeAfterInterrupt(communicator->failure());
  if (!status.ok() && known == Known::kHere) {
    return ExitCodeAfterInterrupt(communicator->Abort(status));
  }
  if (status.code() == StatusCode::kCancelled) {
    if (const Status shared = ShareInterrupt(communicator); !shared.ok()) return ExitCode(shared);
  }
  // While all are still there: a launcher ends the others once one rank has failed.
  if (!status.ok() && communicator->rank() == 0) Say(NamingTheSignal(status));
  const Status closed = communicator->Close();
  // Of the same code on each rank. One that leaves with 0 must have told mpirun first, which a busy
  // machine does not always let it do in time: mpirun then calls that an improper end, of code 1.
  if (!status.ok()) return ExitCodeAfterInterrupt(status);
  return closed.ok() ? 0 : ExitCode(closed);
}

}  // namespace shardmill
