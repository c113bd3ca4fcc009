#include "tools/bench/cold_read.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/read_queue.h"
#include "reader/dataset.h"
#include "tools/bench/aligned_buffer.h"
#include "tools/bench/bench_target.h"
#include "tools/bench/record_places.h"
#include "tools/bench/spread.h"

namespace shardmill {
namespace {

constexpr uint32_t kDepths[] = {1, 2, 4, 8, 16, 32, 64};
// A loader that reads from the disk wants a longer ring than one that copies.
constexpr int kSlots = 8;
// The best depth is looked for with so many reads, or bytes, at most: one by one they take their
// time.
constexpr size_t kMostProbes = 8192;
constexpr uint64_t kMostProbeBytes = uint64_t{256} << 20;
// Pages that may stay: the kernel reads a few of headers and footers ahead.
constexpr double kMostResident = 0.05;
constexpr uint64_t kPage = 4096;

std::vector<std::string> PathsOf(const Dataset& dataset, const std::string& split_name) {
  std::vector<std::string> paths;
  const Dataset::Split* split = *dataset.split(split_name);
  for (int number = 0; number < split->shard_count(); ++number) {
    paths.push_back(split->shard(number).path());
  }
  return paths;
}

Result<double> ResidentShare(int descriptor, uint64_t bytes) {
  if (bytes == 0) return 0.0;
  void* mapping = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapping == MAP_FAILED) return ErrnoError("mmap", errno);
  std::vector<unsigned char> pages((bytes + kPage - 1) / kPage);
  const int result = ::mincore(mapping, bytes, pages.data());
  const int error_number = errno;
  ::munmap(mapping, bytes);
  if (result != 0) return ErrnoError("mincore", error_number);
  const auto resident =
      std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; });
  return static_cast<double>(resident) / static_cast<double>(pages.size());
}

Status DropFromCache(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return ErrnoError("cannot open " + path, errno);
  const off_t bytes = ::lseek(descriptor, 0, SEEK_END);
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  const Result<double> resident = ResidentShare(descriptor, static_cast<uint64_t>(bytes));
  ::close(descriptor);
  if (!resident.ok()) return resident.status().WithContext(path);
  if (*resident <= kMostResident) return OkStatus();
  return IoError(path +
                 " stays in memory: it lies on a file system in memory, or another program " +
                 "has it mapped; reading from the disk cannot be measured here");
}

Status DropAll(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) RETURN_IF_ERROR(DropFromCache(path));
  return OkStatus();
}

struct ColdTurn {
  Rate rate;
  Rate rate_once_open;
};

// One epoch from the disk, with everything opened anew.
Result<ColdTurn> TakeColdTurn(const BenchTarget& target, const ColdFigures& figures, Io io) {
  ASSIGN_OR_RETURN(const auto dataset, Dataset::Open(target.path, target.split));
  BatchLoaderOptions options = LoaderOptionsFor(target, figures.threads);
  options.io = io;
  // What waits for a late read must not let the queue run empty, so the loader is given more than
  // the bare loop needs.
  options.queue_depth = std::max(options.queue_depth, figures.best_depth);
  options.slots = kSlots;
  options.epochs = 1;
  const Stopwatch stopwatch;
  ASSIGN_OR_RETURN(const std::unique_ptr<BatchLoader> loader, BatchLoader::Open(dataset, options));
  const Stopwatch stopwatch_once_open;
  RETURN_IF_ERROR(TakeBatches(loader.get(), loader->steps_per_epoch()));
  const uint64_t records = loader->steps_per_epoch() * target.batch;
  return ColdTurn{stopwatch.Stop(records), stopwatch_once_open.Stop(records)};
}

// The descriptors of the shards, for reads past the page cache.
class DirectFiles {
 public:
  static Result<DirectFiles> Open(const std::vector<std::string>& paths) {
    DirectFiles files;
    for (const std::string& path : paths) {
      ASSIGN_OR_RETURN(const int descriptor, OpenDirect(path));
      files.descriptors_.push_back(descriptor);
    }
    return files;
  }
  ~DirectFiles() {
    for (const int descriptor : descriptors_) ::close(descriptor);
  }
  DirectFiles(DirectFiles&& other) noexcept : descriptors_(std::move(other.descriptors_)) {
    other.descriptors_.clear();
  }
  DirectFiles& operator=(DirectFiles&&) = delete;
  int operator[](size_t shard) const { return descriptors_[shard]; }

