#include "trainer/config/config_table.h"

#include <utility>

#include "proto/train_config.pb.h"
#include "reader/base/status.h"

namespace shardmill {
namespace {

using Options = std::vector<ConfigOption>;

Options DataOptions() {
  return {
      {"dataset", "Data", "DATASET", "Folder of packed shards"},
      {"train_split", "Data", "NAME", "Split to train on"},
      {"val_split", "Data", "NAME", "Split to evaluate on, while training"},
      {"soft_labels", "Data", "FIELD",
       "Field of f32 with a share per class to learn, in place of class ids; none: class ids"},
      {"io",
       "Data",
       "NAME",
       "How shards are read: mmap; pread; direct: past the page cache, for more data than memory",
       0,
       0,
       {"mmap", "pread", "direct"}},
  };
}

// Of training only; evaluation sees what is stored.
Options AugmentationOptions() {
  return {
      {"flip", "Augmentation", "P",
       "Mirrors images, left to right, with this probability; 0.5 is usual", 0, 1},
      {"flip_vertical", "Augmentation", "P", "The same top to bottom", 0, 1},
      {"train_crop", "Augmentation", "HEIGHTxWIDTH",
       "Trains on crops of this size, anywhere in the image, padded where it is smaller; none: "
       "whole images, which must have one size"},
      {"scale_least", "Augmentation", "X",
       "Before the crop an image is shown X times as large, drawn from --scale-least to "
       "--scale-most",
       0.05, 16},
      {"scale_most", "Augmentation", "X", "See --scale-least", 0.05, 16},
      {"brightness", "Augmentation", "X",
       "Makes images brighter or darker by up to this share of the full range", 0, 1},
      {"contrast", "Augmentation", "X", "Changes the contrast by a factor from 1 - X to 1 + X", 0,
       1},
      {"saturation", "Augmentation", "X", "Changes the saturation likewise", 0, 1},
      {"hue", "Augmentation", "DEGREES", "Turns the hue by up to this angle, either way", 0, 180},
  };
}

Options ModelOptions() {
  return {
      {"model", "Model", "NAME|FILE",
       "Class maps: unet, encoder_decoder, enet, fc_densenet56; class ids: classifier, resnet18; "
       "sequences: tdnn; or a file as 'shardmill-train model NAME' prints"},
      {"width", "Model", "N", "Channels of the first stage; 0: as the model was published", 0,
       4096},
      {"depth", "Model", "N",
       "unet, classifier: stages; images must be at least 2^depth high and wide; 0: 4", 0, 8},
  };
}

Options OptimisationOptions() {
  return {
      {"epochs", "Optimisation", "N", "Passes over the train split", 1, 1e6},
      {"batch", "Optimisation", "N|auto",
       "Records per step, of all ranks together; auto: as many as the GPUs hold", 1, 65536},
      {"optimizer",
       "Optimisation",
       "NAME",
       "sgd, adam, adamw or rmsprop",
       0,
       0,
       {"sgd", "adam", "adamw", "rmsprop"}},
      {"lr", "Optimisation", "RATE", "Learning rate, at its highest", 0, 1e6},
      {"weight_decay", "Optimisation", "X", "Of convolution weights only", 0, 1e6},
      {"momentum", "Optimisation", "X", "sgd: momentum", 0, 1},
      {"nesterov", "Optimisation", "", "sgd: Nesterov's method (default: no)"},
      {"beta1", "Optimisation", "X", "adam, adamw: decay of the first moment", 0, 1},
      {"beta2", "Optimisation", "X", "adam, adamw: decay of the second moment", 0, 1},
      {"rms_decay", "Optimisation", "X", "rmsprop: decay of the mean square", 0, 1},
      {"clip_norm", "Optimisation", "X", "Longest gradient (of all weights); 0: any", 0, kNoLimit},
      {"accumulate", "Optimisation", "N",
       "Computes a step's batch in N parts, one after the other, to save memory; batch "
       "normalisation sees a part of all ranks at a time",
       1, 65536},
      {"ema", "Optimisation", "X",
       "Evaluates a moving average of the weights with this decay, such as 0.999; 0: none", 0, 1},
  };
}

Options LossOptions() {
  return {
      {"cross_entropy", "Loss", "X", "Factor of the cross-entropy", 0, 1e6},
      {"dice", "Loss", "X", "Factor of the Dice loss per image", 0, 1e6},
      {"class_weights", "Loss", "RULE", "none, median, enet, or a file of CLASS,WEIGHT lines"},
      {"label_smoothing", "Loss", "X", "Part of each label that is spread over all classes", 0, 1},
      {"ohem", "Loss", "P", "Counts only pixels whose class has a probability below P; 0: all", 0,
       1},
      {"ohem_share", "Loss", "X", "ohem: but at least this part of a batch's pixels", 0, 1},
  };
}

Options ScheduleOptions() {
  return {
      {"schedule",
       "Schedule",
       "NAME",
       "constant, poly, step or cosine",
       0,
       0,
       {"constant", "poly", "step", "cosine"}},
      {"warmup_steps", "Schedule", "N", "The rate rises from 0 over the first N steps", 0, 1e9},
      {"poly_power", "Schedule", "X", "poly: the power", 0, 100},
      {"step_epochs", "Schedule", "N", "step: epochs between drops", 1, 1e6},
      {"step_factor", "Schedule", "X", "step: factor of a drop", 0, 1},
      {"final_lr", "Schedule", "RATE", "poly, cosine: rate at the end", 0, 1e6},
  };
}

Options RunOptions() {
  return {
      {"output", "Run", "DIR", "Folder for last.ckpt, best.ckpt, config.json and the logs"},
      {"device",
       "Run",
       "NAME",
       "auto, cpu or cuda; cuda-host does on the host what a GPU does, slowly, to find faults",
       0,
       0,
       {"auto", "cpu", "cuda", "cuda-host"}},
      {"precision",
       "Run",
       "NAME",
       "f32, or what training's convolutions round to before they multiply, adding in f32: bf16, "
       "for GPUs, which then keep activations so too, and CPUs with AVX-512 BF16 or AMX; or tf32, "
       "for GPUs",
       0,
       0,
       {"f32", "bf16", "tf32"}},
      {"threads", "Run", "N", "Compute threads; 0: one per CPU this process may use", 0, 1024},
      {"loader_threads", "Run", "N", "Threads that read and augment records", 1, 1024},
      {"seed", "Run", "N", "Of the initial weights, the order of records and their augmentation"},
      {"eval_every", "Run", "N", "Evaluate after every N epochs and the last; 0: never", 0, 1e6},
      {"keep_epochs", "Run", "N", "Also keeps the checkpoints of the last N epochs", 0, 1e6},
      {"limit_steps", "Run", "N", "Stop after N steps of the whole run; 0: no limit"},
  };
}

Options LogsOptions() {
  return {
      {"tensorboard", "Logs", "",
       "Also writes OUTPUT/events.out.tfevents.… for TensorBoard (default: yes)"},
      {"log_pictures", "Logs", "N",
       "Predictions of N records in the TensorBoard log at each evaluation; 0: none", 0, 1024},
      {"outlier_z", "Logs", "Z",
       "A loss this many standard deviations above the mean of the steps before is an outlier; 0: "
       "none is",
       0, 1e6},
      {"outlier_action",
       "Logs",
       "NAME",
       "At an outlier: warn; dump: also keeps the batch in a file; stop: ends the run as well",
       0,
       0,
       {"warn", "dump", "stop"}},
  };
}

Options RanksOptions() {
  return {
      {"deterministic", "Ranks", "",
       "The same bits on any number of ranks and threads, for some speed (default: no)"},
      {"micro_shards", "Ranks", "N", "deterministic: parts of a batch; ranks must divide it", 1,
       4096},
      {"rank_timeout", "Ranks", "SECONDS",
       "How long to wait for another rank before the job is ended; 0: for ever", 0, 1e6},
      {"compare_every", "Ranks", "N", "Compare the ranks' weights every N steps; 0: never", 0, 1e9},
  };
}

}  // namespace

const std::vector<ConfigOption>& ConfigTable() {
  static const auto* const table = [] {
    auto* options = new Options;
    for (Options& topic : std::vector<Options>{
             DataOptions(), AugmentationOptions(), ModelOptions(), OptimisationOptions(),
             LossOptions(), ScheduleOptions(), RunOptions(), LogsOptions(), RanksOptions()}) {
      for (ConfigOption& option : topic) options->push_back(std::move(option));
    }
    return options;
  }();
  return *table;
}

const google::protobuf::FieldDescriptor* FieldOf(const ConfigOption& option) {
  const auto* field = proto::TrainConfig::descriptor()->FindFieldByName(option.field);
  SHARDMILL_CHECK(field != nullptr);
  return field;
}

}  // namespace shardmill
