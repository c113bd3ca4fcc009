#include "trainer/run_output.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "reader/base/file.h"
#include "trainer/config.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

bool AreTheSame(const std::string& path, const std::string& other) {
  std::error_code error;
  return fs::equivalent(path, other, error);
}

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool GoesOnInPlace(const TrainSetup& setup) {
  return !setup.resumed_from.empty() &&
         AreTheSame(FolderName(setup.resumed_from), setup.config.output());
}

// Log and checkpoints of two runs would mix.
Status LockOutput(TrainSetup* setup) {
  const std::string& output = setup->config.output();
  if (AreTheSame(output, setup->config.dataset())) {
    return InvalidArgumentError("--output " + output +
                                " is the folder of the data set: choose another one");
  }
  std::error_code error;
  fs::create_directories(output, error);
  if (error) return IoError("cannot create the folder " + output + ": " + error.message());
  ASSIGN_OR_RETURN(setup->output_lock, FolderLock::TryAcquire(output));
  if (setup->output_lock) return OkStatus();
  return InvalidArgumentError("another program is writing to the folder " + output +
                              ": wait for it or choose another --output");
}

Status CheckEarlierRun(const TrainSetup& setup) {
  const bool in_place = GoesOnInPlace(setup);
  if (in_place && setup.overwrite) {
    return InvalidArgumentError(
        "--overwrite would remove the run that --resume goes on with: "
        "leave one of the two out, or choose another --output");
  }
  if (in_place || setup.overwrite) return OkStatus();
  for (const char* name : {kLastCheckpoint, kBestCheckpoint}) {
    std::error_code error;
    if (!fs::exists(setup.OutputPath(name), error)) continue;
    return InvalidArgumentError("the folder " + setup.config.output() + " already holds a run (" +
                                name +
                                "): go on with --resume, choose another --output, or replace it "
                                "with --overwrite");
  }
  return OkStatus();
}

// The lock is a new file in the folder; what is left to go wrong are files that are there already.
Status CheckFiles(const TrainSetup& setup) {
  for (const char* name : {kLastCheckpoint, kBestCheckpoint, kLogFile, kConfigFile}) {
    const std::string path = setup.OutputPath(name);
    if (!IsFolder(path)) continue;
    return InvalidArgumentError(path +
                                " is a folder, but the run writes a file of this name: "
                                "remove it or choose another --output");
  }
  const std::string log = setup.OutputPath(kLogFile);
  std::error_code error;
  if (!fs::is_regular_file(log, error)) return OkStatus();
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(log.c_str(), "ab"), std::fclose);
  return file != nullptr ? OkStatus() : ErrnoError(log + ": cannot open for writing", errno);
}

Status CheckTrace(const TrainSetup& setup) {
  if (setup.trace.empty()) return OkStatus();
  if (IsFolder(setup.trace)) {
    return InvalidArgumentError("--trace " + setup.trace + " is a folder: name a file");
  }
  if (IsRunFile(FileName(setup.trace)) &&
      AreTheSame(FolderName(setup.trace), setup.config.output())) {
    return InvalidArgumentError("--trace " + setup.trace +
                                " is a file of the run itself: choose another name");
  }
  return AtomicFile::Create(setup.trace).status().WithContext("--trace");
}

}  // namespace

Status ReserveOutput(TrainSetup* setup) {
  RETURN_IF_ERROR(LockOutput(setup));
  RETURN_IF_ERROR(CheckEarlierRun(*setup));
  RETURN_IF_ERROR(CheckFiles(*setup));
  return CheckTrace(*setup);
}

Status TakeOutput(const TrainSetup& setup) {
  const std::string& output = setup.config.output();
  RETURN_IF_ERROR(RemoveLeftovers(output));
  // On a full disk this fails, so it comes before anything is removed.
  const std::string config = ConfigToJson(setup.config);
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(setup.OutputPath(kConfigFile)));
  RETURN_IF_ERROR(file.Append(config.data(), config.size()));
  RETURN_IF_ERROR(file.Commit());
  return setup.overwrite ? RemoveRun(output) : OkStatus();
}

}  // namespace shardmill