 private:
  DirectFiles() = default;
  std::vector<int> descriptors_;
};

struct AlignedRead {
  uint32_t shard = 0;
  FileRange range;
};

// The ranges of all records in random order, widened to what direct reads need.
std::vector<AlignedRead> ReadsOf(const RecordPlaces& places, const std::vector<uint64_t>& order) {
  std::vector<AlignedRead> reads;
  for (const uint64_t record : order) {
    for (size_t field = 0; field < places.field_count(); ++field) {
      const RecordPlaces::Place& place = places.place(record, field);
      const uint64_t begin = place.range.offset / kDirectAlignment * kDirectAlignment;
      const uint64_t end = place.range.offset + place.range.bytes + kDirectAlignment - 1;
      reads.push_back({place.shard, {begin, end / kDirectAlignment * kDirectAlignment - begin}});
    }
  }
  return reads;
}

// Of the reads, the first ones.
std::vector<AlignedRead> ProbesOf(const std::vector<AlignedRead>& reads) {
  std::vector<AlignedRead> probes;
  uint64_t bytes = 0;
  for (const AlignedRead& read : reads) {
    if (probes.size() == kMostProbes || bytes >= kMostProbeBytes) break;
    probes.push_back(read);
    bytes += read.range.bytes;
  }
  return probes;
}

class BareDirectLoop {
 public:
  static Result<std::unique_ptr<BareDirectLoop>> Create(const DirectFiles* files,
                                                        const std::vector<AlignedRead>* reads,
                                                        uint32_t depth) {
    std::unique_ptr<BareDirectLoop> loop(new BareDirectLoop(files, reads));
    ASSIGN_OR_RETURN(loop->queue_, ReadQueue::Create(depth));
    for (const AlignedRead& read : *reads) {
      loop->buffer_bytes_ = std::max(loop->buffer_bytes_, read.range.bytes);
    }
    loop->memory_ = MakeAlignedBuffer(loop->buffer_bytes_ * depth);
    if (loop->memory_ == nullptr) return InvalidArgumentError("no memory for direct reads");
    loop->queue_->RegisterBuffers({{loop->memory_.get(), loop->buffer_bytes_ * depth}});
    return loop;
  }

  Status Run() {
    const uint32_t depth = queue_->depth();
    std::vector<ReadQueue::Completion> done(depth);
    size_t next = 0;
    for (; next < std::min<size_t>(depth, reads_.size()); ++next) Push(next, next);
    RETURN_IF_ERROR(queue_->Submit());
    size_t finished = 0;
    int error = 0;  // is reported when nothing is under way any more
    while (finished < reads_.size()) {
      ASSIGN_OR_RETURN(const size_t count, queue_->Wait(done.data(), done.size()));
      for (size_t i = 0; i < count; ++i) {
        if (done[i].result < 0) error = static_cast<int>(-done[i].result);
        if (next < reads_.size()) Push(next++, done[i].tag);
      }
      finished += count;
      RETURN_IF_ERROR(queue_->Submit());
    }
    return error == 0 ? OkStatus() : ErrnoError("direct read", error);
  }

 private:
  BareDirectLoop(const DirectFiles* files, const std::vector<AlignedRead>* reads)
      : files_(*files), reads_(*reads) {}

  void Push(size_t number, uint64_t buffer) {
    const AlignedRead& read = reads_[number];
    ReadQueue::Read request;
    request.descriptor = files_[read.shard];
    request.buffer = memory_.get() + buffer * buffer_bytes_;
    request.bytes = static_cast<uint32_t>(read.range.bytes);
    request.offset = read.range.offset;
    request.tag = buffer;
    queue_->Push(request);
  }

  const DirectFiles& files_;
  const std::vector<AlignedRead>& reads_;
  std::unique_ptr<ReadQueue> queue_;
  uint64_t buffer_bytes_ = 0;
  AlignedBuffer memory_;
};

Result<Rate> TakeBareTurn(const DirectFiles& files, const std::vector<AlignedRead>& reads,
                          uint32_t depth, uint64_t records) {
  RETURN_IF_ERROR(CheckInterrupt());
  ASSIGN_OR_RETURN(const std::unique_ptr<BareDirectLoop> loop,
                   BareDirectLoop::Create(&files, &reads, depth));
  const Stopwatch stopwatch;
  RETURN_IF_ERROR(loop->Run());
  return stopwatch.Stop(records);
}

