// Threads, memory and allocations over the life of a loader.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <thread>

#include "reader/batch_loader.h"
#include "reader/stored_views.h"
#include "tests/reader/loader_testing.h"
#include "tests/reader/ragged_dataset.h"

namespace {

// Every heap allocation of the process through operator new; larger ones than this fail.
std::atomic<uint64_t> allocations{0};
// And through malloc and its like, those above included.
std::atomic<uint64_t> memory_calls{0};
std::atomic<size_t> largest_allocation{~size_t{0}};

void* CountedAllocation(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = bytes > largest_allocation ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* CountedAllocation(size_t bytes, std::align_val_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const auto align = static_cast<size_t>(alignment);
  void* memory = std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return CountedAllocation(bytes); }
void* operator new[](size_t bytes) { return CountedAllocation(bytes); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return CountedAllocation(bytes, alignment);
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return CountedAllocation(bytes, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Libraries in C, as zstd, allocate with these.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  memory_calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  memory_calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  memory_calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  memory_calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, bytes);
}
}
#endif

namespace shardmill {
namespace {

// Sanitizers keep freed memory back, and shadow memory grows with use.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

int ThreadCount() {
  int threads = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    (void)entry;
    ++threads;
  }
  return threads;
}

// A joined thread is listed for a moment longer: waits until that is over.
bool ThreadCountBecomes(int threads) {
  for (int attempt = 0; attempt < 100000; ++attempt) {
    if (ThreadCount() == threads) return true;
    std::this_thread::yield();
  }
  return false;
}

// Memory in use; what the allocator only keeps for later is given back first.
uint64_t AnonymousKib() {
  malloc_trim(0);
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "RssAnon:") continue;
    uint64_t kib = 0;
    status >> kib;
    return kib;
  }
  return 0;
}

int OpenFiles() {
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++files;
  }
  return files;
}

BatchLoaderOptions Options(uint64_t global_batch, int threads) {
  BatchLoaderOptions options;
  options.split = "train";
  options.global_batch = global_batch;
  options.threads = threads;
  options.fields = {{"image"}, {"label", Delivery::kOneHotF32}, {"number"}};
  return options;
}

TestDatasetOptions MediumRecords() {
  TestDatasetOptions options;
  options.records = 120;
  options.height = 48;
  options.width = 64;
  return options;
}

TEST(BatchLoaderLifetime, ABatchAllocatesNothingInSteadyState) {
  const auto dataset = OpenTestDataset("steady", MediumRecords());
  for (int threads : {1, 2}) {
    BatchLoaderOptions options = Options(4, threads);
    options.epochs = 2;
    auto loader = OpenLoader(dataset, options);
    // The first epoch checks block headers and grows the scratch memory of the workers; the
    // second begins with the construction of its order.
    for (int step = 0; step < 35; ++step) ASSERT_TRUE(loader->Next().ok());
    const uint64_t before = allocations + memory_calls;
    int batches = 0;
    for (int step = 35; step < 60; ++step) {
      auto batch = loader->Next();
      batches += batch.ok() && batch->has_value();
    }
    const uint64_t after = allocations + memory_calls;
    EXPECT_EQ(batches, 25);
    EXPECT_EQ(after - before, 0u);
  }
}

