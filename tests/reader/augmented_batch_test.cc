// Flips and crops on the fly, through the loader.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "reader/augment.h"
#include "reader/batch_loader.h"
#include "reader/keyed_permutation.h"
#include "tests/reader/loader_testing.h"
#include "tests/reader/ragged_dataset.h"

namespace shardmill {
namespace {

BatchLoaderOptions Options() {
  BatchLoaderOptions options;
  options.split = "train";
  options.global_batch = 7;
  options.seed = 4;
  options.fields = {{"image"}, {"label", Delivery::kIndex}, {"number"}};
  options.augment.crop_height = 6;
  options.augment.crop_width = 8;
  options.augment.horizontal_flip = 0.5;
  options.augment.vertical_flip = 0.5;
  options.augment.border = 1;
  options.augment.pad_value = 77;
  return options;
}

// Every pixel of a row against the source, by the window that the position asks for.
void ExpectRow(const SeenBatch& batch, size_t row, const BatchLoaderOptions& options,
               const RaggedOptions& ragged) {
  const uint64_t record = batch.records[row];
  const int64_t height = RaggedHeight(record, ragged);
  const int64_t width = RaggedWidth(record, ragged);
  const OrderKey key = MakeOrderKey(options.seed, batch.epoch, "train", "augment");
  const PixelWindow window =
      WindowOf(options.augment, key, batch.step * options.global_batch + row, height, width);
  const auto image = RaggedImage(record, ragged);
  const auto label = RaggedLabel(record, ragged);
  size_t at = row * 6 * 8;
  for (int64_t i = 0; i < 6; ++i) {
    for (int64_t j = 0; j < 8; ++j, ++at) {
      const int64_t y = window.y + (window.flip_vertical ? 5 - i : i);
      const int64_t x = window.x + (window.flip_horizontal ? 7 - j : j);
      const bool inside = y >= 0 && y < height && x >= 0 && x < width;
      const auto pixel = static_cast<size_t>(inside ? y * width + x : 0);
      ASSERT_EQ(static_cast<uint8_t>(batch.fields[1][at]), inside ? label[pixel] : 255);
      for (size_t c = 0; c < 3; ++c) {
        const int expected = inside ? image[pixel * 3 + c] : 77;
        const int tolerance = ragged.image_codec == Codec::kJpeg && inside ? 12 : 0;
        ASSERT_NEAR(static_cast<uint8_t>(batch.fields[0][at * 3 + c]), expected, tolerance);
      }
    }
  }
}

TEST(AugmentedBatch, ImageAndLabelGoThroughOneTransform) {
  for (bool is_fixed : {true, false}) {
    for (Codec codec : {Codec::kRaw, Codec::kZstd, Codec::kJpeg}) {
      RaggedOptions ragged;
      ragged.image_codec = codec;
      ragged.image_is_fixed = is_fixed;
      const auto dataset = OpenRagged("augmented", ragged);
      BatchLoaderOptions options = Options();
      options.epochs = 2;
      const auto batches = ReadAll(dataset, options);
      ASSERT_EQ(batches.size(), 16u);
      for (const SeenBatch& batch : batches) {
        for (size_t row = 0; row < 7; ++row) ExpectRow(batch, row, options, ragged);
      }
    }
  }
}

// Everything at once.
BatchLoaderOptions ScaledAndColored() {
  BatchLoaderOptions options = Options();
  options.augment.scale_least = 0.5;
  options.augment.scale_most = 2;
  options.augment.brightness = 0.2;
  options.augment.contrast = 0.3;
  options.augment.saturation = 0.4;
  options.augment.hue = 30;
  return options;
}

TEST(AugmentedBatch, ScaledLabelsAreNearestPixelsAndPaddingIsIgnoredUnderAnyColours) {
  RaggedOptions ragged;
  const auto dataset = OpenRagged("augmented-scales", ragged);
  const BatchLoaderOptions options = ScaledAndColored();
  int scaled_pixels = 0, padding = 0;
  for (const SeenBatch& batch : ReadAll(dataset, options)) {
    const OrderKey key = MakeOrderKey(options.seed, batch.epoch, "train", "augment");
    for (size_t row = 0; row < 7; ++row) {
      const uint64_t record = batch.records[row];
      const int64_t height = RaggedHeight(record, ragged);
      const int64_t width = RaggedWidth(record, ragged);
      const PixelWindow window =
          WindowOf(options.augment, key, batch.step * options.global_batch + row, height, width);
      const auto label = RaggedLabel(record, ragged);
      for (int64_t i = 0; i < 48; ++i) {
        const int64_t y = window.y + (window.flip_vertical ? 5 - i / 8 : i / 8);
        const int64_t x = window.x + (window.flip_horizontal ? 7 - i % 8 : i % 8);
        const bool inside = y >= 0 && y < window.scaled_height && x >= 0 && x < window.scaled_width;
        const int64_t from = (2 * y + 1) * height / (2 * window.scaled_height) * width +
                             (2 * x + 1) * width / (2 * window.scaled_width);
        const size_t at = row * 48 + static_cast<size_t>(i);
        ASSERT_EQ(static_cast<uint8_t>(batch.fields[1][at]),
                  inside ? label[static_cast<size_t>(from)] : 255);
        scaled_pixels += inside && window.scaled_height != height;
        padding += !inside;
        if (inside) continue;
        ASSERT_EQ(batch.fields[0].substr(at * 3, 3), "MMM");  // 77
      }
    }
  }
  EXPECT_GT(scaled_pixels, 1000);
  EXPECT_GT(padding, 100);
}

TEST(AugmentedBatch, ColoursAloneChangeImagesAndLeaveLabelsAsTheyAre) {
  RaggedOptions ragged;
  ragged.image_is_fixed = true;
  const auto dataset = OpenRagged("augmented-colours", ragged);
  BatchLoaderOptions options = Options();
  options.fields = {{"image"}};
  options.augment = {};
  const auto plain = ReadAll(dataset, options);
  options.augment.brightness = 0.1;
  const auto changed = ReadAll(dataset, options);
  ASSERT_EQ(changed.size(), plain.size());
  const OrderKey key = MakeOrderKey(options.seed, 0, "train", "augment");
  for (size_t step = 0; step < plain.size(); ++step) {
    const std::string& before = plain[step].fields[0];
    const std::string& after = changed[step].fields[0];
    const size_t row_bytes = before.size() / 7;
    for (size_t i = 0; i < before.size(); ++i) {
      const ColorChange change = ColorsOf(options.augment, key, step * 7 + i / row_bytes);
      const double expected =
          static_cast<uint8_t>(before[i]) + 255 * change.brightness_permille / 1000.0;
      ASSERT_NEAR(static_cast<uint8_t>(after[i]), std::clamp(expected, 0.0, 255.0), 0.51);
    }
  }
}

TEST(AugmentedBatch, RanksThreadsAndResumingChangeNothing) {
  const auto dataset = OpenRagged("augmented-ranks", RaggedOptions());
  BatchLoaderOptions options = ScaledAndColored();
  options.epochs = 2;
  const auto expected = ReadAll(dataset, options);
  options.threads = 3;
  ASSERT_EQ(ReadAll(dataset, options), expected);
  options.first_step = 3;
  ASSERT_EQ(ReadAll(dataset, options),
            std::vector<SeenBatch>(expected.begin() + 3, expected.end()));
  options.first_step = 0;
  options.ranks = 3;
  std::vector<std::string> images(expected.size());
  for (options.rank = 0; options.rank < 3; ++options.rank) {
    const auto batches = ReadAll(dataset, options);
    for (size_t step = 0; step < batches.size(); ++step) images[step] += batches[step].fields[0];
  }
  for (size_t step = 0; step < expected.size(); ++step) {
    ASSERT_EQ(images[step], expected[step].fields[0]);
  }
  options = ScaledAndColored();
  options.seed = 5;
  EXPECT_NE(ReadAll(dataset, options)[0].fields[0], expected[0].fields[0]);
}

TEST(AugmentedBatch, FlipsAloneKeepTheShapeAlsoUnderPadding) {
  RaggedOptions ragged;
  const auto dataset = OpenRagged("augmented-flips", ragged);
  BatchLoaderOptions options = Options();
  options.augment = {};
  options.augment.horizontal_flip = 1;
  options.fields = {{"image", Delivery::kStored, Padding()}};
  auto loader = OpenLoader(dataset, options);
  auto next = loader->Next();
  ASSERT_TRUE(next.ok() && next->has_value()) << next.status().ToString();
  const FieldView& view = (**next).field("image");
  for (size_t row = 0; row < 7; ++row) {
    const uint64_t record = (**next).records()[row];
    const int64_t width = RaggedWidth(record, ragged);
    const auto image = RaggedImage(record, ragged);
    const uint8_t* out = view.data + static_cast<int64_t>(row) * view.shape[1] * view.shape[2] * 3;
    for (int64_t y = 0; y < view.shape[1]; ++y) {
      for (int64_t x = 0; x < view.shape[2] * 3; ++x) {
        const bool inside = y < RaggedHeight(record, ragged) && x < width * 3;
        const int64_t from = (y * width + width - 1 - x / 3) * 3 + x % 3;
        ASSERT_EQ(out[y * view.shape[2] * 3 + x], inside ? image[static_cast<size_t>(from)] : 0);
      }
    }
  }
}

TEST(AugmentedBatch, CroppedImagesAreNormalisedAndLabelsExpanded) {
  RaggedOptions ragged;
  const auto dataset = OpenRagged("augmented-delivery", ragged);
  BatchLoaderOptions options = Options();
  const auto stored = ReadAll(dataset, options);
  options.fields = {{"image", Delivery::kNormalizedNchw}, {"label", Delivery::kOneHotF32}};
  options.fields[0].mean = {1, 2, 3};
  options.fields[0].deviation = {2, 2, 2};
  const auto delivered = ReadAll(dataset, options);
  ASSERT_EQ(delivered.size(), stored.size());
  for (size_t step = 0; step < stored.size(); ++step) {
    for (size_t pixel = 0; pixel < 7 * 48; ++pixel) {
      for (size_t c = 0; c < 3; ++c) {
        float value;
        const size_t at = (pixel / 48 * 3 + c) * 48 + pixel % 48;
        std::memcpy(&value, delivered[step].fields[0].data() + at * 4, 4);
        const auto byte = static_cast<uint8_t>(stored[step].fields[0][pixel * 3 + c]);
        ASSERT_EQ(value, (static_cast<float>(byte) - static_cast<float>(c + 1)) * 0.5f);
      }
      for (size_t k = 0; k < 4; ++k) {
        float value;
        std::memcpy(&value, delivered[step].fields[1].data() + (pixel * 4 + k) * 4, 4);
        ASSERT_EQ(value, static_cast<uint8_t>(stored[step].fields[1][pixel]) == k ? 1.0f : 0.0f);
      }
    }
  }
}

TEST(AugmentedBatch, WhatNoTransformFitsIsAnErrorThatSaysSo) {
  RaggedOptions ragged;
  ragged.mismatched_record = 17;
  BatchLoaderOptions options = Options();
  options.order = Order::kStored;
  options.global_batch = 30;
  auto loader = OpenLoader(OpenRagged("augmented-mismatch", ragged), options);
  const Status status = loader->Next().status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  for (const char* part : {"train-0000", "'label'", "'image'", "no crop or flip fits both"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
  ragged = {};
  ragged.ignore = std::nullopt;
  const auto without_ignore = OpenRagged("augmented-no-ignore", ragged);
  loader = OpenLoader(without_ignore, options);
  EXPECT_NE(loader->Next().status().message().find("no ignore value"), std::string::npos);
  ragged.image_is_fixed = true;
  auto refused = BatchLoader::Open(OpenRagged("augmented-fixed", ragged), options);
  EXPECT_NE(refused.status().message().find("no ignore value"), std::string::npos);
  ragged.label_is_bits = true;
  const auto one_hot = OpenRagged("augmented-one-hot", ragged);
  options.fields = {{"image"}, {"label", Delivery::kIndex}};
  refused = BatchLoader::Open(one_hot, options);
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("no ignore value"), std::string::npos);
  options.fields = {{"image"}, {"label", Delivery::kOneHotU8}};
  EXPECT_TRUE(BatchLoader::Open(one_hot, options).ok());
  options.fields = {{"number"}};
  refused = BatchLoader::Open(without_ignore, options);
  EXPECT_NE(refused.status().message().find("none of the fields"), std::string::npos);
}

TEST(AugmentedBatch, JpegImagesArriveDecodedWithoutAnyTransformToo) {
  RaggedOptions ragged;
  ragged.image_codec = Codec::kJpeg;
  ragged.image_is_fixed = true;
  const auto dataset = OpenRagged("jpeg", ragged);
  BatchLoaderOptions options = Options();
  options.augment = {};
  options.threads = 2;
  for (const SeenBatch& batch : ReadAll(dataset, options)) {
    for (size_t row = 0; row < 7; ++row) {
      const auto image = RaggedImage(batch.records[row], ragged);
      for (size_t i = 0; i < image.size(); ++i) {
        ASSERT_NEAR(static_cast<uint8_t>(batch.fields[0][row * image.size() + i]), image[i], 12);
      }
    }
  }
}

}  // namespace
}  // namespace shardmill
