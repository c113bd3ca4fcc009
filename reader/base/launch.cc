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
};

constexpr Variables kLaunchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", ""},
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
    return launch;
  }
  return Launch{};
}

}  // namespace shardmill
