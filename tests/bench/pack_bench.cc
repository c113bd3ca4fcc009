// What packing costs beside plain decoding, in one run, with the same files and cores: PNG pairs
// beside OpenCV and beside the stages of the packer, fsync, small images, JPEG crops, and what each
// label encoding takes on disk.
//
//   bazel run -c opt //tests/bench:pack_bench -- SHARDMILL SOURCE OUT DISK [pack options …]
//
// SHARDMILL is the program; SOURCE holds PNG pairs, whose images are also the material of the JPEG
// files; OUT is a folder in memory and DISK one on a disk (made when missing). Processor times (all
// threads, system included) are of the best of several rounds, because other work on the machine
// disturbs them least; wall times stand beside them.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "opencv2/core.hpp"
#include "opencv2/imgcodecs.hpp"
#include "reader/base/file.h"
#include "tests/bench/child_process.h"
#include "tests/bench/decode_timing.h"
#include "tests/bench/jpeg_pictures.h"
#include "tests/bench/pack_stages.h"
#include "tools/pack/layouts/layout.h"
#include "tools/pack/set_sizes.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

constexpr int kDecodeRounds = 3;
constexpr int kPackRounds = 5;
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 31;
constexpr uint64_t kSmallImages = 20000;
constexpr uint64_t kSmallOriginals = 400;
constexpr uint64_t kJpegFiles = 200;
constexpr uint64_t kJpegOriginals = 50;
constexpr size_t kManyPairs = 64;  // more than the caches hold

// Processor seconds of decoding the files through OpenCV, from memory.
double TimeOpenCv(const std::vector<std::string>& paths, int flags) {
  double seconds = 0;
  for (const std::string& path : paths) {
    Result<std::string> file = ReadFile(path, kMaxFileBytes);
    if (!file.ok() || file->empty()) continue;
    const cv::Mat bytes(1, static_cast<int>(file->size()), CV_8U, file->data());
    BestTime best;
    for (int i = 0; i < kDecodeRounds; ++i) best.Run([&] { cv::imdecode(bytes, flags); });
    seconds += best.Seconds();
  }
  return seconds;
}

std::vector<std::string> FilesOf(const InputSet& set) {
  std::vector<std::string> paths;
  for (const InputSplit& split : set.splits) {
    for (const Sample& sample : split.samples) {
      for (const SourceFile* file : {&sample.image, &sample.label}) {
        if (!file->path.empty()) paths.push_back(JoinPath(set.root, file->path));
      }
    }
  }
  return paths;
}

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of one thread, in seconds of its processor.
struct PackCosts {
  double pack = 0;
  double write = 0;  // of the shards, once more
};

class PackBench {
 public:
  PackBench(std::string program, std::string source, std::string out, std::string disk,
            std::vector<std::string> options)
      : program_(std::move(program)),
        source_(std::move(source)),
        out_(std::move(out)),
        disk_(std::move(disk)),
        options_(std::move(options)) {}

  Status Run();

 private:
  std::vector<std::string> Words(const std::string& source,
                                 const std::vector<std::string>& more) const;
  Status Pack(const std::string& source, const std::vector<std::string>& more,
              ProcessCost* cost) const;
  // With one and two threads, in turns.
  Status TimePacks(const std::string& source, std::vector<std::string> more,
                   ProcessCost costs[2]) const;
  Status ComparePairs() const;
  Status CompareStages(InputSet set, const PackCosts& costs) const;
  // Returns the processor seconds of writing to memory.
  Result<double> TimeWriting() const;
  Status CompareSmall(int side) const;
  Status CompareJpeg(const InputSet& set) const;
  Status CompareLabels() const;
  uint64_t LabelBytes() const;
  std::string Report() const { return out_ + "/report.json"; }

  const std::string program_, source_, out_, disk_;
  const std::vector<std::string> options_;
};

