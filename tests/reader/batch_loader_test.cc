// What batches hold, and what goes wrong.
#include "reader/batch_loader.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/reader/loader_testing.h"

namespace shardmill {
namespace {

BatchLoaderOptions Options(uint64_t global_batch) {
  BatchLoaderOptions options;
  options.split = "train";
  options.global_batch = global_batch;
  options.threads = 2;
  options.seed = 3;
  return options;
}

TEST(BatchLoader, FieldsHoldWhatWasPacked) {
  TestDatasetOptions test_options;
  const auto dataset = OpenTestDataset("contents", test_options);
  auto loader = OpenLoader(dataset, Options(8));
  EXPECT_EQ(loader->steps_per_epoch(), 12u);
  for (uint64_t step = 0; step < 12; ++step) {
    auto next = loader->Next();
    ASSERT_TRUE(next.ok() && next->has_value()) << next.status().ToString();
    const Batch& batch = **next;
    ASSERT_EQ(batch.field_count(), 3);
    const FieldView& image = batch.field("image");
    const FieldView& label = batch.field("label");
    const FieldView& number = batch.field("number");
    EXPECT_EQ(image.shape, (std::vector<int64_t>{8, 6, 5, 3}));
    EXPECT_EQ(label.shape, (std::vector<int64_t>{8, 6, 5}));
    EXPECT_EQ(number.shape, (std::vector<int64_t>{8, 1}));
    EXPECT_EQ(number.dtype, DType::kI64);
    for (int64_t row = 0; row < batch.rows(); ++row) {
      const uint64_t record = batch.records()[static_cast<size_t>(row)];
      ASSERT_EQ(number.as<int64_t>()[row], static_cast<int64_t>(record));
      const auto expected_image = TestImage(record, test_options);
      const auto expected_label = TestLabel(record, test_options);
      ASSERT_EQ(std::memcmp(image.data + row * 90, expected_image.data(), 90), 0);
      ASSERT_EQ(std::memcmp(label.data + row * 30, expected_label.data(), 30), 0);
    }
  }
}

TEST(BatchLoader, LabelsArriveAsAskedWhateverIsStored) {
  for (LabelEncoding encoding :
       {LabelEncoding::kIndex, LabelEncoding::kOneHotBits, LabelEncoding::kOneHotBytes}) {
    for (Codec codec : {Codec::kRaw, Codec::kZstd}) {
      TestDatasetOptions test_options;
      test_options.records = 10;
      test_options.label_encoding = encoding;
      test_options.label_codec = codec;
      const auto dataset = OpenTestDataset("labels", test_options);
      std::map<Delivery, std::vector<SeenBatch>> seen;
      for (Delivery delivery : {Delivery::kIndex, Delivery::kOneHotU8, Delivery::kOneHotF32}) {
        BatchLoaderOptions options = Options(5);
        options.fields = {{"label", delivery}};
        seen[delivery] = ReadAll(dataset, options);
        ASSERT_EQ(seen[delivery].size(), 2u);
      }
      for (size_t step = 0; step < 2; ++step) {
        for (size_t row = 0; row < 5; ++row) {
          const uint64_t record = seen[Delivery::kIndex][step].records[row];
          const auto classes = TestClasses(record, test_options);
          for (size_t pixel = 0; pixel < 30; ++pixel) {
            const size_t at = row * 30 + pixel;
            const auto index = static_cast<uint8_t>(seen[Delivery::kIndex][step].fields[0][at]);
            ASSERT_EQ(index, classes[pixel] < 0 ? 255 : classes[pixel]);
            for (int k = 0; k < 5; ++k) {
              ASSERT_EQ(seen[Delivery::kOneHotU8][step].fields[0][at * 5 + k], k == classes[pixel]);
              float value;
              std::memcpy(&value,
                          seen[Delivery::kOneHotF32][step].fields[0].data() + (at * 5 + k) * 4, 4);
              ASSERT_EQ(value, k == classes[pixel] ? 1.0f : 0.0f);
            }
          }
        }
      }
    }
  }
}

TEST(BatchLoader, BadOptionsAreInvalidArgumentThatNamesThem) {
  const auto dataset = OpenTestDataset("options", TestDatasetOptions());
  auto message = [&](auto change) {
    BatchLoaderOptions options = Options(8);
    change(&options);
    auto loader = BatchLoader::Open(dataset, options);
    if (loader.ok()) return std::string("ok");
    EXPECT_EQ(loader.status().code(), StatusCode::kInvalidArgument);
    return loader.status().message();
  };
  using O = BatchLoaderOptions*;
  auto names = [&](const std::string& text, auto change) {
    EXPECT_NE(message(change).find(text), std::string::npos) << message(change);
  };
  names("ok", [](O) {});
  names("train", [](O o) { o->split = "test"; });  // lists the splits that exist
  names("global_batch", [](O o) { o->global_batch = 0; });
  names("global_batch", [](O o) { o->global_batch = 3, o->ranks = 4; });
  names("global_batch", [](O o) { o->global_batch = uint64_t{1} << 32; });
  names("rank", [](O o) { o->ranks = 0; });
  names("rank", [](O o) { o->ranks = 2, o->rank = 2; });
  names("fewer than one global_batch", [](O o) { o->global_batch = 101; });
  names("ok", [](O o) { o->global_batch = 101, o->tail = TailPolicy::kPad; });
  names("epochs", [](O o) { o->epochs = 0; });
  names("first_step", [](O o) { o->first_step = 13; });
  names("threads", [](O o) { o->threads = 0; });
  names("threads", [](O o) { o->threads = 100000; });
  names("threads", [](O o) { o->threads = std::numeric_limits<int>::max(); });
  names("slots", [](O o) { o->slots = 0; });
  names("slots", [](O o) { o->slots = std::numeric_limits<int>::max(); });
  names("trace_spans", [](O o) { o->trace_spans = ~uint64_t{0}; });
  names("release", [](O o) { o->allocate = [](uint64_t) -> void* { return nullptr; }; });
  names("'depth'; the fields are 'image'", [](O o) { o->fields = {{"depth"}}; });
  names("twice", [](O o) { o->fields = {{"image"}, {"image"}}; });
  names("not a label", [](O o) { o->fields = {{"image", Delivery::kIndex}}; });
}

TEST(BatchLoader, VariableShapesNeedACropOrPadding) {
  TestDatasetOptions test_options;
  test_options.variable_height = true;
  const auto dataset = OpenTestDataset("variable", test_options);
  auto loader = BatchLoader::Open(dataset, Options(4));
  ASSERT_FALSE(loader.ok());
  EXPECT_EQ(loader.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(loader.status().message().find("'image'"), std::string::npos);
  EXPECT_NE(loader.status().message().find("needs a crop or padding"), std::string::npos);
  BatchLoaderOptions options = Options(4);
  options.fields = {{"label"}};
  EXPECT_EQ(ReadAll(dataset, options).size(), 25u);
}

TEST(BatchLoader, HoldingEveryBatchIsAnErrorThatPasses) {
  const auto dataset = OpenTestDataset("holding", TestDatasetOptions());
  BatchLoaderOptions options = Options(10);
  options.slots = 2;
  auto loader = OpenLoader(dataset, options);
  auto first = loader->Next();
  auto second = loader->Next();
  ASSERT_TRUE(first.ok() && second.ok());
  auto third = loader->Next();
  EXPECT_EQ(third.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(third.status().message().find("slots"), std::string::npos);
  const SeenBatch held = Copy(**second);
  **first = Batch();  // gives the first slot back
  third = loader->Next();
  ASSERT_TRUE(third.ok() && third->has_value()) << third.status().ToString();
  EXPECT_EQ((**third).step(), 2u);
  EXPECT_EQ(Copy(**second), held);
}

TEST(BatchLoader, TheLastBatchesMayAllBeHeldAtTheEnd) {
  const auto dataset = OpenTestDataset("holding-end", TestDatasetOptions());
  BatchLoaderOptions options = Options(50);
  options.slots = 2;
  auto loader = OpenLoader(dataset, options);
  auto first = loader->Next();
  auto second = loader->Next();
  ASSERT_TRUE(first.ok() && second.ok());
  auto end = loader->Next();
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->has_value());
}

TEST(BatchLoader, MovedBatchReleasesItsSlotOnce) {
  const auto dataset = OpenTestDataset("moving", TestDatasetOptions());
  BatchLoaderOptions options = Options(10);
  options.slots = 1;
  auto loader = OpenLoader(dataset, options);
  for (uint64_t step = 0; step < 10; ++step) {
    auto next = loader->Next();
    ASSERT_TRUE(next.ok() && next->has_value()) << next.status().ToString();
    Batch moved = std::move(**next);
    Batch again;
    again = std::move(moved);
    EXPECT_EQ(again.step(), step);
  }
}

// JPEG files of 8 × 8 pixels; each third one carries a comment of 40,000 bytes, so that the stored
// bytes of a batch are far more than the room that a worker has for them at first.
std::string WriteCommentedPictures(uint64_t records) {
  FieldSpec field;
  field.name = "image";
  field.role = Role::kImage;
  field.codec = Codec::kJpeg;
  field.shape = {8, 8, 3};
  RecordSchema schema;
  schema.fields = {field};
  return WriteTestSplit("pictures", schema, {records, 2, 50},
                        [&](uint64_t number, FieldEncoder* encoder) {
                          const std::vector<uint8_t> pixels(192, static_cast<uint8_t>(number));
                          auto encoded = encoder->Encode(schema.fields[0], pixels.data(), 192);
                          EXPECT_TRUE(encoded.ok()) << encoded.status().ToString();
                          if (number % 3 == 0) {
                            encoded->bytes.insert(2, "\xFF\xFE\x9C\x42" + std::string(40000, 'c'));
                            *encoded = MakeEncodedField(encoded->bytes, {});
                          }
                          EncodedRecord record;
                          record.fields.push_back(std::move(*encoded));
                          SetTestKey(std::to_string(number), &record);
                          return record;
                        });
}

TEST(BatchLoader, ManySmallRowsAreWhatTheShardsReadOneByOneHoweverManyBytesAreStored) {
  constexpr uint64_t kPictures = 400;
  const auto dataset = Dataset::Open(WriteCommentedPictures(kPictures), "train");
  ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
  const Dataset::Split& split = **(*dataset)->split("train");
  BatchLoaderOptions options = Options(kPictures);
  options.fields = {{"image"}};
  auto loader = OpenLoader(*dataset, options);
  const auto batch = loader->Next();
  ASSERT_TRUE(batch.ok() && batch->has_value()) << batch.status().ToString();
  ReadScratch scratch;
  std::vector<uint8_t> expected(192);
  for (uint64_t row = 0; row < kPictures; ++row) {
    const auto [shard, record] = split.Locate((**batch).records()[row]);
    ASSERT_TRUE(shard->Read(record, 0, expected.data(), 192, &scratch).ok());
    const uint8_t* image = (**batch).field(0).data + 192 * row;
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), image)) << "row " << row;
  }
}

