// The loader beside a bare loop of memcpy over the same records of the same mapped files, in
// random order too and on the same number of threads: the limit of any loader that copies.
//
//   bazel run -c opt //tests/bench:loader_bench
//
// Each row runs both alternately and prints GB/s and samples/s of the loader, GB/s of the loop
// and their ratio, by wall time and by CPU time (of all threads, the consumer's too). The records
// are in the page cache. Compare ratios, not absolute numbers.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/batch_loader.h"
#include "reader/dataset.h"
#include "reader/epoch_order.h"
#include "reader/shard_writer.h"

namespace shardmill {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kSetBytes = uint64_t{768} << 20;
constexpr uint32_t kShards = 4;
constexpr int kSlots = 3;

void Require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(ExitCode(status));
}

// A packed data set of records of one size, and where they lie in its mapped shards.
struct RecordSet {
  uint64_t record_bytes = 0;
  uint64_t records = 0;
  uint64_t batch = 0;
  std::string folder;
  std::vector<const uint8_t*> places;
};

std::vector<uint8_t> RecordBytes(uint64_t record, uint64_t bytes) {
  std::vector<uint8_t> data(bytes);
  uint64_t state = record + 1;
  for (uint64_t i = 0; i + 8 <= bytes; i += 8) {
    state = state * 6364136223846793005 + 1442695040888963407;
    std::memcpy(data.data() + i, &state, 8);
  }
  return data;
}

RecordSchema SchemaOf(uint64_t record_bytes) {
  FieldSpec field;
  field.name = "image";
  field.shape = {static_cast<int64_t>(record_bytes)};
  RecordSchema schema;
  schema.fields = {field};
  return schema;
}

void WritePacked(const RecordSet& set) {
  const RecordSchema schema = SchemaOf(set.record_bytes);
  proto::ShardSchema schema_message;
  RecordSchemaToProto(schema, &schema_message);
  ShardPlan plan;
  plan.split = "train";
  plan.shard_count = kShards;
  plan.records_per_block =
      static_cast<uint32_t>(std::max<uint64_t>(1, (uint64_t{16} << 20) / set.record_bytes));
  proto::Manifest manifest;
  manifest.set_format_version(1);
  manifest.mutable_recipe();
  manifest.set_dataset_id(DigestToHex(plan.dataset_id));
  *manifest.mutable_fields() = schema_message.fields();
  proto::Split* split = manifest.add_splits();
  split->set_name("train");
  split->set_records(set.records);
  const uint64_t per_shard = (set.records + kShards - 1) / kShards;
  FieldEncoder encoder;
  for (uint32_t shard = 0; shard < kShards; ++shard) {
    plan.shard_number = shard;
    plan.first_input = shard * per_shard;
    plan.end_input = std::min(set.records, plan.first_input + per_shard);
    auto writer = ShardWriter::Create(set.folder, plan, schema, proto::Recipe());
    Require(writer.status());
    for (uint64_t record = plan.first_input; record < plan.end_input; ++record) {
      const auto data = RecordBytes(record, set.record_bytes);
      EncodedRecord encoded;
      auto field = encoder.Encode(schema.fields[0], data.data(), data.size());
      Require(field.status());
      encoded.fields.push_back(std::move(field).value());
      proto::RecordMeta meta;
      meta.set_key(std::to_string(record));
      encoded.meta = meta.SerializeAsString();
      Require((*writer)->Append(std::move(encoded)));
    }
    auto result = (*writer)->Close(proto::ShardSummary());
    Require(result.status());
    proto::ShardInfo* info = split->add_shards();
    info->set_file(result->file);
    info->set_records(result->records);
    info->set_bytes(result->bytes);
    info->set_digest(DigestToHex(result->digest));
  }
  Require(WriteManifest(set.folder, manifest));
}

