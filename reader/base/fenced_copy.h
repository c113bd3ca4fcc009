// Reading mapped memory whose file may shrink or whose disk may fail.
//
// Touching a mapped page that no longer has a file behind it raises SIGBUS, which ends the
// process. Inside a fence it ends only the read: RunFenced() returns false. The fence covers one
// registered range and the calling thread; a SIGBUS from anywhere else goes to the handler that
// was installed before, or to the default one.
//
// The first use installs a process-wide SIGBUS handler. Safe from any thread; fences do not nest.
#pragma once

#include <cstdint>

namespace shardmill {

// Calls body(context), which reads only mapped memory in [begin, begin + bytes). When such a read
// raises SIGBUS, the body is left by a jump and the result is false. So the body must hold
// nothing that a destructor would have to release: it copies or sums bytes and nothing else.
[[nodiscard]] bool RunFenced(const void* begin, uint64_t bytes, void (*body)(void*), void* context);

// memcpy out of a mapping; false when the mapping lost a page (`out` is then undefined).
[[nodiscard]] bool FencedCopy(void* out, const void* from, uint64_t bytes);

}  // namespace shardmill