TEST(BatchLoader, ABatchMayOutliveItsLoader) {
  const auto dataset = OpenTestDataset("outliving", TestDatasetOptions());
  auto loader = OpenLoader(dataset, Options(10));
  auto first = loader->Next();
  auto second = loader->Next();
  ASSERT_TRUE(first.ok() && second.ok());
  const SeenBatch seen = Copy(**second);
  loader = nullptr;
  **first = Batch();
  EXPECT_EQ(Copy(**second), seen);
}

TEST(BatchLoader, LoadersOfOneDataSetDoNotDisturbEachOther) {
  const auto dataset = OpenTestDataset("two-loaders", TestDatasetOptions());
  BatchLoaderOptions options = Options(10);
  options.threads = 2;
  const auto expected = ReadAll(dataset, options);
  const auto a = OpenLoader(dataset, options);
  const auto b = OpenLoader(dataset, options);
  for (const SeenBatch& seen : expected) {
    for (BatchLoader* loader : {a.get(), b.get()}) {
      const auto batch = loader->Next();
      ASSERT_TRUE(batch.ok() && batch->has_value());
      EXPECT_EQ(Copy(**batch), seen);
    }
  }
}

TEST(BatchLoader, NoDataSetIsInvalidArgument) {
  EXPECT_EQ(BatchLoader::Open(nullptr, Options(10)).status().code(), StatusCode::kInvalidArgument);
}

