#include "reader/base/fenced_copy.h"

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include <cstring>

#include "reader/base/status.h"

namespace shardmill {
namespace {

struct Fence {
  uintptr_t begin;
  uintptr_t end;
  sigjmp_buf landing;
  sigset_t signal_mask;  // as it was when the signal came
};

// volatile: read by the signal handler of the same thread.
thread_local Fence* volatile current_fence = nullptr;

struct sigaction previous_action;

void PassOn(int signal_number, siginfo_t* info, void* context) {
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
    previous_action.sa_sigaction(signal_number, info, context);
  } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal_number);
  } else {
    // The default action, at the same instruction: the core dump shows the real place.
    signal(signal_number, SIG_DFL);
  }
}

void OnBusError(int signal_number, siginfo_t* info, void* context) {
  Fence* const fence = current_fence;
  const uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (fence != nullptr && address >= fence->begin && address < fence->end) {
    current_fence = nullptr;
    fence->signal_mask = static_cast<const ucontext_t*>(context)->uc_sigmask;
    siglongjmp(fence->landing, 1);
  }
  PassOn(signal_number, info, context);
}

bool InstallHandler() {
  struct sigaction action = {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  SHARDMILL_CHECK(sigaction(SIGBUS, &action, &previous_action) == 0);
  return true;
}

struct CopyRequest {
  void* out;
  const void* from;
  uint64_t bytes;
};

void Copy(void* context) {
  const CopyRequest& request = *static_cast<const CopyRequest*>(context);
  std::memcpy(request.out, request.from, request.bytes);
}

}  // namespace

bool RunFenced(const void* begin, uint64_t bytes, void (*body)(void*), void* context) {
  static const bool installed = InstallHandler();
  (void)installed;
  SHARDMILL_CHECK(current_fence == nullptr);
  // The faulting address of a vector load may be reported as the start of its page.
  constexpr uintptr_t kPageMask = 4095;
  Fence fence;
  fence.begin = reinterpret_cast<uintptr_t>(begin) & ~kPageMask;
  fence.end = (reinterpret_cast<uintptr_t>(begin) + bytes + kPageMask) & ~kPageMask;
  // The mask is not saved here, which would cost a system call per read, but by the handler.
  if (sigsetjmp(fence.landing, 0) != 0) {
    SHARDMILL_CHECK(pthread_sigmask(SIG_SETMASK, &fence.signal_mask, nullptr) == 0);
    return false;
  }
  current_fence = &fence;
  body(context);
  current_fence = nullptr;
  return true;
}

bool FencedCopy(void* out, const void* from, uint64_t bytes) {
  if (bytes == 0) return true;
  CopyRequest request = {out, from, bytes};
  return RunFenced(from, bytes, Copy, &request);
}

}  // namespace shardmill
