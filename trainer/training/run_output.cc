#include "trainer/training/run_output.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "proto/checkpoint.pb.h"
#include "reader/base/file.h"
#include "reader/base/text_file.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/config/config.h"
#include "trainer/export/output_file.h"
#include "trainer/logs/jsonl_log.h"
#include "trainer/logs/open_log.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostConfigBytes = 1 << 20;

bool AreTheSame(const std::string& path, const std::string& other) {
  std::error_code error;
  return fs::equivalent(path, other, error);
}

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
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
  const std::string name = FindCheckpoint(setup.config.output());
  if (name.empty()) return OkStatus();
  return InvalidArgumentError("the folder " + setup.config.output() + " already holds a run (" +
                              name +
                              "): go on with --resume, choose another --output, or replace it "
                              "with --overwrite");
}

// The run writes its own configuration under this name, which must not be the user's file.
Status CheckConfigFile(const TrainSetup& setup) {
  if (setup.overwrite || GoesOnInPlace(setup)) return OkStatus();
  for (const std::string& input :
       {setup.config_file, setup.config.model(), setup.config.class_weights()}) {
    if (input.empty() || !AreTheSame(input, setup.OutputPath(kConfigFile))) continue;
    return InvalidArgumentError("the run would replace " + input +
                                ", which it reads: give the file another name, choose another "
                                "--output, or replace it with --overwrite");
  }
  return OkStatus();
}

// Files of another origin that have the names of the run's own.
Status CheckForeignFiles(const TrainSetup& setup) {
  if (setup.overwrite || GoesOnInPlace(setup)) return OkStatus();
  const std::string config = setup.OutputPath(kConfigFile), log = setup.OutputPath(kLogFile);
  const Result<std::string> text = ReadTextFile(config, kMostConfigBytes);
  const bool is_replaceable =
      text.ok() ? text->empty() || ParseConfigJson(*text, config).ok()
                : text.status().code() == StatusCode::kNotFound || IsFolder(config);
  if (is_replaceable && JsonlLog::MayReplace(log)) return OkStatus();
  return InvalidArgumentError((is_replaceable ? log : config) +
                              " is there already, and of no run: choose another --output, or "
                              "replace it with --overwrite");
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
  // Who reads a pipe would take this for its end.
  if (!fs::is_regular_file(log, error)) return OkStatus();
  ASSIGN_OR_RETURN(const int file, OpenLog(log, LogStart::kAtEnd));
  close(file);
  return OkStatus();
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
  return CheckOutputFile("--trace", setup.trace, OutputKind::kTrace);
}

Status WriteWhole(const std::string& path, const std::string& bytes) {
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  RETURN_IF_ERROR(file.Append(bytes.data(), bytes.size()));
  return file.Commit();
}

// The checkpoint at `path` where it is the best that `progress` tells of: the same epoch of a run
// that scored the same there.
std::optional<LoadedCheckpoint> ReadBest(const std::string& path, const proto::Progress& progress) {
  Result<LoadedCheckpoint> checkpoint = LoadedCheckpoint::Read(path);
  if (!checkpoint.ok() || !progress.has_best_epoch()) return std::nullopt;
  const proto::Progress& found = checkpoint->description().progress();
  if (!found.has_best_epoch() || found.best_epoch() != progress.best_epoch() ||
      found.best_score() != progress.best_score() || found.epoch() != found.best_epoch() + 1 ||
      found.step_in_epoch() != 0) {
    return std::nullopt;
  }
  return std::move(checkpoint).value();
}

// Of a run that goes on: the best checkpoint so far, under its name in OUTPUT. It may lie beside
// the one that was resumed, or be that itself; where it is gone, the best is chosen anew.
Result<std::string> TakeBest(TrainSetup* setup) {
  proto::Progress& progress = *setup->description.mutable_progress();
  const std::string best = setup->OutputPath(kBestCheckpoint);
  if (ReadBest(best, progress)) return std::string();
  for (const std::string& path :
       {JoinPath(FolderName(setup->resumed_from), kBestCheckpoint), setup->resumed_from}) {
    const std::optional<LoadedCheckpoint> found = ReadBest(path, progress);
    if (!found) continue;
    RETURN_IF_ERROR(WriteWhole(best, found->bytes()));
    return std::string();
  }
  // What lies there is of steps that are taken back.
  std::error_code error;
  fs::remove(best, error);
  if (error) return IoError("cannot remove " + best + ": " + error.message());
  if (!progress.has_best_epoch()) return std::string();
  const std::string epoch = std::to_string(progress.best_epoch() + 1);
  progress.clear_best_epoch();
  progress.clear_best_score();
  progress.clear_best_class_iou();
  return "the best checkpoint so far, of epoch " + epoch + ", is not there any more: the best is " +
         "chosen among the epochs that follow";
}

}  // namespace

bool GoesOnInPlace(const TrainSetup& setup) {
  return !setup.resumed_from.empty() &&
         AreTheSame(FolderName(setup.resumed_from), setup.config.output());
}

Status ReserveOutput(TrainSetup* setup) {
  RETURN_IF_ERROR(LockOutput(setup));
  RETURN_IF_ERROR(CheckEarlierRun(*setup));
  RETURN_IF_ERROR(CheckConfigFile(*setup));
  RETURN_IF_ERROR(CheckForeignFiles(*setup));
  RETURN_IF_ERROR(CheckFiles(*setup));
  if (!setup->resumed_from.empty() && !GoesOnInPlace(*setup)) {
    setup->notices.push_back("the run goes on in the folder " + setup->config.output() +
                             "; that of its checkpoint stays as it is");
  }
  return CheckTrace(*setup);
}

Result<std::string> TakeOutput(TrainSetup* setup) {
  const std::string& output = setup->config.output();
  RETURN_IF_ERROR(RemoveLeftovers(output));
  // On a full disk this fails, so it comes before anything is removed.
  RETURN_IF_ERROR(WriteWhole(setup->OutputPath(kConfigFile), ConfigToJson(setup->config)));
  if (GoesOnInPlace(*setup)) {
    RETURN_IF_ERROR(RemoveStaleEpochs(output, setup->description.progress().epoch(),
                                      static_cast<uint64_t>(setup->config.keep_epochs())));
  } else {
    RETURN_IF_ERROR(RemoveRun(output));
  }
  if (setup->resumed_from.empty()) return std::string();
  return TakeBest(setup);
}

}  // namespace shardmill