// Padded and bucketed sequences beside images that are cropped, flipped and normalised, and labels
// that are cropped and expanded.
TEST(BatchLoaderLifetime, APaddedAndAugmentedBatchAllocatesNothingInSteadyState) {
  RaggedOptions ragged;
  ragged.records = 240;
  ragged.image_is_fixed = true;
  for (Codec codec : {Codec::kRaw, Codec::kZstd, Codec::kJpeg}) {
    SCOPED_TRACE(CodecName(codec));
    ragged.image_codec = codec;
    ragged.features_codec = codec == Codec::kJpeg ? Codec::kRaw : codec;
    auto dataset = Dataset::Open(WriteRaggedDataset("steady-ragged", ragged), "train");
    ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
    BatchLoaderOptions options = Options(4, 2);
    options.fields = {{"features", Delivery::kStored, Padding()},
                      {"image", Delivery::kNormalizedNchw},
                      {"label", Delivery::kOneHotF32}};
    options.fields[1].mean = {1, 2, 3};
    options.fields[1].deviation = {1, 1, 1};
    options.augment.crop_height = 6;
    options.augment.crop_width = 6;
    options.augment.horizontal_flip = 0.5;
    options.augment.scale_least = 0.75;
    options.augment.scale_most = 1.5;
    options.augment.contrast = 0.5;
    options.buckets = {"features", 5};
    options.epochs = 2;
    auto loader = OpenLoader(*dataset, options);
    for (int step = 0; step < 65; ++step) ASSERT_TRUE(loader->Next().ok());
    const uint64_t before = allocations;
    const uint64_t calls_before = memory_calls;
    int batches = 0;
    for (int step = 65; step < 120; ++step) {
      auto batch = loader->Next();
      batches += batch.ok() && batch->has_value();
    }
    EXPECT_EQ(allocations - before, 0u);
    // libjpeg allocates for each picture and frees it again.
    if (codec != Codec::kJpeg) {
      EXPECT_EQ(memory_calls - calls_before, 0u);
    }
    EXPECT_EQ(batches, 55);
  }
}

TEST(BatchLoaderLifetime, AViewAllocatesNothingInSteadyState) {
  TestDatasetOptions test_options = MediumRecords();
  test_options.label_codec = Codec::kRaw;
  const auto dataset = OpenTestDataset("steady-views", test_options);
  StoredViewsOptions options;
  options.split = "train";
  options.global_batch = 7;
  ViewBatch batch;
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto views = StoredViews::Open(dataset, options);
    ASSERT_TRUE(views.ok()) << views.status().ToString();
    const uint64_t before = allocations;
    int64_t rows = 0;
    while (true) {
      const auto more = (*views)->Next(&batch);
      if (!more.ok() || !*more) break;
      rows += batch.rows();
    }
    EXPECT_EQ(rows, 120);
    if (epoch > 0) {
      EXPECT_EQ(allocations - before, 0u);
    }
  }
}

TEST(BatchLoaderLifetime, LeavingMidEpochJoinsThreadsAndKeepsNoMemory) {
  const auto dataset = OpenTestDataset("leaving", MediumRecords());
  const int threads_before = ThreadCount();
  const int files_before = OpenFiles();
  uint64_t kib_before = 0;
  for (int repeat = 0; repeat < 1000; ++repeat) {
    {
      auto loader = OpenLoader(dataset, Options(6, 1 + repeat % 4));
      Batch held;
      for (int step = 0; step < repeat % 7; ++step) {
        auto batch = loader->Next();
        ASSERT_TRUE(batch.ok() && batch->has_value());
        held = std::move(**batch);
      }
    }
    ASSERT_TRUE(ThreadCountBecomes(threads_before));
    if (repeat == 50) kib_before = AnonymousKib();
  }
  EXPECT_EQ(OpenFiles(), files_before);
  // One loader alone holds about 3 MiB; the allocator may keep a little for reuse.
  if (!kSanitized) {
    EXPECT_LT(AnonymousKib(), kib_before + 2048);
  }
}

