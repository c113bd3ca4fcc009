#include "trainer/commands/local_ranks.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace shardmill {
namespace {

constexpr char kGpus[] = "--gpus";

bool StartsWith(const std::string& word, const std::string& start) {
  return word.compare(0, start.size(), start) == 0;
}

// Open MPI reads these; others do not mind them.
void SetMpiHabits() {
  const char* const variables[][2] = {
      {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
      {"OMPI_MCA_hwloc_base_binding_policy", "none"},
      {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
      // Seconds until Ctrl-C becomes SIGTERM, and from then on until SIGKILL: at one of each, a
      // step and a checkpoint may not be done.
      {"OMPI_MCA_odls_base_sigkill_timeout", "5"},
      {"PRTE_MCA_hwloc_default_binding_policy", "none"},
      {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
  };
  for (const auto& variable : variables) setenv(variable[0], variable[1], /*overwrite=*/0);
}

}  // namespace

Result<std::vector<std::string>> OwnWords() {
  // A file whose size is said to be 0.
  const std::string path = "/proc/self/cmdline";
  std::ifstream file(path, std::ios::binary);
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> words;
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = line.find('\0', begin);
    words.push_back(line.substr(begin, end - begin));
    begin = end == std::string::npos ? line.size() : end + 1;
  }
  if (words.empty()) return UnavailableError("cannot read " + path);
  words.erase(words.begin());
  return words;
}

std::vector<std::string> WordsOfRanks(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  bool names_device = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == kGpus) {
      ++i;  // its value
      continue;
    }
    if (StartsWith(word, std::string(kGpus) + "=")) continue;
    names_device = names_device || word == "--device" || StartsWith(word, "--device=");
    kept.push_back(word);
  }
  if (!names_device) {
    kept.push_back("--device");
    kept.push_back("cuda");
  }
  return kept;
}

Status BecomeRanks(int ranks, const std::vector<std::string>& words) {
  char program[PATH_MAX + 1] = "";
  if (readlink("/proc/self/exe", program, PATH_MAX) <= 0) {
    return ErrnoError("--gpus: cannot tell where this program lies", errno);
  }
  SetMpiHabits();
  std::vector<std::string> line = {"mpirun", "-np", std::to_string(ranks), program};
  line.insert(line.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : line) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp("mpirun", arguments.data());
  return UnavailableError(ErrnoError("--gpus starts the ranks with mpirun, which does not start; "
                                     "install it (in Debian openmpi-bin)",
                                     errno)
                              .message());
}

}  // namespace shardmill
