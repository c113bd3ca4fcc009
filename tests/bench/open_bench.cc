// Opening a data set of many small records: how long it takes and how much memory it holds.
//
//   bazel run -c opt //tests/bench:open_bench -- FOLDER [RECORDS]
//
// Writes two sets of RECORDS records (10 million) of 16 bytes: 100 shards with blocks of the usual
// size, and a single shard with blocks of 256 records, so that its block table is long. Each is
// opened a few times (the best counts), the files being in the page cache; memory is RssAnon of a
// fresh process with the set open, less what it was before. Reading one record ends each round.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/dataset.h"
#include "reader/manifest.h"
#include "reader/shard_writer.h"

namespace shardmill {
namespace {

constexpr int64_t kRecordBytes = 16;

void Require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(ExitCode(status));
}

uint64_t AnonymousKilobytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    uint64_t kilobytes = 0;
    if (word == "RssAnon:" && status >> kilobytes) return kilobytes;
  }
  return 0;
}

struct Set {
  std::string folder;
  uint64_t records = 0;
  uint32_t shards = 1;
  uint32_t records_per_block = 1;
};

void WriteShard(const Set& set, uint32_t number, const RecordSchema& schema) {
  ShardPlan plan;
  plan.split = "train";
  plan.shard_number = number;
  plan.shard_count = set.shards;
  plan.first_input = set.records * number / set.shards;
  plan.end_input = set.records * (number + 1) / set.shards;
  plan.records_per_block = set.records_per_block;
  auto writer = ShardWriter::Create(set.folder, plan, schema, proto::Recipe());
  Require(writer.status());
  FieldEncoder encoder;
  proto::RecordMeta meta;
  for (uint64_t i = plan.first_input; i < plan.end_input; ++i) {
    const uint64_t tensor[2] = {i, ~i};
    EncodedRecord record;
    auto field = encoder.Encode(schema.fields[0], tensor, sizeof tensor);
    Require(field.status());
    record.fields.push_back(std::move(field).value());
    meta.set_key(std::to_string(i) + ".png");
    record.meta = meta.SerializeAsString();
    Require((*writer)->Append(std::move(record)));
  }
  proto::ShardSummary summary;
  summary.mutable_statistics()->set_records(plan.end_input - plan.first_input);
  Require((*writer)->Close(summary).status());
}

void WriteSet(const Set& set) {
  std::filesystem::create_directories(set.folder);
  RecordSchema schema;
  schema.fields = {{"tensor", DType::kU8, {kRecordBytes}}};
  for (uint32_t k = 0; k < set.shards; ++k) WriteShard(set, k, schema);
  auto manifest = RebuildManifest(set.folder);
  Require(manifest.status());
  Require(WriteManifest(set.folder, *manifest));
}

// In a process of its own, whose memory nothing else has used before.
int MeasureOpening(const std::string& folder) {
  constexpr int kRounds = 5;
  double best_ms = 1e9;
  uint64_t kilobytes = 0;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t before = AnonymousKilobytes();
    const auto start = std::chrono::steady_clock::now();
    const auto dataset = Dataset::Open(folder);
    Require(dataset.status());
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    const Dataset::Split& split = *(*dataset)->split("train").value();
    const uint64_t last = split.records() - 1;
    const auto [shard, number] = split.Locate(last);
    uint64_t tensor[2] = {};
    ReadScratch scratch;
    Require(shard->Read(number, 0, tensor, sizeof tensor, &scratch));
    SHARDMILL_CHECK(tensor[0] == last);
    best_ms = std::min(best_ms, elapsed.count());
    if (round == 0) kilobytes = AnonymousKilobytes() - before;
    if (round + 1 < kRounds) continue;
    std::printf("%9llu records %4d shards   open %6.2f ms   RssAnon %6.2f MiB\n",
                static_cast<unsigned long long>(split.records()), split.shard_count(), best_ms,
                static_cast<double>(kilobytes) / 1024);
  }
  return 0;
}

void Run(const Set& set) {
  WriteSet(set);
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "open_bench", "measure", set.folder.c_str(),
          static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  SHARDMILL_CHECK(status == 0);
  std::filesystem::remove_all(set.folder);
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: open_bench FOLDER [RECORDS]\n");
    return 2;
  }
  if (argc == 3 && std::string(argv[1]) == "measure") return shardmill::MeasureOpening(argv[2]);
  const std::string folder = std::string(argv[1]) + "/open_bench";
  const uint64_t records = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10000000;
  shardmill::Run({folder, records, 100, 1 << 17});
  shardmill::Run({folder, records, 1, 256});
  return 0;
}
