// Writes the golden data sets into FOLDER/NAME and prints the table for proto/FORMAT.md. For new
// sets only: a committed file never changes, or old shards would no longer be proved readable.
// usage: write_golden_sets FOLDER [NAME…]
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "reader/shard_reader.h"
#include "tests/golden/golden_sets.h"

using namespace shardmill;  // NOLINT: a program of two functions

namespace {

int Fail(const Status& status) {
  std::fprintf(stderr, "write_golden_sets: %s\n", status.ToString().c_str());
  return ExitCode(status);
}

Status Write(const GoldenSet& set, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  RETURN_IF_ERROR(WriteGoldenSet(set, folder));
  for (size_t i = 0; i < set.shards.size(); ++i) {
    const std::string name = GoldenShardName(set, i);
    ASSIGN_OR_RETURN(const auto shard,
                     ShardReader::Open(folder + "/" + name, ChecksumPolicy::kAlways));
    std::printf("| `%s/%s` | %llu | `%s` |\n", set.name.c_str(), name.c_str(),
                static_cast<unsigned long long>(shard->file_bytes()),
                DigestToHex(shard->digest()).c_str());
  }
  return OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return Fail(InvalidArgumentError("usage: write_golden_sets FOLDER [NAME…]"));
  const std::vector<std::string> wanted(argv + 2, argv + argc);
  for (const GoldenSet& set : GoldenSets()) {
    const bool all = wanted.empty();
    if (!all && std::find(wanted.begin(), wanted.end(), set.name) == wanted.end()) continue;
    const Status status = Write(set, std::string(argv[1]) + "/" + set.name);
    if (!status.ok()) return Fail(status);
  }
  return 0;
}
