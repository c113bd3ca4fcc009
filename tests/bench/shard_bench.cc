// Writing, opening and verifying one shard, beside what dd and cat need for as many bytes.
//
//   bazel run -c opt //tests/bench:shard_bench -- FOLDER [RECORDS] [RECORD_BYTES] [keep]
//
// Prints wall and processor seconds; on a busy machine only the latter mean something. Writing ends
// when the disk has the data, as it does for `dd conv=fsync`. The file is in the page cache when it
// is read. Each line is the best of several rounds, in turn. With `keep` the shard stays.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/shard_reader.h"
#include "reader/shard_writer.h"
#include "reader/verify.h"

namespace shardmill {
namespace {

struct Seconds {
  double wall = 0;
  double processor = 0;
};

double ProcessorSeconds(int who) {
  struct rusage usage;
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Seconds Measure(int who, const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const double processor = ProcessorSeconds(who);
  work();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return {wall.count(), ProcessorSeconds(who) - processor};
}

void Print(const char* what, uint64_t bytes, const std::vector<Seconds>& rounds) {
  double wall = rounds[0].wall;
  double processor = rounds[0].processor;
  for (const Seconds& round : rounds) {
    wall = std::min(wall, round.wall);
    processor = std::min(processor, round.processor);
  }
  const double gigabytes = 1e-9 * static_cast<double>(bytes);
  std::printf("%-28s %8.3f s wall %6.2f GB/s   %8.3f s processor %6.2f GB/s\n", what, wall,
              gigabytes / wall, processor, gigabytes / processor);
}

ShardResult Write(const std::string& folder, uint64_t records, int64_t record_bytes) {
  RecordSchema schema;
  schema.fields = {{"tensor", DType::kU8, {record_bytes}}};
  ShardPlan plan;
  plan.split = "bench";
  plan.end_input = records;
  plan.records_per_block =
      static_cast<uint32_t>(std::max<int64_t>(1, (int64_t{16} << 20) / record_bytes));
  auto writer = ShardWriter::Create(folder, plan, schema, proto::Recipe()).value();
  FieldEncoder encoder;
  std::string tensor(static_cast<size_t>(record_bytes), '\0');
  for (uint64_t i = 0; i < records; ++i) {
    for (size_t j = 0; j < tensor.size(); j += 64) tensor[j] = static_cast<char>(i + j);
    EncodedRecord record;
    record.fields.push_back(encoder.Encode(schema.fields[0], tensor.data(), tensor.size()).value());
    proto::RecordMeta meta;
    meta.set_key(std::to_string(i) + ".png");
    record.meta = meta.SerializeAsString();
    SHARDMILL_CHECK(writer->Append(std::move(record)).ok());
  }
  return writer->Close(proto::ShardSummary()).value();
}

// Runs a program with its output thrown away.
void Execute(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  SHARDMILL_CHECK(status == 0);
}

// The shard as it is written, and zeros of the same size by dd, in turn: the same disk, the same
// moment. The last shard stays.
ShardResult WriteBesideDd(const std::string& folder, uint64_t records, int64_t record_bytes) {
  constexpr int kRounds = 3;
  std::vector<Seconds> write;
  std::vector<Seconds> dd;
  ShardResult result;
  const std::string zeros = folder + "/dd.tmp";
  for (int round = 0; round < kRounds; ++round) {
    write.push_back(Measure(RUSAGE_SELF, [&] { result = Write(folder, records, record_bytes); }));
    const std::string count = std::to_string((result.bytes >> 20) + 1);
    dd.push_back(Measure(RUSAGE_CHILDREN, [&] {
      Execute({"dd", "if=/dev/zero", "of=" + zeros, "bs=1M", "count=" + count, "conv=fsync"});
    }));
    std::filesystem::remove(zeros);
  }
  std::printf("%s/%s: %llu records, %llu bytes\n", folder.c_str(), result.file.c_str(),
              static_cast<unsigned long long>(result.records),
              static_cast<unsigned long long>(result.bytes));
  Print("dd bs=1M conv=fsync", result.bytes, dd);
  Print("write, encode, flush", result.bytes, write);
  return result;
}

void Read(const std::string& path, uint64_t bytes) {
  constexpr int kRounds = 7;
  std::vector<Seconds> cat;
  std::vector<Seconds> mapped;
  std::vector<Seconds> pread;
  std::vector<Seconds> open;
  VerifyOptions with_pread;
  with_pread.access = FileAccess::kPread;
  for (int round = 0; round < kRounds; ++round) {
    cat.push_back(Measure(RUSAGE_CHILDREN, [&] { Execute({"cat", path}); }));
    mapped.push_back(Measure(RUSAGE_SELF, [&] { SHARDMILL_CHECK(Verify(path, {})->sound()); }));
    pread.push_back(
        Measure(RUSAGE_SELF, [&] { SHARDMILL_CHECK(Verify(path, with_pread)->sound()); }));
    open.push_back(Measure(RUSAGE_SELF, [&] {
      SHARDMILL_CHECK(ShardReader::Open(path, ChecksumPolicy::kFirstTouch).ok());
    }));
  }
  Print("cat FILE > /dev/null", bytes, cat);
  Print("verify, one thread", bytes, mapped);
  Print("verify with pread", bytes, pread);
  double fastest_open = open[0].wall;
  for (const Seconds& round : open) fastest_open = std::min(fastest_open, round.wall);
  std::printf("%-28s %8.3f ms\n", "open", 1e3 * fastest_open);
}

int Run(const std::string& folder, uint64_t records, int64_t record_bytes, bool keep) {
  const ShardResult result = WriteBesideDd(folder, records, record_bytes);
  const std::string path = folder + "/" + result.file;
  Read(path, result.bytes);
  if (!keep) std::filesystem::remove(path);
  return 0;
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: shard_bench FOLDER [RECORDS] [RECORD_BYTES] [keep]\n");
    return 2;
  }
  const uint64_t records = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
  const int64_t bytes = argc > 3 ? std::strtoll(argv[3], nullptr, 10) : 1 << 20;
  const bool keep = argc > 4 && std::string(argv[4]) == "keep";
  return shardmill::Run(argv[1], records, bytes, keep);
}
