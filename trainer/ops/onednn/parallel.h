// Loops over the OpenMP threads that oneDNN uses too.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace shardmill {

// The most threads that a ParallelFor may run on.
inline int64_t MaxThreads() { return omp_in_parallel() ? 1 : omp_get_max_threads(); }

// Calls body(index, thread) for each index in [0, count); thread < MaxThreads(). A thread takes
// consecutive indices. What is computed must not depend on the thread.
template <typename Body>
void ParallelFor(int64_t count, const Body& body) {
  if (count <= 1 || MaxThreads() == 1) {
    for (int64_t i = 0; i < count; ++i) body(i, int64_t{0});
    return;
  }
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < count; ++i) body(i, static_cast<int64_t>(omp_get_thread_num()));
}

// Cuts [0, size) into equal pieces of at least `smallest` elements and calls body(begin, end).
// The cut depends on `size` and `smallest` only.
template <typename Body>
void ParallelRanges(int64_t size, int64_t smallest, const Body& body) {
  constexpr int64_t kMostPieces = 256;
  const int64_t pieces = std::clamp<int64_t>(size / smallest, 1, kMostPieces);
  const int64_t length = (size + pieces - 1) / pieces;
  ParallelFor(pieces, [&](int64_t piece, int64_t) {
    const int64_t begin = std::min(size, piece * length);
    body(begin, std::min(size, begin + length));
  });
}

}  // namespace shardmill
