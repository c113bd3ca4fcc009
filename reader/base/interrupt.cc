#include "reader/base/interrupt.h"

#include <signal.h>

#include <atomic>
#include <cerrno>
#include <string>

namespace shardmill {
namespace {

static_assert(std::atomic<int>::is_always_lock_free, "the handler needs a lock-free flag");
std::atomic<int> interrupt_signal{0};

// SA_RESETHAND has already restored the default action of this signal; the other one is
// restored here, so that any second signal ends the process.
void OnInterrupt(int signal_number) {
  const int saved_errno = errno;
  interrupt_signal.store(signal_number, std::memory_order_relaxed);
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  const int other = signal_number == SIGINT ? SIGTERM : SIGINT;
  struct sigaction current = {};
  if (sigaction(other, nullptr, &current) == 0 && current.sa_handler == OnInterrupt) {
    sigaction(other, &action, nullptr);
  }
  errno = saved_errno;
}

Status InstallOne(int signal_number) {
  struct sigaction current = {};
  if (sigaction(signal_number, nullptr, &current) != 0) return ErrnoError("sigaction", errno);
  if (current.sa_handler == SIG_IGN) return OkStatus();
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  if (sigaction(signal_number, &action, nullptr) != 0) return ErrnoError("sigaction", errno);
  return OkStatus();
}

}  // namespace

Status InstallInterruptHandlers() {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  if (sigaction(SIGXFSZ, &ignore, nullptr) != 0) return ErrnoError("sigaction", errno);
  RETURN_IF_ERROR(InstallOne(SIGINT));
  return InstallOne(SIGTERM);
}

int InterruptSignal() { return interrupt_signal.load(std::memory_order_relaxed); }

void AdoptInterrupt(int signal_number) {
  if (signal_number != SIGINT && signal_number != SIGTERM) return;
  int none = 0;
  interrupt_signal.compare_exchange_strong(none, signal_number, std::memory_order_relaxed);
}

Status CheckInterrupt() {
  const int signal_number = InterruptSignal();
  if (signal_number == 0) return OkStatus();
  return CancelledError(std::string("interrupted by ") +
                        (signal_number == SIGINT ? "SIGINT" : "SIGTERM"));
}

int ExitCodeAfterInterrupt(const Status& status) {
  if (status.code() == StatusCode::kCancelled && InterruptSignal() == SIGTERM) return 143;
  return ExitCode(status);
}

}  // namespace shardmill