TEST(BatchLoader, CancelEndsTheStream) {
  const auto dataset = OpenTestDataset("cancel", TestDatasetOptions());
  auto loader = OpenLoader(dataset, Options(2));
  ASSERT_TRUE(loader->Next().ok());
  std::thread canceller([&] { loader->Cancel(); });
  canceller.join();
  EXPECT_EQ(loader->Next().status().code(), StatusCode::kCancelled);
  EXPECT_EQ(loader->Next().status().code(), StatusCode::kCancelled);
}

TEST(BatchLoader, SlotsComeFromTheGivenAllocatorAndGoBack) {
  const auto dataset = OpenTestDataset("allocator", TestDatasetOptions());
  std::mutex mutex;
  std::map<void*, uint64_t> buffers;
  int allocations = 0;
  BatchLoaderOptions options = Options(10);
  options.slots = 4;
  options.allocate = [&](uint64_t bytes) {
    void* buffer = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    std::lock_guard<std::mutex> lock(mutex);
    buffers[buffer] = bytes;
    ++allocations;
    return buffer;
  };
  options.release = [&](void* buffer, uint64_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    EXPECT_EQ(buffers.at(buffer), bytes);
    buffers.erase(buffer);
    std::free(buffer);
  };
  {
    auto loader = OpenLoader(dataset, options);
    auto batch = loader->Next();
    ASSERT_TRUE(batch.ok() && batch->has_value());
    const uint8_t* data = (**batch).field("label").data;
    bool inside = false;
    for (const auto& [buffer, bytes] : buffers) {
      const auto* begin = static_cast<const uint8_t*>(buffer);
      inside |= data >= begin && data < begin + bytes;
    }
    EXPECT_TRUE(inside);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
  }
  EXPECT_EQ(allocations, 4);
  EXPECT_TRUE(buffers.empty());
}

