// OpenMP threads spin for about 0.1 ms while they wait for each other, then sleep.
//
// libgomp's default is some milliseconds. A spinning thread holds its CPU: as soon as anything
// else wants it (the loader's thread, another rank, another user) each barrier can cost a whole
// time slice, and a step takes 2 to 4 times as long. Not to spin at all costs a fifth of the speed
// where the CPUs are free, because a step has hundreds of short parallel parts. libgomp reads the
// environment when it is loaded, so the setting must be there before any library's constructor
// runs: that is what the executable's .preinit_array is for. A user's own setting wins.
#include <cstdlib>

namespace {

constexpr char kSpinCount[] = "5000";

void SpinShortly() {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("GOMP_SPINCOUNT", kSpinCount, /*overwrite=*/0);
}

__attribute__((section(".preinit_array"), used)) void (*const spin_shortly)() = SpinShortly;

}  // namespace
