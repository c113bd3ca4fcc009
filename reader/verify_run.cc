#include "reader/verify_run.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "reader/base/run_on_threads.h"

namespace shardmill {
namespace {

// Blocks that one thread takes at a time: enough that taking them costs nothing.
constexpr uint64_t kTaskBytes = uint64_t{4} << 20;

class Runner {
 public:
  Runner(const std::vector<std::string>& paths, const ShardFallback& fallback,
         const VerifyOptions& options, HashRange* range)
      : fallback_(fallback), options_(options), range_(range) {
    for (const std::string& path : paths) {
      shards_.emplace_back();
      shards_.back().verifier = std::make_unique<ShardVerifier>(path, options.access);
      std::error_code error;
      const uint64_t bytes = std::filesystem::file_size(path, error);
      if (!error) total_bytes_ += bytes;
    }
    run_.shards.resize(paths.size());
  }

  Result<VerifyRun> Run() {
    const int threads = std::max(options_.threads, 1);
    for (int t = 0; t < threads; ++t) run_.keys.push_back(std::make_unique<KeyHashes>(range_));
    RETURN_IF_ERROR(RunOnThreads(threads, [this](int thread) { return WorkOrStop(thread); }));
    for (const Shard& shard : shards_) RETURN_IF_ERROR(shard.failure);
    if (cancelled_) return CancelledError("verification was cancelled");
    return std::move(run_);
  }

 private:
  struct Shard {
    std::unique_ptr<ShardVerifier> verifier;
    uint32_t next_block = 0;   // the first that no thread has taken
    uint32_t blocks_left = 0;  // to verify
    uint64_t bytes_done = 0;
    Status failure;  // of the machine, not of the shard
  };
  // Blocks of a shard; or the shard itself, when it is to be opened.
  struct Task {
    size_t shard = 0;
    bool opens = false;
    uint32_t first = 0;
    uint32_t end = 0;
  };

  // The others must not wait for one that has ended.
  Status WorkOrStop(int thread) {
    try {
      Work(thread);
    } catch (...) {
      Stop();
      throw;
    }
    return OkStatus();
  }

  void Stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    shard_opened_.notify_all();
  }

  void Work(int thread) {
    BlockVerifier verifier;
    while (const std::optional<Task> task = NextTask()) {
      if (task->opens) {
        Open(task->shard);
      } else {
        VerifyBlocks(*task, &verifier, run_.keys[static_cast<size_t>(thread)].get());
      }
    }
  }

  // Blocks come before shards, so that few shards are open at once.
  std::optional<Task> NextTask() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!cancelled_ && !stopped_) {
      if (!ready_.empty()) return TakeBlocksLocked();
      if (next_shard_ < shards_.size()) {
        ++opening_;
        return Task{next_shard_++, true};
      }
      if (opening_ == 0) return std::nullopt;
      shard_opened_.wait(lock);
    }
    return std::nullopt;
  }

  Task TakeBlocksLocked() {
    const size_t index = ready_.front();
    Shard& shard = shards_[index];
    Task task = {index, false, shard.next_block, shard.next_block};
    uint64_t bytes = 0;
    while (task.end < shard.verifier->block_count() && bytes < kTaskBytes) {
      bytes += shard.verifier->block(task.end++).bytes;
    }
    shard.next_block = task.end;
    if (task.end == shard.verifier->block_count()) ready_.pop_front();
    return task;
  }

  void Open(size_t index) {
    Shard& shard = shards_[index];
    shard.verifier->Open(fallback_);
    shard.blocks_left = shard.verifier->block_count();
    const bool is_empty = shard.blocks_left == 0;
    if (is_empty) Finish(index);
    const std::lock_guard<std::mutex> lock(mutex_);
    --opening_;
    if (!is_empty) ready_.push_back(index);
    shard_opened_.notify_all();
  }

  void VerifyBlocks(const Task& task, BlockVerifier* verifier, KeyHashes* keys) {
    Shard& shard = shards_[task.shard];
    shard.verifier->Populate(task.first, task.end);
    for (uint32_t i = task.first; i < task.end; ++i) {
      shard.verifier->VerifyBlock(i, verifier, keys);
      if (!Advance(&shard, shard.verifier->block(i).bytes)) return;
    }
    bool is_last = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      shard.blocks_left -= task.end - task.first;
      is_last = shard.blocks_left == 0;
    }
    if (is_last) Finish(task.shard);
  }

  void Finish(size_t index) {
    Shard& shard = shards_[index];
    const uint64_t rest = shard.verifier->file_bytes() - shard.bytes_done;
    shard.failure = shard.verifier->failure();
    run_.shards[index] = shard.verifier->Finish();
    if (!shard.failure.ok()) Stop();
    shard.verifier.reset();
    if (rest > 0) Advance(&shard, rest);
  }

  bool Advance(Shard* shard, uint64_t bytes) {
    if (options_.cancelled && options_.cancelled()) cancelled_ = true;
    const std::lock_guard<std::mutex> lock(progress_mutex_);
    // Blocks that a damaged table describes may overlap; no shard counts more than its size.
    if (shard->verifier != nullptr) {
      bytes = std::min(bytes, shard->verifier->file_bytes() - shard->bytes_done);
    }
    shard->bytes_done += bytes;
    done_bytes_ += bytes;
    if (bytes > 0 && options_.progress) options_.progress(done_bytes_, total_bytes_);
    return !cancelled_;
  }

  const ShardFallback fallback_;
  const VerifyOptions& options_;
  HashRange* range_;
  VerifyRun run_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> stopped_{false};  // by a failure
  std::deque<Shard> shards_;

  std::mutex mutex_;  // guards what follows, and next_block and blocks_left of the shards
  std::condition_variable shard_opened_;
  size_t next_shard_ = 0;
  int opening_ = 0;
  std::deque<size_t> ready_;  // shards with blocks to take

  std::mutex progress_mutex_;  // guards bytes_done of the shards and the callback
  uint64_t done_bytes_ = 0;
  uint64_t total_bytes_ = 0;
};

}  // namespace

Result<VerifyRun> RunVerification(const std::vector<std::string>& paths,
                                  const ShardFallback& fallback, const VerifyOptions& options,
                                  HashRange* range) {
  return Runner(paths, fallback, options, range).Run();
}

}  // namespace shardmill