TEST(BatchLoader, AllocatorThatFailsOrMisalignsIsAnError) {
  const auto dataset = OpenTestDataset("bad-allocator", TestDatasetOptions());
  BatchLoaderOptions options = Options(10);
  options.allocate = [](uint64_t) -> void* { return nullptr; };
  options.release = [](void*, uint64_t) { FAIL() << "there is nothing to release"; };
  EXPECT_EQ(BatchLoader::Open(dataset, options).status().code(), StatusCode::kIo);
  options.allocate = [](uint64_t bytes) -> void* {
    return static_cast<char*>(std::malloc(bytes + 64)) + 8;
  };
  options.release = [](void* buffer, uint64_t) { std::free(static_cast<char*>(buffer) - 8); };
  auto loader = BatchLoader::Open(dataset, options);
  // malloc gives multiples of 16, so 8 more is never aligned.
  EXPECT_EQ(loader.status().code(), StatusCode::kInvalidArgument);
}

TEST(BatchLoader, DamagedRecordIsDataLossAtItsBatchAndSticks) {
  TestDatasetOptions test_options;
  const std::string folder = WriteTestDataset("damaged", test_options);
  DamageTestImage(folder + "/train-00001-of-00003.shard", 40, test_options);
  auto dataset = Dataset::Open(folder, "train");
  ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
  for (int threads : {1, 2, 4}) {
    BatchLoaderOptions options = Options(5);
    options.threads = threads;
    options.order = Order::kStored;
    auto loader = OpenLoader(*dataset, options);
    for (uint64_t step = 0; step < 8; ++step) {
      auto batch = loader->Next();
      ASSERT_TRUE(batch.ok()) << batch.status().ToString();
      EXPECT_EQ((**batch).step(), step);
    }
    for (int again = 0; again < 2; ++again) {
      const Status status = loader->Next().status();
      EXPECT_EQ(status.code(), StatusCode::kDataLoss);
      for (const char* part : {"train-00001-of-00003.shard", "record 6", "image"}) {
        EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
      }
    }
  }
}

TEST(BatchLoader, ShardReplacedMeanwhileIsAnErrorAtTheNextEpoch) {
  const std::string folder = WriteTestDataset("replaced", TestDatasetOptions());
  auto dataset = Dataset::Open(folder, "train");
  ASSERT_TRUE(dataset.ok());
  BatchLoaderOptions options = Options(50);
  options.epochs = 2;
  options.slots = 1;  // nothing of the next epoch is begun before the last batch goes back
  auto loader = OpenLoader(*dataset, options);
  ASSERT_TRUE(loader->Next().ok());
  {
    auto last = loader->Next();
    ASSERT_TRUE(last.ok() && last->has_value());
    const std::string shard = folder + "/train-00002-of-00003.shard";
    std::filesystem::copy_file(shard, shard + ".copy");
    std::filesystem::rename(shard + ".copy", shard);
  }
  const Status status = loader->Next().status();
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_NE(status.message().find("train-00002-of-00003.shard"), std::string::npos)
      << status.message();
}

