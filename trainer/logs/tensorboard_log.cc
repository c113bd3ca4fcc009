#include "trainer/logs/tensorboard_log.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "proto/tensorboard_event.pb.h"
#include "reader/base/file.h"
#include "reader/tf_record.h"
#include "trainer/logs/open_log.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "events.out.tfevents.";
constexpr char kSuffix[] = ".shardmill";  // of files that this program wrote
constexpr uint64_t kMaxEventBytes = uint64_t{1} << 30;
constexpr char kLearningRate[] = "train/learning_rate";
constexpr int kBuckets = 20;  // of a histogram of IoUs

double WallTime() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The logs of this program in a folder, in the order of their names, which begin with the time.
Result<std::vector<std::string>> OwnLogs(const std::string& folder) {
  std::vector<std::string> logs;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code unknown;
    // A pipe of such a name is none, and reading it could wait for ever.
    if (name.rfind(kPrefix, 0) == 0 && EndsWith(name, kSuffix) &&
        fs::is_regular_file(at->path(), unknown)) {
      logs.push_back(at->path());
    }
  }
  if (error) return IoError(folder + ": cannot list the folder: " + error.message());
  std::sort(logs.begin(), logs.end());
  return logs;
}

std::string NewName() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  for (char& c : host) {
    if (c == '/') c = '_';
  }
  char name[400];
  std::snprintf(name, sizeof(name), "%s%010lld.%s.%d%s", kPrefix,
                static_cast<long long>(WallTime()), host, static_cast<int>(getpid()), kSuffix);
  return name;
}

// Scores or pictures, not the numbers of a step.
bool IsOfEvaluation(const proto::TensorboardEvent& event) {
  const auto& values = event.summary().value();
  return !values.empty() && std::none_of(values.begin(), values.end(), [](const auto& value) {
    return value.tag() == kLearningRate;
  });
}

// How many bytes of the file belong to events up to the place; the first that cannot be read ends
// them.
Result<uint64_t> KeptBytes(const std::string& path, const LogPlace& place) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return ErrnoError(path + ": cannot open for reading", errno);
  uint64_t kept = 0;
  for (;;) {
    const Result<std::optional<std::string>> record =
        ReadTfRecord(file.get(), path, kMaxEventBytes);
    if (!record.ok() || !record->has_value()) return kept;
    proto::TensorboardEvent event;
    const auto last = static_cast<int64_t>(place.step);
    if (!event.ParseFromString(**record) || event.step() > last) return kept;
    if (event.step() == last && !place.is_behind_evaluation && IsOfEvaluation(event)) return kept;
    kept = static_cast<uint64_t>(std::ftell(file.get()));
  }
}

// Under which the scores and pictures of a split stand.
std::string GroupOf(const std::string& split) {
  const bool is_taken = split == "train" || split == "time" || split == "iou";
  return (is_taken ? "evaluation_" + split : split) + "/";
}

void AddScalar(const std::string& tag, double value, proto::TensorboardEvent* event) {
  proto::TensorboardSummary::Value* scalar = event->mutable_summary()->add_value();
  scalar->set_tag(tag);
  scalar->set_simple_value(static_cast<float>(value));
}

void AddScore(const std::string& tag, const std::optional<double>& score,
              proto::TensorboardEvent* event) {
  if (score) AddScalar(tag, *score, event);
}

// Of numbers from 0 to 1.
void AddHistogram(const std::string& tag, const std::vector<double>& numbers,
                  proto::TensorboardEvent* event) {
  if (numbers.empty()) return;
  proto::TensorboardSummary::Value* value = event->mutable_summary()->add_value();
  value->set_tag(tag);
  proto::TensorboardSummary::Histogram* histogram = value->mutable_histo();
  std::vector<double> counts(kBuckets, 0);
  double sum = 0, squares = 0;
  for (const double number : numbers) {
    sum += number;
    squares += number * number;
    const double bucket = std::ceil(number * kBuckets) - 1;
    ++counts[static_cast<size_t>(std::clamp<double>(bucket, 0, kBuckets - 1))];
  }
  histogram->set_min(*std::min_element(numbers.begin(), numbers.end()));
  histogram->set_max(*std::max_element(numbers.begin(), numbers.end()));
  histogram->set_num(static_cast<double>(numbers.size()));
  histogram->set_sum(sum);
  histogram->set_sum_squares(squares);
  for (int i = 0; i < kBuckets; ++i) {
    histogram->add_bucket_limit(static_cast<double>(i + 1) / kBuckets);
    histogram->add_bucket(counts[static_cast<size_t>(i)]);
  }
}

}  // namespace

