// OpenMP threads sleep while they wait for each other, instead of spinning.
//
// A spinning thread holds its CPU until its time slice ends. As soon as anything else wants that
// CPU (the loader's thread, another rank, another user) each barrier then costs whole time slices:
// on two cores shared with other work, sleeping made a training step 2.5 times as fast. libgomp
// reads the environment when it is loaded, so the setting must be there before any library's
// constructor runs: that is what the executable's .preinit_array is for. A value set by the user
// wins.
#include <cstdlib>

namespace {

void WaitPassively() { setenv("OMP_WAIT_POLICY", "passive", /*overwrite=*/0); }

__attribute__((section(".preinit_array"), used)) void (*const wait_passively)() = WaitPassively;

}  // namespace