std::vector<std::string> PackBench::Words(const std::string& source,
                                          const std::vector<std::string>& more) const {
  std::vector<std::string> words = {program_, "pack", source, "-o", out_ + "/set"};
  words.insert(words.end(), {"--overwrite", "--quiet", "--json"});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Status PackBench::Pack(const std::string& source, const std::vector<std::string>& more,
                       ProcessCost* cost) const {
  // An old set that is removed within the pack would count as its work.
  std::error_code error;
  fs::remove_all(out_ + "/set", error);
  if (RunProgram(Words(source, more), Report(), cost)) return OkStatus();
  return InternalError(program_ + " does not pack " + source);
}

Status PackBench::TimePacks(const std::string& source, std::vector<std::string> more,
                            ProcessCost costs[2]) const {
  more.insert(more.end(), {"--jobs", ""});
  for (int round = 0; round < kPackRounds; ++round) {
    for (int jobs = 1; jobs <= 2; ++jobs) {
      more.back() = std::to_string(jobs);
      RETURN_IF_ERROR(Pack(source, more, &costs[jobs - 1]));
    }
  }
  return OkStatus();
}

void PrintPacks(uint64_t count, const ProcessCost costs[2]) {
  const auto inputs = static_cast<double>(count);
  for (int jobs = 1; jobs <= 2; ++jobs) {
    const ProcessCost& cost = costs[jobs - 1];
    std::printf("pack --jobs %d                  %8.1f per CPU second, %8.1f per second\n", jobs,
                inputs / cost.cpu, inputs / cost.wall);
  }
  std::printf("two threads beside one         %8.2f x as fast\n", costs[0].wall / costs[1].wall);
}

void PrintStages(const StageTimes& times, size_t pairs_at_once, uint64_t inputs,
                 const PackCosts& costs) {
  const double ms = 1e3 / static_cast<double>(inputs);
  std::printf("stages alone, %zu at a time, ms per pair\n", pairs_at_once);
  std::printf(
      "                               inflate %.3f, unfilter %.3f, label %.3f, statistics %.3f, "
      "zstd %.3f: sum %.3f\n",
      times.inflate * ms, times.unfilter * ms, times.label * ms, times.statistics * ms,
      times.zstd * ms, times.Sum() * ms);
  std::printf(
      "beside them                    reading %.3f, checksum %.3f, writing %.3f; cutting %.3f\n",
      times.read * ms, times.checksum * ms, costs.write * ms, times.cut * ms);
  const double all = times.Sum() + times.read + times.checksum + costs.write;
  std::printf(
      "pack, %.3f ms, reaches          %.0f %% of the five, %.0f %% with reading, checksum and "
      "writing\n",
      costs.pack * ms, times.Sum() / costs.pack * 100, all / costs.pack * 100);
}

Status PackBench::CompareStages(InputSet set, const PackCosts& costs) const {
  PackOptions options;
  for (size_t i = 0; i + 1 < options_.size(); ++i) {
    if (options_[i] != "--crop") continue;
    ASSIGN_OR_RETURN(options.crop, ParseImageSize(options_[i + 1]));
  }
  ASSIGN_OR_RETURN(const SetSizes sizes, FindSetSizes(set, options, 1));
  ASSIGN_OR_RETURN(const PackPlan plan, MakePlan(std::move(set), options, sizes));
  for (const size_t pairs_at_once : {size_t{1}, kManyPairs}) {
    ASSIGN_OR_RETURN(const StageTimes times, TimeStages(plan, pairs_at_once));
    PrintStages(times, pairs_at_once, plan.inputs(), costs);
  }
  return OkStatus();
}

// Writing the shards once more: to memory, and to the disk with the flush that a pack ends in.
Result<double> PackBench::TimeWriting() const {
  double in_memory = 0;
  for (const std::string& folder : {out_, disk_}) {
    double write = 0, sync = 0, bytes = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(out_ + "/set")) {
      if (entry.path().extension() != ".shard") continue;
      ASSIGN_OR_RETURN(const std::string shard, ReadFile(entry.path().string(), kMaxFileBytes));
      const std::string copy = JoinPath(folder, "copy.shard");
      const int file = ::open(copy.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
      if (file < 0) return IoError("cannot create " + copy);
      bool written = false;
      BestTime best;
      const auto write_start = std::chrono::steady_clock::now();
      best.Run([&] {
        written = ::write(file, shard.data(), shard.size()) == static_cast<ssize_t>(shard.size());
      });
      write += SecondsSince(write_start);
      if (folder == out_) in_memory += best.Seconds();
      const auto start = std::chrono::steady_clock::now();
      const bool synced = ::fsync(file) == 0;
      sync += SecondsSince(start);
      ::close(file);
      ::unlink(copy.c_str());
      if (!written || !synced) return IoError("cannot write " + copy);
      bytes += static_cast<double>(shard.size());
    }
    std::printf("writing the shards to %-6s    %8.3f s for %.0f MB, and %.3f s of fsync\n",
                folder == out_ ? "memory" : "a disk", write, bytes * 1e-6, sync);
  }
  return in_memory;
}

Status PackBench::ComparePairs() const {
  ASSIGN_OR_RETURN(InputSet set, ReadInputSet(source_, LayoutOptions()));
  uint64_t pairs = 0;
  for (const InputSplit& split : set.splits) pairs += split.samples.size();
  std::printf("%llu pairs of layout %s\n", static_cast<unsigned long long>(pairs),
              set.layout.c_str());
  const double opencv = TimeOpenCv(FilesOf(set), cv::IMREAD_UNCHANGED);
  std::printf("OpenCV imdecode alone          %8.1f per CPU second\n",
              static_cast<double>(pairs) / opencv);
  ProcessCost costs[2];
  RETURN_IF_ERROR(TimePacks(source_, options_, costs));
  PrintPacks(pairs, costs);
  std::printf("beside OpenCV's decoding       %8.2f x as fast per core\n", opencv / costs[0].cpu);
  ASSIGN_OR_RETURN(const double write, TimeWriting());
  RETURN_IF_ERROR(CompareStages(set, {costs[0].cpu, write}));
  return CompareJpeg(set);
}

// Copies of the files of `from` in `to`, each under `copies` names.
Status CopyFiles(const fs::path& from, const fs::path& to, uint64_t copies) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(from, error)) {
    if (!entry.is_regular_file()) continue;
    const fs::path folder = to / fs::relative(entry.path().parent_path(), from);
    fs::create_directories(folder, error);
    const bool is_table = entry.path().extension() == ".csv";
    for (uint64_t i = 0; i < (is_table ? 1 : copies); ++i) {
      const std::string prefix = is_table ? "" : "copy" + std::to_string(i) + "_";
      if (!fs::copy_file(entry.path(), folder / (prefix + entry.path().filename().string()),
                         error)) {
        return IoError("cannot copy " + entry.path().string() + ": " + error.message());
      }
    }
  }
  return error ? IoError("cannot list " + from.string()) : OkStatus();
}