// Two epochs of stored order over "train", with `change` between them; the status of the second.
Status SecondEpochAfter(const std::string& folder, const std::string& shard,
                        const std::function<void()>& change) {
  // An earlier time, since two writes in one tick of the file system's clock look alike.
  const auto written = std::filesystem::last_write_time(shard) - std::chrono::hours(1);
  std::filesystem::last_write_time(shard, written);
  auto dataset = Dataset::Open(folder, "train");
  if (!dataset.ok()) return dataset.status();
  BatchLoaderOptions options = Options(50);
  options.epochs = 2;
  options.order = Order::kStored;
  options.slots = 1;  // nothing of the next epoch is begun before the last batch goes back
  auto loader = OpenLoader(*dataset, options);
  RETURN_IF_ERROR(loader->Next().status());
  {
    auto last = loader->Next();
    RETURN_IF_ERROR(last.status());
    change();
  }
  for (int step = 0; step < 2; ++step) RETURN_IF_ERROR(loader->Next().status());
  return OkStatus();
}

TEST(BatchLoader, ShardRewrittenInPlaceIsCheckedAgainAtTheNextEpoch) {
  TestDatasetOptions test_options;
  const std::string folder = WriteTestDataset("rewritten", test_options);
  const std::string shard = folder + "/train-00001-of-00003.shard";
  const Status status =
      SecondEpochAfter(folder, shard, [&] { DamageTestImage(shard, 40, test_options); });
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("train-00001-of-00003.shard: block 0: record 6"),
            std::string::npos)
      << status.message();
}

TEST(BatchLoader, TouchedShardDoesNotStopTheRun) {
  const std::string folder = WriteTestDataset("touched", TestDatasetOptions());
  const std::string shard = folder + "/train-00001-of-00003.shard";
  const Status status = SecondEpochAfter(folder, shard, [&] {
    std::filesystem::last_write_time(shard, std::filesystem::file_time_type::clock::now());
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST(BatchLoader, LabelThatIsNoClassIsDataLossThatNamesIt) {
  for (Codec codec : {Codec::kRaw, Codec::kZstd}) {
    for (Delivery delivery : {Delivery::kIndex, Delivery::kOneHotU8, Delivery::kOneHotF32}) {
      TestDatasetOptions test_options;
      test_options.records = 20;
      test_options.label_codec = codec;
      test_options.bad_label_record = 12;
      const auto dataset = OpenTestDataset("bad-label", test_options);
      BatchLoaderOptions options = Options(10);
      options.order = Order::kStored;
      options.fields = {{"label", delivery}};
      auto loader = OpenLoader(dataset, options);
      EXPECT_TRUE(loader->Next().ok());
      const Status status = loader->Next().status();
      EXPECT_EQ(status.code(), StatusCode::kDataLoss);
      for (const char* part :
           {"train-00001-of-00003.shard", "record 5", "label", "class id 200 at pixel 0"}) {
        EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
      }
    }
  }
}

TEST(BatchLoader, TimesCountBatchesRecordsAndWork) {
  const auto dataset = OpenTestDataset("times", TestDatasetOptions());
  BatchLoaderOptions options = Options(8);
  options.fields = {{"image"}, {"label", Delivery::kOneHotF32}};
  auto loader = OpenLoader(dataset, options);
  EXPECT_EQ(ReadAll(loader.get()).size(), 12u);
  const LoaderTimes times = loader->times();
  EXPECT_EQ(times.batches, 12u);
  EXPECT_EQ(times.records, 96u);
  EXPECT_GT(times.copy_ns, 0u);
  EXPECT_GT(times.checksum_ns, 0u);
  EXPECT_GT(times.decode_ns, 0u);
  EXPECT_GT(times.expand_ns, 0u);
  EXPECT_GT(times.plan_ns, 0u);
}

TEST(BatchLoader, StagesThatDoNotHappenTakeNoTime) {
  TestDatasetOptions test_options;
  test_options.label_codec = Codec::kRaw;
  const auto dataset = OpenTestDataset("raw-times", test_options, ChecksumPolicy::kOff);
  BatchLoaderOptions options = Options(8);
  options.read_ahead = ReadAhead::kNever;
  auto loader = OpenLoader(dataset, options);
  EXPECT_EQ(ReadAll(loader.get()).size(), 12u);
  const LoaderTimes times = loader->times();
  EXPECT_GT(times.copy_ns, 0u);
  EXPECT_EQ(times.disk_ns, 0u);
  EXPECT_EQ(times.checksum_ns, 0u);
  EXPECT_EQ(times.decode_ns, 0u);
  EXPECT_EQ(times.expand_ns, 0u);
}

}  // namespace
}  // namespace shardmill
