#include "trainer/checkpoint/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "proto/checkpoint.pb.h"

namespace shardmill {
namespace {

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = testing::TempDir() + "/checkpoint_" + test;
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/last.ckpt";
    description_.mutable_config()->set_width(8);
    description_.mutable_config()->set_depth(4);
    description_.mutable_model()->set_name("unet");
    description_.mutable_model()->set_classes(6);
    description_.mutable_trained_on()->set_dataset_id("aa");
    description_.mutable_progress()->set_steps(123);
    description_.mutable_progress()->set_best_score(0.5);
    for (int i = 0; i < 37; ++i) parameters_.push_back(0.25f * i);
    parameters_[3] = std::numeric_limits<float>::quiet_NaN();
    moments_ = {1, 2, 3};
  }

  Status Write() {
    return WriteCheckpoint(path_, description_,
                           {{"parameters", parameters_.data(), 37},
                            {"moment0", moments_.data(), 3},
                            {"statistics", nullptr, 0}});
  }

  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void Replace(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }
  int FilesInFolder() const {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++count;
    return count;
  }

  std::string folder_, path_;
  proto::Checkpoint description_;
  std::vector<float> parameters_, moments_;
};

TEST_F(CheckpointTest, RoundTripKeepsEveryBit) {
  ASSERT_TRUE(Write().ok());
  const auto loaded = LoadedCheckpoint::Read(path_);
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_EQ(loaded->description().progress().steps(), 123u);
  EXPECT_EQ(loaded->description().config().width(), 8);
  std::vector<float> parameters(37);
  ASSERT_TRUE(loaded->CopyTensor("parameters", parameters.data(), 37).ok());
  EXPECT_EQ(std::memcmp(parameters.data(), parameters_.data(), 37 * sizeof(float)), 0);
  std::vector<float> moments(3);
  ASSERT_TRUE(loaded->CopyTensor("moment0", moments.data(), 3).ok());
  EXPECT_EQ(moments, moments_);
  EXPECT_TRUE(loaded->CopyTensor("statistics", nullptr, 0).ok());
  EXPECT_EQ(FilesInFolder(), 1);
}

TEST_F(CheckpointTest, SameContentGivesTheSameBytes) {
  ASSERT_TRUE(Write().ok());
  const std::string first = Bytes();
  ASSERT_TRUE(Write().ok());
  EXPECT_EQ(Bytes(), first);
}

TEST_F(CheckpointTest, EveryFlippedBitIsDataLoss) {
  ASSERT_TRUE(Write().ok());
  const std::string sound = Bytes();
  for (size_t i = 0; i < sound.size(); ++i) {
    std::string damaged = sound;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    Replace(damaged);
    const Status status = LoadedCheckpoint::Read(path_).status();
    ASSERT_EQ(status.code(), StatusCode::kDataLoss) << "byte " << i << ": " << status.ToString();
    ASSERT_NE(status.message().find(path_), std::string::npos);
  }
}

TEST_F(CheckpointTest, EveryCutAndAnyGrowthIsDataLoss) {
  ASSERT_TRUE(Write().ok());
  const std::string sound = Bytes();
  for (size_t size = 0; size < sound.size(); ++size) {
    Replace(sound.substr(0, size));
    ASSERT_EQ(LoadedCheckpoint::Read(path_).status().code(), StatusCode::kDataLoss) << size;
  }
  Replace(sound + '\0');
  EXPECT_EQ(LoadedCheckpoint::Read(path_).status().code(), StatusCode::kDataLoss);
}

TEST_F(CheckpointTest, ForeignFileIsDataLossAndMissingFileIsNotFound) {
  Replace(std::string(5000, 'x'));
  EXPECT_EQ(LoadedCheckpoint::Read(path_).status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(LoadedCheckpoint::Read(path_ + "x").status().code(), StatusCode::kNotFound);
}

TEST_F(CheckpointTest, WrongBufferSizeOrNameIsDataLoss) {
  ASSERT_TRUE(Write().ok());
  const auto loaded = LoadedCheckpoint::Read(path_);
  std::vector<float> parameters(38);
  EXPECT_EQ(loaded->CopyTensor("parameters", parameters.data(), 38).code(), StatusCode::kDataLoss);
  EXPECT_EQ(loaded->CopyTensor("moment1", parameters.data(), 37).code(), StatusCode::kDataLoss);
}

TEST_F(CheckpointTest, FailedWriteKeepsTheOldFile) {
  ASSERT_TRUE(Write().ok());
  const std::string before = Bytes();
  description_.mutable_progress()->set_steps(124);
  const std::string path = path_;
  path_ = folder_ + "/missing/last.ckpt";
  EXPECT_FALSE(Write().ok());
  path_ = path;
  EXPECT_EQ(Bytes(), before);
  EXPECT_EQ(FilesInFolder(), 1);
}

TEST_F(CheckpointTest, ResumeNeedsTheSameDataSetAndModelAndSaysWhichDiffers) {
  EXPECT_TRUE(CheckResumable(description_, description_).ok());
  proto::Checkpoint now = description_;
  now.mutable_trained_on()->set_dataset_id("bb");
  Status status = CheckResumable(description_, now);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("data set aa"), std::string::npos) << status.message();
  now = description_;
  now.mutable_model()->add_parameters()->set_name("extra");
  now.mutable_config()->set_width(16);
  status = CheckResumable(description_, now);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("width 16"), std::string::npos) << status.message();
  now = description_;
  now.mutable_environment()->set_epoch_order_version(2);
  EXPECT_EQ(CheckResumable(description_, now).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