Status PackBench::CompareSmall(int side) const {
  const std::string originals = out_ + "/originals", source = out_ + "/small";
  std::error_code error;
  fs::remove_all(originals, error);
  fs::remove_all(source, error);
  const std::string length = std::to_string(side);
  ProcessCost sample;
  if (!RunProgram({program_, "sample", "-o", originals, "--count", std::to_string(kSmallOriginals),
                   "--height", length, "--width", length},
                  Report(), &sample)) {
    return InternalError(program_ + " makes no sample");
  }
  RETURN_IF_ERROR(CopyFiles(originals, source, kSmallImages / kSmallOriginals));
  std::printf("%llu pairs of %d high x %d wide\n", static_cast<unsigned long long>(kSmallImages),
              side, side);
  ProcessCost costs[2];
  RETURN_IF_ERROR(TimePacks(source, {}, costs));
  PrintPacks(kSmallImages, costs);
  fs::remove_all(out_ + "/set", error);
  std::printf("peak of anonymous memory       %8.1f MiB\n",
              static_cast<double>(PeakAnonymousBytes(Words(source, {"--jobs", "2"}), Report())) /
                  (1 << 20));
  fs::remove_all(originals, error);
  fs::remove_all(source, error);
  return OkStatus();
}

Status PackBench::CompareJpeg(const InputSet& set) const {
  std::vector<std::string> pngs, paths;
  for (const Sample& sample : set.splits[0].samples) {
    Result<std::string> png = ReadFile(JoinPath(set.root, sample.image.path), kMaxFileBytes);
    if (png.ok()) pngs.push_back(*std::move(png));
  }
  const std::string source = out_ + "/jpeg";
  std::error_code error;
  fs::remove_all(source, error);
  for (const char* name : {"/first", "/second"}) fs::create_directories(source + name, error);
  std::vector<std::string> pictures;
  for (uint64_t i = 0; i < kJpegFiles; ++i) {
    if (i < kJpegOriginals) pictures.push_back(MakeJpegPicture(pngs, i * 9));
    const std::string& picture = pictures[i % kJpegOriginals];
    paths.push_back(source + (i % 2 == 0 ? "/first/" : "/second/") + std::to_string(i) + ".jpg");
    ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(paths.back()));
    RETURN_IF_ERROR(file.Append(picture.data(), picture.size()));
    RETURN_IF_ERROR(file.Commit());
  }
  std::printf("%llu JPEG files of %d high x %d wide, centre crop of 512\n",
              static_cast<unsigned long long>(kJpegFiles), kPictureHeight, kPictureWidth);
  const double opencv = TimeOpenCv(paths, cv::IMREAD_COLOR);
  std::printf("OpenCV imdecode alone          %8.1f per CPU second\n",
              static_cast<double>(kJpegFiles) / opencv);
  ProcessCost costs[2];
  RETURN_IF_ERROR(TimePacks(source, {"--crop", "512x512"}, costs));
  PrintPacks(kJpegFiles, costs);
  std::printf("beside OpenCV's decoding       %8.2f x as fast per core\n", opencv / costs[0].cpu);
  fs::remove_all(source, error);
  return OkStatus();
}

