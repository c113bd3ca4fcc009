// The commands of shardmill-train: options in, a run, results on stdout.
#pragma once

#include "reader/console/command_line.h"

namespace shardmill {

// Trains: the default command.
void AddTrainCommand(CommandLine* commands);
// Writes predictions of a checkpoint.
void AddPredictCommand(CommandLine* commands);
// Writes the weights of a checkpoint for other programs.
void AddExportCommand(CommandLine* commands);
// Prints the description of a model.
void AddModelCommand(CommandLine* commands);
// Prepares the convolutions of a model for a GPU.
void AddPlanCommand(CommandLine* commands);
// Scores a checkpoint on a split.
void AddEvaluateCommand(CommandLine* commands);

}  // namespace shardmill
