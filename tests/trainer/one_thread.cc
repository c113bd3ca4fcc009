// Linked into tests that need no second thread: OpenMP threads that wait for each other are very
// slow on a machine with other work.
#include <omp.h>

namespace {

[[maybe_unused]] const bool kOneThread = (omp_set_num_threads(1), true);

}  // namespace
