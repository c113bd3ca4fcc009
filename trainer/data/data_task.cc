#include "trainer/data/data_task.h"

#include "proto/manifest.pb.h"
#include "reader/label_expand.h"
#include "reader/statistics.h"

namespace shardmill {
namespace {

// Name and element type of the field that the network reads.
Status SetType(const FieldSpec& field, const std::string& name, DataTask* task) {
  switch (field.dtype) {
    case DType::kU8:
      task->image_type = ImageType::kU8;
      break;
    case DType::kU16:
      task->image_type = ImageType::kU16;
      break;
    case DType::kF32:
      task->image_type = ImageType::kF32;
      break;
    default:
      return InvalidArgumentError(name + "holds " + std::string(DTypeName(field.dtype)) +
                                  " values; the trainer takes u8, u16 and f32");
  }
  task->image_field = field.name;
  return OkStatus();
}

// The first tensor of frames × features.
Status FindSequence(const RecordSchema& schema, DataTask* task) {
  for (const FieldSpec& field : schema.fields) {
    if (field.role != Role::kTensor || field.shape.size() != 2 || field.shape[1] < 1) continue;
    RETURN_IF_ERROR(SetType(field, "field '" + field.name + "' ", task));
    task->sequences = true;
    task->image = {0, 1, field.shape[0] == kVariableDim ? 0 : field.shape[0], field.shape[1]};
    return OkStatus();
  }
  return InvalidArgumentError(
      "the data set has no image field, nor a tensor of frames × features (of a fixed number)");
}

Status FindImage(const RecordSchema& schema, DataTask* task) {
  const std::optional<int> index = schema.FindRole(Role::kImage);
  if (!index) return FindSequence(schema, task);
  const FieldSpec& field = schema.fields[*index];
  const std::string name = "image field '" + field.name + "' ";
  if (field.shape[2] == kVariableDim) {
    return InvalidArgumentError(name +
                                "holds images with different numbers of channels; a network "
                                "reads one number of them");
  }
  RETURN_IF_ERROR(SetType(field, name, task));
  task->image.c = field.shape[2];
  if (!field.IsFixedShape()) return OkStatus();
  task->image.h = field.shape[0];
  task->image.w = field.shape[1];
  return OkStatus();
}

Status CheckLabelSize(const DataTask& task) {
  if (task.kind == TaskKind::kClassification) return OkStatus();
  if (task.sequences) {
    return InvalidArgumentError(
        "sequences with a class per frame are not supported: the label "
        "must be one class id per record");
  }
  if (task.label_h == task.image.h && task.label_w == task.image.w) return OkStatus();
  return InvalidArgumentError("the labels are " + std::to_string(task.label_h) + " high × " +
                              std::to_string(task.label_w) + " wide, but the images " +
                              std::to_string(task.image.h) + " high × " +
                              std::to_string(task.image.w) + " wide");
}

// What the largest share is compared with: class ids of the smallest type that has an ignore value.
void TakeLabelsFromShares(const RecordSchema& schema, DataTask* task) {
  const bool narrow = schema.classes.size() <= 255 && schema.ignore.value_or(0) <= 255;
  task->label_type = narrow ? LabelType::kIndexU8 : LabelType::kIndexU16;
  task->ignore = schema.ignore.value_or(narrow ? 255 : 65535);
}

// After FindLabel, where the data set has class ids.
Status FindSoftLabel(const RecordSchema& schema, const std::string& name, DataTask* task) {
  const std::optional<int> index = schema.FindField(name);
  if (!index) {
    return InvalidArgumentError("--soft-labels: the data set has no field '" + name + "'");
  }
  const FieldSpec& field = schema.fields[*index];
  const std::vector<int64_t>& shape = field.shape;
  const auto classes = static_cast<int64_t>(schema.classes.size());
  const bool is_map = shape.size() == 3;
  if (field.role != Role::kTensor || field.dtype != DType::kF32 || !field.IsFixedShape() ||
      (!is_map && shape.size() != 1) || shape.back() != classes) {
    return InvalidArgumentError("--soft-labels: field '" + name + "' must be f32 [height, width, " +
                                std::to_string(classes) + "] or [" + std::to_string(classes) +
                                "], a share per class");
  }
  const TaskKind kind = is_map ? TaskKind::kSegmentation : TaskKind::kClassification;
  if (!task->label_field.empty() && kind != task->kind) {
    return InvalidArgumentError("--soft-labels: field '" + name +
                                "' and the class ids are not both of pixels or both of records");
  }
  if (is_map && task->SizesVary()) {
    return InvalidArgumentError("--soft-labels: field '" + name +
                                "' has one size, but the images have several");
  }
  task->kind = kind;
  task->soft_field = name;
  task->label_h = is_map ? shape[0] : 1;
  task->label_w = is_map ? shape[1] : 1;
  if (task->label_field.empty()) TakeLabelsFromShares(schema, task);
  return CheckLabelSize(*task);
}

bool HasLabel(const RecordSchema& schema) {
  return schema.FindRole(Role::kClassMap) || schema.FindRole(Role::kClassId);
}

Status FindLabel(const RecordSchema& schema, DataTask* task) {
  std::optional<int> index = schema.FindRole(Role::kClassMap);
  task->kind = index ? TaskKind::kSegmentation : TaskKind::kClassification;
  if (!index) index = schema.FindRole(Role::kClassId);
  if (!index) {
    return InvalidArgumentError(
        "the data set has no labels: neither a class map nor a class id per image; soft labels are "
        "named by --soft-labels");
  }
  const FieldSpec& field = schema.fields[*index];
  const bool sizes_vary = task->kind == TaskKind::kSegmentation && task->SizesVary();
  if (field.IsFixedShape() == sizes_vary) {
    return InvalidArgumentError("label field '" + field.name + "' " +
                                (sizes_vary ? "has one size" : "varies in size") +
                                ", other than the images; pack the data set with --crop or "
                                "--resize");
  }
  ASSIGN_OR_RETURN(const LabelExpander expander,
                   LabelExpander::Create(field, schema, Delivery::kIndex));
  const FieldSpec& delivered = expander.delivered();
  task->label_field = field.name;
  task->label_type = delivered.dtype == DType::kU8 ? LabelType::kIndexU8 : LabelType::kIndexU16;
  if (task->kind == TaskKind::kClassification) return OkStatus();
  task->label_h = task->label_w = 0;
  if (sizes_vary) return OkStatus();
  task->label_h = delivered.shape[0];
  task->label_w = delivered.shape[1];
  return CheckLabelSize(*task);
}

}  // namespace

Result<DataTask> DescribeTask(const RecordSchema& schema, const std::string& soft_labels) {
  DataTask task;
  RETURN_IF_ERROR(FindImage(schema, &task));
  const bool is_soft = soft_labels != "none";
  task.ignore = schema.ignore;
  if (!is_soft || HasLabel(schema)) RETURN_IF_ERROR(FindLabel(schema, &task));
  if (is_soft) RETURN_IF_ERROR(FindSoftLabel(schema, soft_labels, &task));
  for (const ClassInfo& info : schema.classes) task.classes.push_back(info.name);
  if (task.classes.size() < 2) {
    return InvalidArgumentError("the data set has " + std::to_string(task.classes.size()) +
                                " class; there is nothing to tell apart");
  }
  return task;
}

std::optional<double> ScoreOf(TaskKind kind, const Scores& scores) {
  return kind == TaskKind::kSegmentation ? scores.mean_iou : scores.pixel_accuracy;
}

std::string ScoreName(TaskKind kind) {
  return kind == TaskKind::kSegmentation ? "mIoU" : "accuracy";
}

ImageScale ScaleOf(const proto::Statistics& statistics, int64_t channels) {
  ImageScale scale;
  scale.mean.assign(channels, 0);
  scale.deviation.assign(channels, 1);
  const std::vector<ChannelMoments> moments = MomentsOfChannels(statistics);
  if (static_cast<int64_t>(moments.size()) != channels) return scale;
  for (int64_t channel = 0; channel < channels; ++channel) {
    scale.mean[channel] = static_cast<float>(moments[channel].mean);
    const auto deviation = static_cast<float>(moments[channel].standard_deviation);
    if (deviation > 0) scale.deviation[channel] = deviation;
  }
  return scale;
}

}  // namespace shardmill
