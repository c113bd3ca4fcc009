#include "reader/tf_record.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <vector>

namespace shardmill {
namespace {

constexpr uint64_t kMaxBytes = 1000;

// The payloads that can be read, and the status behind them.
Status ReadAll(const std::string& bytes, std::vector<std::string>* payloads) {
  const std::string path = testing::TempDir() + "/tf_record";
  std::ofstream(path, std::ios::binary) << bytes;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  for (;;) {
    const auto record = ReadTfRecord(file.get(), path, kMaxBytes);
    if (!record.ok()) return record.status();
    if (!record->has_value()) return OkStatus();
    payloads->push_back(**record);
  }
}

// The check value of CRC-32C in RFC 3720, and the zeros of its appendix B.4.
TEST(TfRecord, ChecksumIsCrc32c) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(MaskedCrc32c(""), 0xA282EAD8u);
}

TEST(TfRecord, RecordsOfAnyLengthComeBack) {
  const std::vector<std::string> payloads = {"", "a", std::string(kMaxBytes, 'x'), "b"};
  std::string bytes;
  for (const std::string& payload : payloads) bytes += FrameTfRecord(payload);
  EXPECT_EQ(bytes.size(), 4 * 16 + kMaxBytes + 2);
  std::vector<std::string> found;
  EXPECT_TRUE(ReadAll(bytes, &found).ok());
  EXPECT_EQ(found, payloads);
}

TEST(TfRecord, EveryFlippedByteAndEveryCutIsDataLoss) {
  const std::string bytes = FrameTfRecord("first") + FrameTfRecord("second");
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    std::vector<std::string> found;
    EXPECT_EQ(ReadAll(damaged, &found).code(), StatusCode::kDataLoss) << at;
    EXPECT_EQ(found.size(), at < 21 ? 0u : 1u) << at;
    found.clear();
    const Status status = ReadAll(bytes.substr(0, at), &found);
    const bool at_an_end = at == 0 || at == 21;
    EXPECT_EQ(status.code(), at_an_end ? StatusCode::kOk : StatusCode::kDataLoss) << at;
  }
}

TEST(TfRecord, ARecordLongerThanTheLimitIsDataLoss) {
  std::vector<std::string> found;
  const Status status = ReadAll(FrameTfRecord(std::string(kMaxBytes + 1, 'x')), &found);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("too long"), std::string::npos);
}

}  // namespace
}  // namespace shardmill
