// Ctrl-C and termination as a flag, so that a program stops at a safe point and cleans up.
//
// The first SIGINT or SIGTERM only sets the flag; a second one ends the process at once, as if
// nothing had been installed. Process-wide; all functions may be called from any thread.
#pragma once

#include "reader/base/status.h"

namespace shardmill {

// Installs the handlers. A signal that the process was started with as ignored stays ignored
// (nohup, background jobs of a shell). Also ignores SIGXFSZ: a write beyond the limit on file sizes
// is then an error, like any other failed write.
Status InstallInterruptHandlers();

// The signal that came, or 0. Async-signal-safe; suits PipelineOptions::cancelled.
int InterruptSignal();
inline bool WasInterrupted() { return InterruptSignal() != 0; }

// A signal that came to another process of the same job counts as if it had come here, unless one
// has come here already. Other numbers than those of SIGINT and SIGTERM change nothing.
void AdoptInterrupt(int signal_number);

// kCancelled "interrupted by SIGINT", once a signal has come; else OK.
Status CheckInterrupt();

// ExitCode(status), but 143 when the program was cancelled by SIGTERM.
int ExitCodeAfterInterrupt(const Status& status);

}  // namespace shardmill