TEST(BatchLoaderLifetime, ExceptionInAWorkerIsAnErrorThatNamesTheRecord) {
  TestDatasetOptions test_options;
  test_options.height = 200;
  test_options.width = 200;
  test_options.variable_height = true;
  test_options.records = 4;
  test_options.shards = 1;
  const auto dataset = OpenTestDataset("exception", test_options);
  BatchLoaderOptions options = Options(2, 2);
  options.order = Order::kStored;
  options.fields = {{"image"}};
  options.augment.crop_height = 10;
  options.augment.crop_width = 10;
  // An image has 120,000 bytes; a worker finds no memory to decode it.
  largest_allocation = 100000;
  auto loader = OpenLoader(dataset, options);
  const Status status = loader->Next().status();
  largest_allocation = ~size_t{0};
  EXPECT_EQ(status.code(), StatusCode::kIo);
  for (const char* part : {"train-00000-of-00001.shard", "record 0", "out of memory"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
}

TEST(BatchLoaderLifetime, NoMemoryForTheBatchesIsAnErrorOfOpen) {
  const auto dataset = OpenTestDataset("no-memory", MediumRecords());
  BatchLoaderOptions options = Options(100000, 1);
  options.tail = TailPolicy::kPad;
  options.fields = {{"number"}};
  largest_allocation = 100000;
  const Status status = BatchLoader::Open(dataset, options).status();
  largest_allocation = ~size_t{0};
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_NE(status.message().find("no memory for batches of 100000 records; use a smaller batch"),
            std::string::npos)
      << status.message();
}

TEST(BatchLoaderLifetime, ASlowConsumerGetsEveryBatchAndTheRingStaysAsItIs) {
  const auto dataset = OpenTestDataset("slow", MediumRecords());
  BatchLoaderOptions options = Options(6, 3);
  options.slots = 2;
  auto loader = OpenLoader(dataset, options);
  for (uint64_t step = 0; step < 20; ++step) {
    auto batch = loader->Next();
    ASSERT_TRUE(batch.ok() && batch->has_value());
    // Time enough to fill the ring, and more, if it were not bounded.
    for (int turn = 0; turn < 200; ++turn) std::this_thread::yield();
    ASSERT_EQ((**batch).step(), step);
    ASSERT_LE(loader->times().records, (step + 2) * 6);
  }
}

TEST(BatchLoaderLifetime, MemoryIsWhatTheBudgetCountsAndMoreIsRefused) {
  const auto dataset = OpenTestDataset("budget", MediumRecords());
  BatchLoaderOptions options = Options(60, 2);
  options.slots = 8;
  uint64_t allocated = 0;
  options.allocate = [&](uint64_t bytes) {
    allocated += bytes;
    return std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  };
  options.release = [](void* buffer, uint64_t) { std::free(buffer); };
  uint64_t needed = 0;
  {
    auto loader = OpenLoader(dataset, options);
    needed = loader->memory_bytes();
    // 60 rows of an image, five planes of f32 and a number.
    EXPECT_GE(allocated, uint64_t{8} * 60 * (48 * 64 * 3 + 48 * 64 * 5 * 4 + 8));
    EXPECT_GE(needed, allocated + uint64_t{8} * 60 * (3 * 8 + 4));
    EXPECT_LT(needed, allocated + allocated / 10);
  }
  options.max_bytes = needed;
  EXPECT_EQ(ReadAll(dataset, options).size(), 2u);
  options.max_bytes = needed - 1;
  const Status status = BatchLoader::Open(dataset, options).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("max_bytes"), std::string::npos) << status.message();
}

TEST(BatchLoaderLifetime, ManyEpochsDoNotGrowMemory) {
  const auto dataset = OpenTestDataset("epochs", MediumRecords());
  BatchLoaderOptions options = Options(30, 2);
  options.epochs = 200;
  auto loader = OpenLoader(dataset, options);
  uint64_t kib_before = 0;
  uint64_t batches = 0;
  while (true) {
    auto batch = loader->Next();
    ASSERT_TRUE(batch.ok());
    if (!batch->has_value()) break;
    // By now each worker has had its share, on a busy machine too.
    if (++batches == 400) kib_before = AnonymousKib();
  }
  EXPECT_EQ(batches, 800u);
  if (!kSanitized) {
    EXPECT_LE(AnonymousKib() * 100, kib_before * 101);  // one percent, after 100 epochs more
  }
}

}  // namespace
}  // namespace shardmill