// The sum of "label_bytes" over the splits of the last report.
uint64_t PackBench::LabelBytes() const {
  const std::string key = "\"label_bytes\": ";
  Result<std::string> report = ReadFile(Report(), kMaxFileBytes);
  uint64_t bytes = 0;
  if (!report.ok()) return 0;
  for (size_t at = report->find(key); at != std::string::npos; at = report->find(key, at + 1)) {
    bytes += std::strtoull(report->c_str() + at + key.size(), nullptr, 10);
  }
  return bytes;
}

Status PackBench::CompareLabels() const {
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
    ProcessCost cost;
    std::vector<std::string> options = options_;
    options.insert(options.end(), form.options.begin(), form.options.end());
    RETURN_IF_ERROR(Pack(source_, options, &cost));
    std::printf("labels as %-21s %14llu bytes\n", form.name,
                static_cast<unsigned long long>(LabelBytes()));
  }
  return OkStatus();
}

Status PackBench::Run() {
  std::error_code error;
  for (const std::string& folder : {out_, disk_}) {
    fs::create_directories(folder, error);
    if (error) return IoError("cannot make folder " + folder + ": " + error.message());
  }
  cv::setNumThreads(1);
  RETURN_IF_ERROR(ComparePairs());
  RETURN_IF_ERROR(CompareSmall(32));
  RETURN_IF_ERROR(CompareSmall(64));
  RETURN_IF_ERROR(CompareLabels());
  fs::remove_all(out_ + "/set", error);
  return OkStatus();
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: pack_bench SHARDMILL SOURCE OUT DISK [pack options …]\n");
    return 2;
  }
  const shardmill::Status status =
      shardmill::PackBench(argv[1], argv[2], argv[3], argv[4], {argv + 5, argv + argc}).Run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
