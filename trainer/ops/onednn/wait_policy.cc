// OpenMP threads spin for about 0.1 ms while they wait for each other, then sleep.
//
// libgomp's default is some milliseconds. A spinning thread holds its CPU: as soon as anything
// else wants it (the loader's thread, another rank, another user) each barrier can cost a whole
// time slice, and a step takes 2 to 4 times as long. Not to spin at all costs a fifth of the speed
// where the CPUs are free, because a step has hundreds of short parallel parts.
//
// libgomp reads the environment once, when it is loaded: before any code of the program can change
// it. (A change in .preinit_array is lost: glibc sets the environment again behind it.) So the
// program starts itself a second time, before main and before there is any thread. A user's own
// setting wins, and where the restart is not possible the default stays.
#include <limits.h>
#include <unistd.h>

#include <cstdlib>

namespace {

constexpr char kSpinCount[] = "5000";

__attribute__((constructor)) void RestartWithShortSpin(int /*argc*/, char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  if (std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  if (setenv("GOMP_SPINCOUNT", kSpinCount, /*overwrite=*/0) != 0) return;
  // By its path, so that ps and pgrep go on showing the name of the program.
  constexpr char kSelf[] = "/proc/self/exe";
  char path[PATH_MAX];
  const ssize_t length = readlink(kSelf, path, sizeof path - 1);
  if (length > 0) {
    path[length] = '\0';
    execv(path, argv);
  }
  execv(kSelf, argv);
}

}  // namespace
