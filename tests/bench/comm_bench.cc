// Time to add gradients over the ranks, in the ways that the trainer can do it.
//
//   bazel build -c opt //tests/bench:comm_bench //trainer:mpi_plugin
//   export SHARDMILL_MPI_PLUGIN=$PWD/bazel-bin/trainer/libshardmill_mpi.so
//   mpirun -np 2 --bind-to none --oversubscribe bazel-bin/tests/bench/comm_bench
//
// "alone" is the communication by itself; "with backward" is what it adds to the time of a
// stand-in for backward: arithmetic that fills the buffer parameter by parameter, from its end.
// Smallest and median of all rounds, each that of the slowest rank; both cores must be free.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trainer/comm/create_communicator.h"
#include "trainer/comm/fixed_tree.h"
#include "trainer/comm/gradient_buckets.h"
#include "trainer/comm/rank_guard.h"

namespace shardmill {
namespace {

constexpr int kRounds = 60;
constexpr int kWarmUp = 10;
constexpr int kParameters = 64;
constexpr int kMicroShards = 8;

struct Job {
  Communicator* ranks;
  std::vector<float> gradients;
  std::vector<GradientRange> ranges;
};

// About 25 ms for 8 MB: as long as backward of a small network takes for as many parameters.
void ComputeRange(Job* job, int range) {
  for (int64_t i = job->ranges[range].begin; i < job->ranges[range].end; ++i) {
    float value = static_cast<float>(i & 255) * 0.001f;
    for (int k = 0; k < 32; ++k) value = value * 0.99f + 0.01f;
    job->gradients[i] = value;
  }
}

struct Milliseconds {
  double smallest = 0;
  double median = 0;
};

Result<Milliseconds> TimeOf(Job* job, const std::function<Status()>& body) {
  std::vector<double> times;
  for (int round = 0; round < kWarmUp + kRounds; ++round) {
    RETURN_IF_ERROR(job->ranks->Barrier("round"));
    const auto start = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(body());
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    ASSIGN_OR_RETURN(const std::vector<std::string> all,
                     job->ranks->Gather(std::to_string(time.count()), "times"));
    double slowest = 0;
    for (const std::string& text : all) slowest = std::max(slowest, std::stod(text));
    if (round >= kWarmUp) times.push_back(slowest);
  }
  std::sort(times.begin(), times.end());
  return Milliseconds{times.front(), times[times.size() / 2]};
}

Status Report(Job* job, const std::string& what, const std::function<Status()>& body,
              const Milliseconds& subtracted = {}) {
  ASSIGN_OR_RETURN(const Milliseconds time, TimeOf(job, body));
  if (job->ranks->rank() == 0) {
    const double megabytes = static_cast<double>(job->gradients.size()) * 4e-6;
    std::printf("%6.1f MB  %-46s %9.3f %9.3f ms\n", megabytes, what.c_str(),
                time.smallest - subtracted.smallest, time.median - subtracted.median);
    std::fflush(stdout);
  }
  return OkStatus();
}

Status Backward(Job* job, GradientBuckets* buckets) {
  for (int range = kParameters - 1; range >= 0; --range) {
    ComputeRange(job, range);
    if (buckets != nullptr) RETURN_IF_ERROR(buckets->MarkFinal(range));
  }
  return OkStatus();
}

Status MeasureBuckets(Job* job, int64_t bucket_bytes, const Milliseconds& backward) {
  for (Overlap overlap : {Overlap::kAtTheEnd, Overlap::kWithBackward}) {
    ASSIGN_OR_RETURN(const std::unique_ptr<GradientBuckets> buckets,
                     GradientBuckets::Create(job->ranks, job->gradients.data(),
                                             static_cast<int64_t>(job->gradients.size()),
                                             job->ranges, {bucket_bytes, overlap}));
    const std::string name = std::to_string(bucket_bytes >> 10) + " KiB buckets, " +
                             (overlap == Overlap::kWithBackward ? "started early" : "one by one");
    RETURN_IF_ERROR(Report(job, name + ", alone", [&]() -> Status {
      for (int range = kParameters - 1; range >= 0; --range) {
        RETURN_IF_ERROR(buckets->MarkFinal(range));
      }
      return buckets->Finish();
    }));
    RETURN_IF_ERROR(Report(
        job, name + ", with backward",
        [&]() -> Status {
          RETURN_IF_ERROR(Backward(job, buckets.get()));
          return buckets->Finish();
        },
        backward));
  }
  return OkStatus();
}

Status Measure(Job* job) {
  const int64_t count = static_cast<int64_t>(job->gradients.size());
  RETURN_IF_ERROR(Report(job, "one blocking sum, alone", [&] {
    return job->ranks->Sum(job->gradients.data(), count, "gradients");
  }));
  ASSIGN_OR_RETURN(const Milliseconds backward,
                   TimeOf(job, [&] { return Backward(job, nullptr); }));
  RETURN_IF_ERROR(Report(job, "backward, alone", [&] { return Backward(job, nullptr); }));
  for (int64_t bucket_bytes : {256 << 10, 1 << 20, 4 << 20}) {
    RETURN_IF_ERROR(MeasureBuckets(job, bucket_bytes, backward));
  }
  if (kMicroShards % job->ranks->size() != 0) return OkStatus();
  ASSIGN_OR_RETURN(FixedTree tree, FixedTree::Create(job->ranks, kMicroShards));
  std::vector<float> numbers(count * tree.local_shards(), 1.0f);
  std::vector<float*> rows;
  for (int i = 0; i < tree.local_shards(); ++i) rows.push_back(numbers.data() + i * count);
  return Report(job, "fixed tree of 8 micro-shards, alone",
                [&] { return tree.Sum(rows.data(), count, job->gradients.data(), "fixed tree"); });
}

Status MeasureSmall(Communicator* ranks) {
  Job job{ranks, std::vector<float>(512), {}};
  std::vector<double> values(256, 1.0);
  RETURN_IF_ERROR(Report(&job, "sum of 256 f64 (a batch norm)",
                         [&] { return ranks->Sum(values.data(), 256, "statistics"); }));
  if (kMicroShards % ranks->size() != 0) return OkStatus();
  ASSIGN_OR_RETURN(FixedTree tree, FixedTree::Create(ranks, kMicroShards));
  std::vector<double> numbers(256 * tree.local_shards(), 1.0);
  std::vector<double*> rows;
  for (int i = 0; i < tree.local_shards(); ++i) rows.push_back(numbers.data() + i * 256);
  return Report(&job, "the same, fixed tree",
                [&] { return tree.Sum(rows.data(), 256, values.data(), "statistics"); });
}

Status Run() {
  ASSIGN_OR_RETURN(const std::unique_ptr<Communicator> ranks, CreateCommunicator({}));
  if (ranks->rank() == 0) std::printf("%d ranks\n", ranks->size());
  Status status = MeasureSmall(ranks.get());
  for (int64_t count : {int64_t{500'000}, int64_t{2'000'000}}) {
    Job job{ranks.get(), std::vector<float>(count, 1.0f), {}};
    for (int64_t i = 0; i < kParameters; ++i) {
      job.ranges.push_back({count * i / kParameters, count * (i + 1) / kParameters});
    }
    if (status.ok()) status = Measure(&job);
    if (!status.ok()) status = ranks->Abort(status);
  }
  return status.ok() ? ranks->Close() : status;
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) {
  return shardmill::RunGuarded(argc, argv, [] {
    const shardmill::Status status = shardmill::Run();
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return shardmill::ExitCode(status);
  });
}
