#include "tools/bench/read_suite.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "reader/base/file.h"
#include "reader/base/thread_budget.h"
#include "reader/console/units.h"
#include "tools/bench/bench_target.h"
#include "tools/bench/cold_read.h"
#include "tools/bench/read_bench.h"
#include "tools/bench/synthetic_set.h"

namespace shardmill {
namespace {

constexpr uint64_t kOneHotRecordBytes = uint64_t{1} << 20;  // 512 × 512 pixels
constexpr uint64_t kOneHotRecords = 96;
constexpr uint64_t kOneHotBatch = 4;
constexpr uint64_t kTinyRecordBytes = 64;

// A new folder that goes away with the object.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> Make() {
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    if (error) return IoError("there is no folder for temporary files; set TMPDIR");
    TemporaryFolder folder;
    folder.path_ = JoinPath(parent.string(), "shardmill-bench-XXXXXX");
    if (::mkdtemp(folder.path_.data()) == nullptr) {
      const Status status = ErrnoError("cannot make the folder " + folder.path_, errno);
      folder.path_.clear();
      return status;
    }
    return folder;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  const std::string& path() const { return path_; }

 private:
  TemporaryFolder() = default;
  std::string path_;
};

class Suite {
 public:
  explicit Suite(const ReadSuiteOptions& options) : options_(options) {
    report_.cpus = AllowedCpus();
    report_.rounds = options.rounds;
    threads_ = {1};
    if (options.threads > 1) threads_.push_back(options.threads);
  }

  Result<ReadReport> Run() {
    if (!options_.path.empty()) {
      RETURN_IF_ERROR(MakeBenchTarget(BenchOptions(options_.path, 1)).status());
    }
    MeasureLimits();
    if (!options_.path.empty()) {
      RETURN_IF_ERROR(MeasureSet(options_.path, options_.path));
      RETURN_IF_ERROR(MeasureFirst(options_.path));
      return report_;
    }
    const bool all = options_.record_bytes.empty();
    std::vector<uint64_t> sizes = options_.record_bytes;
    if (all) sizes.assign(std::begin(kSyntheticSizes), std::end(kSyntheticSizes));
    for (const uint64_t bytes : sizes) {
      for (const Codec codec : {Codec::kZstd, Codec::kRaw}) {
        RETURN_IF_ERROR(MeasureSynthetic(bytes, codec));
      }
    }
    if (!all) return report_;
    for (const Codec codec : {Codec::kZstd, Codec::kRaw}) RETURN_IF_ERROR(MeasureLabels(codec));
    RETURN_IF_ERROR(MeasureManyRecords());
    return report_;
  }

 private:
  void Say(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }

  void MeasureLimits() {
    for (const int threads : threads_) {
      Say("memory, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
      report_.limits.push_back({threads, MeasureMemory(threads)});
    }
  }

  ReadBenchOptions BenchOptions(const std::string& path, int threads) const {
    ReadBenchOptions bench;
    bench.path = path;
    bench.split = options_.path.empty() ? "" : options_.split;
    bench.batch = options_.batch;
    bench.threads = threads;
    bench.rounds = options_.rounds;
    return bench;
  }

  Status MeasureSet(const std::string& path, const std::string& name) {
    for (const int threads : threads_) {
      Say(name + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
      ASSIGN_OR_RETURN(ReadFigures figures, MeasureReading(BenchOptions(path, threads)));
      figures.set = name;
      report_.sets.push_back(std::move(figures));
    }
    if (options_.cold) RETURN_IF_ERROR(MeasureFromDisk(path, name));
    if (options_.trace_path.empty() || trace_written_) return OkStatus();
    trace_written_ = true;
    return WriteReadTrace(BenchOptions(path, threads_.back()), options_.trace_path);
  }

  Status MeasureFromDisk(const std::string& path, const std::string& name) {
    for (const int threads : threads_) {
      Say(name + " from the disk");
      ASSIGN_OR_RETURN(ColdFigures figures, MeasureCold(BenchOptions(path, threads)));
      figures.set = name;
      report_.cold.push_back(std::move(figures));
    }
    return OkStatus();
  }

  Status MeasureFirst(const std::string& path) {
    Say("first batch");
    ASSIGN_OR_RETURN(report_.first_batch, MeasureFirstBatch(BenchOptions(path, 1)));
    return OkStatus();
  }

  Result<TemporaryFolder> MakeSet(uint64_t record_bytes, uint64_t records, Codec label) const {
    ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Make());
    SyntheticSetOptions set;
    set.record_bytes = record_bytes;
    set.records = std::max<uint64_t>(1, records);
    set.label_codec = label;
    Say("writing " + FormatCount(set.records) + " records of " +
        FormatBytes(SyntheticRecordBytes(record_bytes)));
    RETURN_IF_ERROR(WriteSyntheticSet(folder.path(), set));
    return folder;
  }

  Status MeasureSynthetic(uint64_t record_bytes, Codec label) {
    const uint64_t bytes = SyntheticRecordBytes(record_bytes);
    ASSIGN_OR_RETURN(const TemporaryFolder folder,
                     MakeSet(record_bytes, options_.set_bytes / bytes, label));
    return MeasureSet(folder.path(), FormatBytes(bytes));
  }

  Status MeasureLabels(Codec label) {
    ASSIGN_OR_RETURN(const TemporaryFolder folder,
                     MakeSet(kOneHotRecordBytes, kOneHotRecords, label));
    for (const int threads : threads_) {
      Say("one-hot labels");
      ReadBenchOptions bench = BenchOptions(folder.path(), threads);
      bench.batch = kOneHotBatch;
      ASSIGN_OR_RETURN(OneHotFigures figures, MeasureOneHot(bench));
      figures.label = "label " + std::string(CodecName(label));
      report_.one_hot.push_back(std::move(figures));
    }
    return OkStatus();
  }

  Status MeasureManyRecords() {
    ASSIGN_OR_RETURN(const TemporaryFolder folder,
                     MakeSet(kTinyRecordBytes, options_.first_batch_records, Codec::kRaw));
    return MeasureFirst(folder.path());
  }

  const ReadSuiteOptions& options_;
  std::vector<int> threads_;
  bool trace_written_ = false;
  ReadReport report_;
};

}  // namespace

Result<ReadReport> RunReadSuite(const ReadSuiteOptions& options) { return Suite(options).Run(); }

}  // namespace shardmill
