#include "reader/base/launch.h"

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace shardmill {
namespace {

struct Variables {
  const char* size;
  const char* rank;
  const char* local_size;  // empty: the launcher has no such variable
  const char* job;
  const char* step;  // of the job, where a job may start several programs
};

constexpr Variables kLaunchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "OMPI_MCA_ess_base_jobid", ""},
    {"PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS", "SLURM_JOB_ID", "SLURM_STEP_ID"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "", "SLURM_JOB_ID", "SLURM_STEP_ID"},
};

constexpr int kMaxRanks = 1 << 20;

Result<int> ReadNumber(const char* variable, int smallest, int largest) {
  const char* text = std::getenv(variable);
  int number = 0;
  if (text != nullptr) {
    const std::string_view digits(text);
    const auto [end, error] = std::from_chars(text, text + digits.size(), number);
    if (error == std::errc() && end == text + digits.size() && number >= smallest &&
        number <= largest) {
      return number;
    }
  }
  return InvalidArgumentError(std::string("the environment variable ") + variable + " is " +
                              (text == nullptr ? "missing" : "'" + std::string(text) + "'") +
                              "; the launcher should have set it to a number from " +
                              std::to_string(smallest) + " to " + std::to_string(largest));
}

std::string JobName(const Variables& launcher) {
  const char* job = std::getenv(launcher.job);
  if (job == nullptr) return "";
  const char* step = std::getenv(launcher.step);
  return step == nullptr ? job : std::string(job) + "." + step;
}

}  // namespace

Result<Launch> DetectLaunch() {
  for (const Variables& launcher : kLaunchers) {
    if (std::getenv(launcher.size) == nullptr) continue;
    Launch launch;
    ASSIGN_OR_RETURN(launch.size, ReadNumber(launcher.size, 1, kMaxRanks));
    if (launch.size > 1) {
      ASSIGN_OR_RETURN(launch.rank, ReadNumber(launcher.rank, 0, launch.size - 1));
    }
    launch.local_size = launch.size;
    if (std::getenv(launcher.local_size) != nullptr) {
      ASSIGN_OR_RETURN(launch.local_size, ReadNumber(launcher.local_size, 1, launch.size));
    }
    launch.job = JobName(launcher);
    return launch;
  }
  return Launch{};
}

}  // namespace shardmill
