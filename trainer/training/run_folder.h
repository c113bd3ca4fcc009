// The files that a run keeps in its output folder. Free functions, safe from any thread; those
// that remove files are for the one process that has the folder's lock.
#pragma once

#include <cstdint>
#include <string>

#include "reader/base/status.h"

namespace shardmill {

inline constexpr char kLastCheckpoint[] = "last.ckpt";
inline constexpr char kBestCheckpoint[] = "best.ckpt";
inline constexpr char kLogFile[] = "log.jsonl";
inline constexpr char kConfigFile[] = "config.json";

// "epoch-00012.ckpt": what --keep-epochs keeps behind epoch 12 (1 is the first).
std::string EpochCheckpoint(uint64_t epoch);

// `path`, or, where that is a folder, the checkpoint `name` in it.
std::string CheckpointFile(const std::string& path, const char* name);

// Whether a file of this name in its output folder is the run's own.
bool IsRunFile(const std::string& name);

// A checkpoint of a run in the folder; empty: there is none.
std::string FindCheckpoint(const std::string& folder);

// Checkpoints, kept batches and TensorBoard's logs of a run that is being replaced.
Status RemoveRun(const std::string& folder);

// Checkpoints of epochs behind epoch `done`, which the run has taken back, and of those before its
// last `kept` epochs; all up to `done` stay when `kept` is 0.
Status RemoveStaleEpochs(const std::string& folder, uint64_t done, uint64_t kept);

// What a run that was killed had begun to write.
Status RemoveLeftovers(const std::string& folder);

}  // namespace shardmill
