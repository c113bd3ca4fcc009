// Sets of NumPy arrays, from files to batches.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/verify.h"
#include "tests/tools/pack/field_testing.h"
#include "tests/tools/pack/inputs/npy_builder.h"

namespace shardmill {
namespace {

// Sequence of `length` steps of three features.
std::vector<float> Sequence(uint32_t length, float start) {
  std::vector<float> values;
  for (uint32_t i = 0; i < 3 * length; ++i) values.push_back(start + 0.25f * static_cast<float>(i));
  return values;
}

Bytes BytesOf(const std::vector<float>& values) {
  Bytes bytes(4 * values.size());
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST_F(PackFieldsTest, ArraysOfSeveralLengthsInFoldersOfTheirClass) {
  for (uint32_t i = 0; i < 4; ++i) {
    source_.Write((i % 2 == 0 ? "train/walk/" : "train/run/") + std::to_string(i) + ".npy",
                  NpyFloats({i, 3}, Sequence(i, static_cast<float>(i))));
  }
  options_.image_codec = Codec::kZstd;
  ExpectPacked();
  EXPECT_NE(error_.find("1 array has a side of 0 and no numbers: train/walk/0.npy"),
            std::string::npos)
      << error_;
  EXPECT_NE(out_.find("records of 4 arrays of f32 [0 to 3 × 3], features f32 [? × 3] zstd"),
            std::string::npos)
      << out_;
  const auto records = ReadAll();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(Field(0).name, "features");
  EXPECT_EQ(Field(0).role, Role::kTensor);
  for (uint32_t i = 0; i < 4; ++i) {
    const bool walk = i % 2 == 0;
    const auto& record =
        records.at((walk ? "train/walk/" : "train/run/") + std::to_string(i) + ".npy");
    EXPECT_EQ(record[0].dims, std::vector<uint32_t>{i});
    EXPECT_EQ(record[0].tensor, BytesOf(Sequence(i, static_cast<float>(i))));
    EXPECT_EQ(record[1].tensor, Bytes{walk ? uint8_t{1} : uint8_t{0}});  // run is class 0
  }
  EXPECT_EQ(TrainStatistics().class_images(1), 2u);
  const PaddedBatch batch = LoadPadded("features");
  ASSERT_EQ(batch.shape, (std::vector<int64_t>{4, 3, 3}));
  for (const auto& [key, record] : records) {
    Bytes padded = record[0].tensor;
    padded.resize(3 * 3 * 4);
    const uint8_t* row = batch.data.data() + batch.keys.at(key) * padded.size();
    EXPECT_EQ(Bytes(row, row + padded.size()), padded) << key;
  }
  EXPECT_TRUE(Verify(output_.path(), {})->findings.empty());
}

TEST_F(PackFieldsTest, ArrayOfNoKnownTypeIsNamed) {
  source_.Write("train/a/0.npy", NpyFileOf(NpyDictionary("<c8", false, {2}), std::string(16, 0)));
  const Status status = Pack().status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("the first: train/a/0.npy: this .npy file holds values of type "
                                  "<c8"),
            std::string::npos)
      << status.message();
}

TEST_F(PackFieldsTest, ArraysOfOneShapeAreDense) {
  for (uint32_t i = 0; i < 3; ++i) {
    source_.Write("train/a/" + std::to_string(i) + ".npy", NpyFloats({2, 3}, Sequence(2, 1)));
  }
  ExpectPacked();
  ReadAll();
  EXPECT_TRUE(Field(0).IsDense());
  EXPECT_EQ(Field(0).shape, (std::vector<int64_t>{2, 3}));
}

TEST_F(PackFieldsTest, ArraysByListWithNamesAndNumbers) {
  source_.Write("data/a.npy", NpyFloats({1, 3}, Sequence(1, 0)));
  source_.Write("data/b, c.npy", NpyFloats({2, 3}, Sequence(2, 0)));
  source_.Write("data/unlisted.npy", NpyFloats({2, 3}, Sequence(2, 0)));
  source_.Write("train.csv", "file,label\r\ndata/a.npy,zebra\r\n\"data/b, c.npy\",ant\r\n");
  ExpectPacked();
  EXPECT_NE(error_.find("1 file left out (no list names it): data/unlisted.npy"), std::string::npos)
      << error_;
  auto records = ReadAll();
  EXPECT_EQ(records.at("data/a.npy")[1].tensor, Bytes{1});
  EXPECT_EQ(records.at("data/b, c.npy")[1].tensor, Bytes{0});

  source_.Write("train.csv", "data/a.npy,3\ndata/b, c.npy,0\n");
  ExpectError(StatusCode::kInvalidArgument, "train.csv line 2: 3 fields");
  source_.Write("train.csv", "data/a.npy,3\ndata/none.npy,0\n");
  ExpectError(StatusCode::kNotFound,
              "train.csv line 2 names data/none.npy, which does not exist in the source");
  source_.Write("train.csv", "/their/data/a.npy,3\ndata/unlisted.npy,0\n");
  options_.overwrite = true;
  ExpectPacked();
  records = ReadAll();
  EXPECT_EQ(dataset_->schema().classes.size(), 4u);
  EXPECT_EQ(records.at("data/a.npy")[1].tensor, Bytes{3});
}

TEST_F(PackFieldsTest, ArraysOfDifferentFormsAreListedOrLeftOut) {
  source_.Write("train/a/0.npy", NpyFloats({2, 3}, Sequence(2, 0)));
  source_.Write("train/a/1.npy", NpyFloats({1, 3}, Sequence(1, 0)));
  source_.Write("train/a/2.npy",
                NpyFileOf(NpyDictionary("<i4", false, {1, 3}), std::string(12, 1)));
  source_.Write("train/a/3.npy", "no array");
  ExpectError(StatusCode::kInvalidArgument, "1 array of i32 [1 × 3], for example train/a/2.npy");
  options_.on_error.skip = true;
  Result<int> code = Pack();
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  EXPECT_EQ(*code, 6);
  EXPECT_EQ(ReadAll().size(), 2u);
  EXPECT_NE(out_.find("train/a/2.npy: an array of i32 with 2 dimensions"), std::string::npos)
      << out_;
  EXPECT_NE(out_.find("train/a/3.npy: this is no .npy file"), std::string::npos) << out_;
}

// One file that is cut to nothing does not make the lengths of all others variable.
TEST_F(PackFieldsTest, EmptyArraysAreFaultsWhereTheOthersHaveAnotherForm) {
  source_.Write("train/a/0.npy", NpyFileOf(NpyDictionary("<f8", false, {0}), ""));
  source_.Write("train/a/1.npy", NpyFloats({2, 3}, Sequence(2, 0)));
  source_.Write("train/a/2.npy", NpyFloats({0, 3}, {}));
  ExpectError(StatusCode::kDataLoss, "train/a/0.npy: an array with a side of 0, which holds no");
  options_.on_error.skip = true;
  Result<int> code = Pack();
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  EXPECT_EQ(*code, 6);
  EXPECT_EQ(ReadAll().size(), 1u);
  EXPECT_EQ(Field(0).shape, (std::vector<int64_t>{2, 3}));
  EXPECT_NE(out_.find("train/a/2.npy: an array with a side of 0"), std::string::npos) << out_;
}

TEST_F(PackFieldsTest, SetOfNothingButEmptyArraysIsRefused) {
  source_.Write("train/a/0.npy", NpyFloats({0, 3}, {}));
  source_.Write("train/a/1.npy", NpyFileOf(NpyDictionary("<i4", false, {0}), ""));
  ExpectError(StatusCode::kDataLoss,
              "all arrays have a side of 0 and no numbers; the first: train/a/");
}

std::string NpyDoubles(const std::vector<uint32_t>& shape, const std::vector<double>& values) {
  std::string data(8 * values.size(), '\0');
  std::memcpy(data.data(), values.data(), data.size());
  return NpyFileOf(NpyDictionary("<f8", false, shape), data);
}

TEST_F(PackFieldsTest, NumbersThatAreNotFiniteAreKeptAndWarnedOf) {
  const float infinity = std::numeric_limits<float>::infinity();
  source_.Write("train/a/0.npy", NpyDoubles({2}, {-infinity, 1}));
  source_.Write("train/a/1.npy", NpyFloats({2}, {1, std::nanf("")}));
  source_.Write("train/a/2.npy", NpyFloats({2}, {1, std::numeric_limits<float>::max()}));
  ExpectPacked();
  EXPECT_NE(error_.find("2 arrays hold NaN or infinite numbers, which are kept; training on them "
                        "gives NaN; the first: train/a/"),
            std::string::npos)
      << error_;
  EXPECT_NE(out_.find("NaN or infinite numbers, kept, 2 "), std::string::npos) << out_;
  EXPECT_EQ(ReadAll().at("train/a/0.npy")[0].tensor, BytesOf({-infinity, 1}));
}

TEST_F(PackFieldsTest, DoublesThatWouldBecomeInfiniteAreRefused) {
  // Half a rounding step beyond the largest f32 is rounded to it; more is not.
  const double largest = std::numeric_limits<float>::max();
  source_.Write("train/a/0.npy", NpyDoubles({2, 2}, {1, largest * (1 + 1e-8), 0, 0}));
  ExpectPacked();
  EXPECT_EQ(ReadAll().at("train/a/0.npy")[0].tensor,
            BytesOf({1, std::numeric_limits<float>::max(), 0, 0}));
  source_.Write("train/a/1.npy", NpyDoubles({2, 2}, {1, 2, -1e300, 1e39}));
  options_.overwrite = true;
  ExpectError(StatusCode::kDataLoss,
              "train/a/1.npy: 2 of its 64-bit numbers are too large for 32 bits, the first: "
              "-1e+300 at [1, 0]");
}

TEST_F(PackFieldsTest, DoublesAreRoundedAndCounted) {
  const double values[2] = {0.1, -2.5};
  std::string data(16, '\0');
  std::memcpy(data.data(), values, 16);
  source_.Write("train/a/0.npy", NpyFileOf(NpyDictionary("<f8", false, {2}), data));
  ExpectPacked();
  EXPECT_NE(out_.find("64-bit to 32-bit numbers, 1 "), std::string::npos) << out_;
  EXPECT_EQ(ReadAll().at("train/a/0.npy")[0].tensor, BytesOf({0.1f, -2.5f}));
  options_.crop = ImageSize{2, 2};
  ExpectError(StatusCode::kInvalidArgument, "are for images");
  options_.crop.reset();
  options_.pad_value = 3;
  ExpectError(StatusCode::kInvalidArgument, "--image-type and --pad-value are for images");
  options_.pad_value = 0;
  options_.label_codec = Codec::kRaw;
  ExpectError(StatusCode::kInvalidArgument, "--label-codec is for label images; layout npy");
  options_.label_codec = Codec::kZstd;
  options_.layout.gray = GrayReading::kValue;
  ExpectError(StatusCode::kInvalidArgument, "--gray and --label-tolerance are for label images");
}

}  // namespace
}  // namespace shardmill