TensorboardLog::~TensorboardLog() {
  if (file_ >= 0) close(file_);
}

TensorboardLog::TensorboardLog(TensorboardLog&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

Result<TensorboardLog> TensorboardLog::Open(const std::string& path) {
  ASSIGN_OR_RETURN(const int file, OpenLog(path, LogStart::kAtEnd));
  TensorboardLog log(path, file);
  if (lseek(file, 0, SEEK_END) != 0) return log;
  proto::TensorboardEvent version;
  version.set_file_version("brain.Event:2");
  RETURN_IF_ERROR(log.Append(&version));
  return log;
}

Result<TensorboardLog> TensorboardLog::Create(const std::string& folder) {
  ASSIGN_OR_RETURN(const std::vector<std::string> logs, OwnLogs(folder));
  for (const std::string& path : logs) {
    std::error_code error;
    fs::remove(path, error);
    if (error) return IoError("cannot remove " + path + ": " + error.message());
  }
  return Open(JoinPath(folder, NewName()));
}

Result<TensorboardLog> TensorboardLog::Continue(const std::string& folder, const LogPlace& place) {
  ASSIGN_OR_RETURN(const std::vector<std::string> logs, OwnLogs(folder));
  if (logs.empty()) return Open(JoinPath(folder, NewName()));
  for (const std::string& path : logs) {
    ASSIGN_OR_RETURN(const uint64_t kept, KeptBytes(path, place));
    if (truncate(path.c_str(), static_cast<off_t>(kept)) != 0) {
      return ErrnoError(path + ": cannot be cut to the events before the checkpoint", errno);
    }
  }
  return Open(logs.back());
}

Status TensorboardLog::Append(proto::TensorboardEvent* event) {
  event->set_wall_time(WallTime());
  const std::string record = FrameTfRecord(event->SerializeAsString());
  for (size_t done = 0; done < record.size();) {
    const ssize_t written = write(file_, record.data() + done, record.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoError(path_ + ": cannot write", errno);
    done += static_cast<size_t>(written);
  }
  return OkStatus();
}

Status TensorboardLog::Write(const StepEvent& step) {
  proto::TensorboardEvent event;
  event.set_step(static_cast<int64_t>(step.step));
  AddScalar("train/loss", step.loss, &event);
  AddScalar(kLearningRate, step.learning_rate, &event);
  AddScalar("train/gradient_norm", step.gradient_norm, &event);
  if (step.TotalMs() > 0) {
    AddScalar("time/images_per_second", step.ImagesPerSecond(step.images), &event);
    AddScalar("time/waiting_share", step.Share(step.wait_ms), &event);
    AddScalar("time/copy_share", step.Share(step.copy_ms), &event);
    AddScalar("time/communication_share", step.Share(step.communication_ms), &event);
  }
  return Append(&event);
}

Status TensorboardLog::Write(const EvaluationEvent& evaluation,
                             const std::vector<std::string>& classes) {
  const std::string split = GroupOf(evaluation.split);
  const Scores& scores = evaluation.scores;
  proto::TensorboardEvent event;
  event.set_step(static_cast<int64_t>(evaluation.step));
  AddScalar(split + "loss", evaluation.loss, &event);
  AddScore(split + "accuracy", scores.pixel_accuracy, &event);
  AddScore(split + "mean_accuracy", scores.mean_accuracy, &event);
  AddScore(split + "top5_accuracy", scores.top_five_accuracy, &event);
  AddScore(split + "miou", scores.mean_iou, &event);
  std::vector<double> ious;
  for (size_t k = 0; k < classes.size(); ++k) {
    if (!scores.class_iou[k]) continue;
    AddScalar("iou/" + classes[k], *scores.class_iou[k], &event);
    ious.push_back(*scores.class_iou[k]);
  }
  AddHistogram(split + "class_iou", ious, &event);
  return Append(&event);
}

Status TensorboardLog::Write(const PictureEvent& pictures) {
  proto::TensorboardEvent event;
  event.set_step(static_cast<int64_t>(pictures.step));
  for (const PictureEvent::Picture& picture : pictures.pictures) {
    proto::TensorboardSummary::Value* value = event.mutable_summary()->add_value();
    value->set_tag(GroupOf(pictures.split) + picture.name);
    value->mutable_image()->set_height(static_cast<int32_t>(picture.height));
    value->mutable_image()->set_width(static_cast<int32_t>(picture.width));
    value->mutable_image()->set_colorspace(3);
    value->mutable_image()->set_encoded_image_string(picture.png);
  }
  return Append(&event);
}

}  // namespace shardmill
