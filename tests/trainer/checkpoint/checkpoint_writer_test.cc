#include "trainer/checkpoint/checkpoint_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "proto/checkpoint.pb.h"

namespace shardmill {
namespace {

class CheckpointWriterTest : public testing::Test {
 protected:
  CheckpointWriterTest() : folder_(testing::TempDir() + "/checkpoint_writer") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  Status Start(CheckpointWriter* writer, float value, CheckpointWriter::Aftermath aftermath = {}) {
    values_.assign(1000, value);
    return writer->Start(Path("last.ckpt"), {}, {{"parameters", values_.data(), 1000}},
                         std::move(aftermath));
  }
  float ValueIn(const std::string& name) const {
    const auto checkpoint = LoadedCheckpoint::Read(Path(name));
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().ToString();
    std::vector<float> values(1000);
    EXPECT_TRUE(checkpoint->CopyTensor("parameters", values.data(), 1000).ok());
    return values[999];
  }

  std::string folder_;
  std::vector<float> values_;
};

TEST_F(CheckpointWriterTest, WritesWhatTheBuffersHeldAtTheStart) {
  CheckpointWriter writer;
  ASSERT_TRUE(Start(&writer, 1).ok());
  values_.assign(1000, 2);  // training goes on
  ASSERT_TRUE(writer.Wait().ok());
  EXPECT_EQ(ValueIn("last.ckpt"), 1);
}

TEST_F(CheckpointWriterTest, OtherNamesKeepTheContentWhenTheFileIsReplaced) {
  CheckpointWriter writer;
  ASSERT_TRUE(Start(&writer, 1, {"", {Path("best.ckpt"), Path("epoch-1.ckpt")}}).ok());
  ASSERT_TRUE(Start(&writer, 2, {Path("epoch-1.ckpt"), {Path("epoch-2.ckpt")}}).ok());
  ASSERT_TRUE(Start(&writer, 3, {"", {Path("best.ckpt")}}).ok());
  ASSERT_TRUE(Start(&writer, 4).ok());
  ASSERT_TRUE(writer.Wait().ok());
  EXPECT_EQ(ValueIn("last.ckpt"), 4);
  EXPECT_EQ(ValueIn("best.ckpt"), 3);
  EXPECT_EQ(ValueIn("epoch-2.ckpt"), 2);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    files += entry.is_regular_file();
  }
  EXPECT_EQ(files, 3);
}

TEST_F(CheckpointWriterTest, FirstErrorStaysAndNothingMoreIsWritten) {
  CheckpointWriter writer;
  ASSERT_TRUE(
      writer.Start(Path("no/such/folder.ckpt"), {}, {}, {}).ok());  // only the thread finds it
  EXPECT_FALSE(writer.Wait().ok());
  EXPECT_FALSE(Start(&writer, 1).ok());
  EXPECT_FALSE(std::filesystem::exists(Path("last.ckpt")));
}

}  // namespace
}  // namespace shardmill