// Maps a shard for the bare loop and notes where each of its records lies: the records of a block
// are dense, from the first page of the block that begins with the bytes of its first record.
void MapShard(const ShardReader& shard, uint64_t first_record, RecordSet* set) {
  const int descriptor = open(shard.path().c_str(), O_RDONLY);
  void* mapping = mmap(nullptr, shard.file_bytes(), PROT_READ, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (mapping == MAP_FAILED) Require(IoError("cannot map " + shard.path()));
  const auto* file = static_cast<const uint8_t*>(mapping);
  for (uint32_t number = 0; number < shard.block_count(); ++number) {
    const ShardReader::BlockInfo block = shard.block(number);
    const auto first = RecordBytes(first_record + block.first_record, set->record_bytes);
    uint64_t offset = block.offset;
    while (std::memcmp(file + offset, first.data(), first.size()) != 0) offset += 4096;
    for (uint32_t record = 0; record < block.records; ++record) {
      set->places.push_back(file + offset + record * set->record_bytes);
    }
  }
}

void MapShards(RecordSet* set) {
  auto dataset = Dataset::Open(set->folder, "train", ChecksumPolicy::kOff);
  Require(dataset.status());
  auto split = (*dataset)->split("train");
  Require(split.status());
  for (int number = 0; number < (*split)->shard_count(); ++number) {
    MapShard((*split)->shard(number), set->places.size(), set);
  }
}

const std::string& Folder() {
  static const std::string folder = [] {
    std::string name = std::filesystem::temp_directory_path().string() + "/loader_bench_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) Require(IoError("cannot make " + name));
    return name;
  }();
  return folder;
}

const RecordSet& SetOf(uint64_t record_bytes) {
  static std::map<uint64_t, RecordSet> sets;
  RecordSet& set = sets[record_bytes];
  if (set.record_bytes != 0) return set;
  set.record_bytes = record_bytes;
  set.records = kSetBytes / record_bytes;
  set.batch = std::max<uint64_t>(16, (uint64_t{4} << 20) / record_bytes);
  set.folder = Folder() + "/" + std::to_string(record_bytes);
  std::filesystem::create_directories(set.folder);
  WritePacked(set);
  MapShards(&set);
  return set;
}

// Wall time and the CPU time of all threads; the latter is less disturbed by other programs.
struct Rate {
  double seconds = 0;
  double cpu_seconds = 0;
  uint64_t records = 0;

  void Add(const Rate& other) {
    seconds += other.seconds;
    cpu_seconds += other.cpu_seconds;
    records += other.records;
  }
};

class Stopwatch {
 public:
  void Start() {
    wall_ = Clock::now();
    cpu_ = CpuSeconds();
  }
  Rate Stop(uint64_t records) const {
    return {std::chrono::duration<double>(Clock::now() - wall_).count(), CpuSeconds() - cpu_,
            records};
  }

 private:
  static double CpuSeconds() {
    timespec time = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  Clock::time_point wall_;
  double cpu_ = 0;
};

// The batches of an epoch, dealt out to threads that copy into a few buffers in turn.
class BareLoop {
 public:
  BareLoop(const RecordSet& set, int threads) : set_(set), threads_(threads) {
    const uint64_t bytes = (set.batch * set.record_bytes + (2 << 20) - 1) >> 21 << 21;
    for (int i = 0; i < threads * BuffersPerThread(); ++i) {
      void* buffer = std::aligned_alloc(2 << 20, bytes);
      madvise(buffer, bytes, MADV_HUGEPAGE);
      std::memset(buffer, 0, bytes);
      buffers_.push_back(static_cast<uint8_t*>(buffer));
    }
  }
  ~BareLoop() {
    for (uint8_t* buffer : buffers_) std::free(buffer);
  }

  Rate RunEpoch(uint64_t epoch) const {
    const uint64_t steps = set_.records / set_.batch;
    std::vector<uint64_t> order(steps * set_.batch);
    EpochOrder(set_.records, 1, epoch, "train").Fill(0, order.size(), order.data());
    Stopwatch stopwatch;
    stopwatch.Start();
    std::vector<std::thread> others;
    for (int thread = 1; thread < threads_; ++thread) {
      others.emplace_back([&, thread] { Copy(order, thread); });
    }
    Copy(order, 0);
    for (std::thread& other : others) other.join();
    return stopwatch.Stop(order.size());
  }

 private:
  int BuffersPerThread() const { return threads_ == 1 ? kSlots : 2; }

  void Copy(const std::vector<uint64_t>& order, int thread) const {
    uint64_t turn = 0;
    for (uint64_t first = set_.batch * thread; first < order.size();
         first += set_.batch * threads_) {
      uint8_t* out = buffers_[thread * BuffersPerThread() + turn++ % BuffersPerThread()];
      for (uint64_t row = 0; row < set_.batch; ++row) {
        std::memcpy(out + row * set_.record_bytes, set_.places[order[first + row]],
                    set_.record_bytes);
      }
      benchmark::DoNotOptimize(out);
      benchmark::ClobberMemory();
    }
  }

  const RecordSet& set_;
  const int threads_;
  std::vector<uint8_t*> buffers_;
};

// Takes the batches of one epoch and drops them. The first few, which the ring holds ready when
// the clock starts, are not counted.
Rate RunLoaderEpoch(BatchLoader* loader, uint64_t batch) {
  const uint64_t steps = loader->steps_per_epoch();
  Stopwatch stopwatch;
  for (uint64_t step = 0; step < steps; ++step) {
    if (step == kSlots + 1) stopwatch.Start();
    auto next = loader->Next();
    Require(next.status());
  }
  return stopwatch.Stop((steps - kSlots - 1) * batch);
}

void LoaderAndBareLoop(benchmark::State& state, ChecksumPolicy policy) {
  const RecordSet& set = SetOf(static_cast<uint64_t>(state.range(0)));
  const int threads = static_cast<int>(state.range(1));
  auto dataset = Dataset::Open(set.folder, "train", policy);
  Require(dataset.status());
  BatchLoaderOptions options;
  options.split = "train";
  options.global_batch = set.batch;
  options.threads = threads;
  options.slots = kSlots;
  options.epochs = ~uint64_t{0};
  auto loader = BatchLoader::Open(*dataset, options);
  Require(loader.status());
  const BareLoop bare_loop(set, threads);
  bare_loop.RunEpoch(0);
  RunLoaderEpoch(loader->get(), set.batch);
  Rate loaded;
  Rate copied;
  uint64_t epoch = 1;
  for (auto _ : state) {
    const Rate loader_rate = RunLoaderEpoch(loader->get(), set.batch);
    loaded.Add(loader_rate);
    copied.Add(bare_loop.RunEpoch(epoch++));
    state.SetIterationTime(loader_rate.seconds);
  }
  const double samples = static_cast<double>(loaded.records) / loaded.seconds;
  const double copies = static_cast<double>(copied.records) / copied.seconds;
  state.counters["samples/s"] = samples;
  state.counters["GB/s"] = samples * static_cast<double>(set.record_bytes) / 1e9;
  state.counters["memcpy_GB/s"] = copies * static_cast<double>(set.record_bytes) / 1e9;
  state.counters["ratio"] = samples / copies;
  const double loader_cpu = loaded.cpu_seconds / static_cast<double>(loaded.records);
  const double copy_cpu = copied.cpu_seconds / static_cast<double>(copied.records);
  state.counters["cpu_ns/sample"] = loader_cpu * 1e9;
  state.counters["memcpy_cpu_ns"] = copy_cpu * 1e9;
  state.counters["cpu_ratio"] = copy_cpu / loader_cpu;
}

void SizesAndThreads(benchmark::internal::Benchmark* benchmark) {
  for (int64_t record_bytes : {3072, 150528, 495616}) {
    for (int64_t threads : {1, 2}) benchmark->Args({record_bytes, threads});
  }
  benchmark->ArgNames({"bytes", "threads"})->UseManualTime()->Iterations(8);
}

BENCHMARK_CAPTURE(LoaderAndBareLoop, checksums_off, ChecksumPolicy::kOff)->Apply(SizesAndThreads);
BENCHMARK_CAPTURE(LoaderAndBareLoop, first_touch_later_epochs, ChecksumPolicy::kFirstTouch)
    ->Apply(SizesAndThreads);
BENCHMARK_CAPTURE(LoaderAndBareLoop, always, ChecksumPolicy::kAlways)->Apply(SizesAndThreads);

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove_all(shardmill::Folder());
  return 0;
}
