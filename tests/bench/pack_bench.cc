// What packing costs beside plain decoding, and what each label encoding takes on disk: one run,
// same files, same machine.
//
//   bazel run -c opt //tests/bench:pack_bench -- SHARDMILL SOURCE OUT [pack options …]
//
// SHARDMILL is the program; OUT a folder (made when missing), best in memory. Times are processor
// times (all threads, system included) of the best of several rounds, because other work on the
// machine disturbs them least; wall times stand beside them.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include "opencv2/core.hpp"
#include "opencv2/imgcodecs.hpp"
#include "reader/base/file.h"
#include "tests/bench/decode_timing.h"
#include "tools/pack/layout.h"

extern char** environ;

namespace shardmill {
namespace {

constexpr int kDecodeRounds = 3;
constexpr int kPackRounds = 5;
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 31;

struct Cost {
  double wall = std::numeric_limits<double>::infinity();
  double cpu = std::numeric_limits<double>::infinity();
};

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// Runs a program with stdout going to `stdout_path`. False when it fails.
bool RunProgram(const std::vector<std::string>& words, const std::string& stdout_path, Cost* cost) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, stdout_path.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  const bool started =
      posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  rusage usage = {};
  if (!started || wait4(child, &status, 0, &usage) != child || status != 0) return false;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  cost->wall = std::min(cost->wall, wall.count());
  cost->cpu = std::min(cost->cpu, Seconds(usage.ru_utime) + Seconds(usage.ru_stime));
  return true;
}

// Processor seconds of decoding every image and label through OpenCV, from memory.
double TimeOpenCv(const InputSet& set) {
  double seconds = 0;
  for (const InputSplit& split : set.splits) {
    for (const Sample& sample : split.samples) {
      for (const SourceFile* source : {&sample.image, &sample.label}) {
        Result<std::string> file = ReadFile(JoinPath(set.root, source->path), kMaxFileBytes);
        if (!file.ok() || file->empty()) continue;
        const cv::Mat bytes(1, static_cast<int>(file->size()), CV_8U, file->data());
        BestTime best;
        for (int i = 0; i < kDecodeRounds; ++i) {
          best.Run([&] { cv::imdecode(bytes, cv::IMREAD_UNCHANGED); });
        }
        seconds += best.Seconds();
      }
    }
  }
  return seconds;
}

class PackBench {
 public:
  PackBench(std::string program, std::string source, std::string out,
            std::vector<std::string> options)
      : program_(std::move(program)),
        source_(std::move(source)),
        out_(std::move(out)),
        options_(std::move(options)) {}

  int Run();

 private:
  bool Pack(const std::vector<std::string>& more, Cost* cost) const;
  uint64_t LabelBytes() const;
  bool TimePacks(uint64_t pairs) const;
  bool CompareLabels() const;

  const std::string program_, source_, out_;
  const std::vector<std::string> options_;
};

bool PackBench::Pack(const std::vector<std::string>& more, Cost* cost) const {
  std::vector<std::string> words = {program_, "pack", source_, "-o", out_ + "/set"};
  words.insert(words.end(), options_.begin(), options_.end());
  words.insert(words.end(), {"--overwrite", "--quiet", "--json"});
  words.insert(words.end(), more.begin(), more.end());
  return RunProgram(words, out_ + "/report.json", cost);
}

// The sum of "label_bytes" over the splits of the last report.
uint64_t PackBench::LabelBytes() const {
  const std::string key = "\"label_bytes\": ";
  Result<std::string> report = ReadFile(out_ + "/report.json", kMaxFileBytes);
  uint64_t bytes = 0;
  if (!report.ok()) return 0;
  for (size_t at = report->find(key); at != std::string::npos; at = report->find(key, at + 1)) {
    bytes += std::strtoull(report->c_str() + at + key.size(), nullptr, 10);
  }
  return bytes;
}

bool PackBench::TimePacks(uint64_t pairs) const {
  for (const char* jobs : {"1", "2"}) {
    Cost cost;
    for (int i = 0; i < kPackRounds; ++i) {
      if (!Pack({"--jobs", jobs}, &cost)) return false;
    }
    const auto count = static_cast<double>(pairs);
    std::printf("pack --jobs %s                  %8.1f pairs per CPU second, %8.1f per second\n",
                jobs, count / cost.cpu, count / cost.wall);
  }
  return true;
}

bool PackBench::CompareLabels() const {
  struct Form {
    const char* name;
    std::vector<std::string> options;
  };
  const Form forms[] = {{"index, zstd", {}},
                        {"index, raw", {"--label-codec", "raw"}},
                        {"one-hot bits, raw", {"--one-hot", "bits", "--label-codec", "raw"}},
                        {"one-hot bits, zstd", {"--one-hot", "bits"}},
                        {"one-hot bytes, raw", {"--one-hot", "bytes", "--label-codec", "raw"}},
                        {"one-hot bytes, zstd", {"--one-hot", "bytes"}}};
  for (const Form& form : forms) {
    Cost cost;
    if (!Pack(form.options, &cost)) return false;
    std::printf("labels as %-21s %14llu bytes\n", form.name,
                static_cast<unsigned long long>(LabelBytes()));
  }
  return true;
}

int PackBench::Run() {
  std::error_code error;
  std::filesystem::create_directories(out_, error);
  if (error) {
    std::fprintf(stderr, "cannot make folder %s: %s\n", out_.c_str(), error.message().c_str());
    return 1;
  }
  Result<InputSet> set = ReadInputSet(source_, LayoutOptions());
  if (!set.ok()) {
    std::fprintf(stderr, "%s\n", set.status().ToString().c_str());
    return 1;
  }
  uint64_t pairs = 0;
  for (const InputSplit& split : set->splits) pairs += split.samples.size();
  cv::setNumThreads(1);
  std::printf("%llu pairs of layout %s\n", static_cast<unsigned long long>(pairs),
              set->layout.c_str());
  std::printf("OpenCV imdecode alone          %8.1f pairs per CPU second\n",
              static_cast<double>(pairs) / TimeOpenCv(*set));
  if (TimePacks(pairs) && CompareLabels()) return 0;
  std::fprintf(stderr, "%s pack failed\n", program_.c_str());
  return 1;
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: pack_bench SHARDMILL SOURCE OUT [pack options …]\n");
    return 2;
  }
  return shardmill::PackBench(argv[1], argv[2], argv[3], {argv + 4, argv + argc}).Run();
}