// The depth at which the reads are fastest.
Result<uint32_t> FindBestDepth(const DirectFiles& files, const std::vector<std::string>& paths,
                               const std::vector<AlignedRead>& reads) {
  const std::vector<AlignedRead> probes = ProbesOf(reads);
  Rate best;
  uint32_t best_depth = 0;
  for (const uint32_t depth : kDepths) {
    RETURN_IF_ERROR(DropAll(paths));
    ASSIGN_OR_RETURN(const Rate rate, TakeBareTurn(files, probes, depth, probes.size()));
    if (best.measured() && rate.per_second() <= best.per_second()) continue;
    best = rate;
    best_depth = depth;
  }
  return best_depth;
}

// The loader, mapped and direct, and the bare reads themselves, each between two turns of the bare
// reads. Both callbacks drop the page cache first.
Status TakeColdTurns(int rounds, const std::function<Result<Rate>()>& bare,
                     const std::function<Result<ColdTurn>(Io)>& load, ColdFigures* figures) {
  std::vector<Rate> bares, direct, mapped;
  std::vector<double> direct_ratios, direct_open_ratios, mapped_ratios, bare_ratios;
  ASSIGN_OR_RETURN(Rate before, bare());
  for (int round = 0; round < rounds; ++round) {
    ASSIGN_OR_RETURN(const ColdTurn direct_turn, load(Io::kDirect));
    ASSIGN_OR_RETURN(const Rate middle, bare());
    ASSIGN_OR_RETURN(const ColdTurn mapped_turn, load(Io::kMapped));
    ASSIGN_OR_RETURN(const Rate after, bare());
    direct.push_back(direct_turn.rate);
    mapped.push_back(mapped_turn.rate);
    bares.insert(bares.end(), {middle, after});
    direct_ratios.push_back(SpeedBeside(direct_turn.rate, before, middle));
    direct_open_ratios.push_back(SpeedBeside(direct_turn.rate_once_open, before, middle));
    mapped_ratios.push_back(SpeedBeside(mapped_turn.rate, middle, after));
    bare_ratios.push_back(SpeedBeside(middle, before, after));
    before = after;
  }
  figures->direct = MedianRate(direct);
  figures->mapped = MedianRate(mapped);
  figures->bare = MedianRate(bares);
  figures->direct_of_bare = SpreadOf(direct_ratios);
  figures->direct_open_of_bare = SpreadOf(direct_open_ratios);
  figures->mapped_of_bare = SpreadOf(mapped_ratios);
  figures->bare_of_itself = SpreadOf(bare_ratios);
  return OkStatus();
}

}  // namespace

Result<ColdFigures> MeasureCold(const ReadBenchOptions& options) {
  ASSIGN_OR_RETURN(BenchTarget target, MakeBenchTarget(options));
  ColdFigures figures;
  figures.set = target.path;
  figures.fields = target.description;
  figures.threads = options.threads;
  std::vector<AlignedRead> reads;
  std::vector<std::string> paths;
  {
    ASSIGN_OR_RETURN(const auto dataset, Dataset::Open(target.path, target.split));
    paths = PathsOf(*dataset, target.split);
    ASSIGN_OR_RETURN(const std::unique_ptr<RecordPlaces> places,
                     RecordPlaces::Open(*dataset, target.split, target.fields));
    const std::vector<uint64_t> order = ShuffledBatches(target, target.records / target.batch, 1);
    reads = ReadsOf(*places, order);
    for (const uint64_t record : order) {
      for (size_t field = 0; field < places->field_count(); ++field) {
        figures.stored_bytes += places->place(record, field).range.bytes;
      }
    }
    figures.records = order.size();
  }
  ASSIGN_OR_RETURN(const DirectFiles files, DirectFiles::Open(paths));
  ASSIGN_OR_RETURN(figures.best_depth, FindBestDepth(files, paths, reads));
  const auto bare = [&]() -> Result<Rate> {
    RETURN_IF_ERROR(DropAll(paths));
    return TakeBareTurn(files, reads, figures.best_depth, figures.records);
  };
  const auto load = [&](Io io) -> Result<ColdTurn> {
    RETURN_IF_ERROR(DropAll(paths));
    return TakeColdTurn(target, figures, io);
  };
  RETURN_IF_ERROR(TakeColdTurns(options.rounds, bare, load, &figures));
  return figures;
}

}  // namespace shardmill
