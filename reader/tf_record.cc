#include "reader/tf_record.h"

#include <isa-l/crc.h>

#include <algorithm>

#include "reader/base/little_endian.h"

namespace shardmill {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kHeadBytes = kLengthBytes + 4;
constexpr uint64_t kFootBytes = 4;
// ISA-L takes the length as an int.
constexpr size_t kLargestPart = size_t{1} << 30;

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFF;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kLargestPart);
    // The library does not write to what it is given.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(part.data()));
    crc = crc32_iscsi(data, static_cast<int>(part.size()), crc);
    bytes.remove_prefix(part.size());
  }
  return ~crc;
}

uint32_t MaskedCrc32c(std::string_view bytes) {
  const uint32_t crc = Crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8;
}

std::string FrameTfRecord(std::string_view payload) {
  std::string record(kHeadBytes + payload.size() + kFootBytes, '\0');
  auto* bytes = reinterpret_cast<uint8_t*>(record.data());
  StoreU64(payload.size(), bytes);
  StoreU32(MaskedCrc32c({record.data(), kLengthBytes}), bytes + kLengthBytes);
  std::copy(payload.begin(), payload.end(), record.begin() + kHeadBytes);
  StoreU32(MaskedCrc32c(payload), bytes + kHeadBytes + payload.size());
  return record;
}

Result<std::optional<std::string>> ReadTfRecord(FILE* file, const std::string& path,
                                                uint64_t max_bytes) {
  const auto damaged = [&](const char* what) {
    return DataLossError(path + ": a TFRecord is " + what);
  };
  char head[kHeadBytes];
  const size_t read = std::fread(head, 1, kHeadBytes, file);
  if (read == 0 && std::ferror(file) == 0) return std::optional<std::string>();
  if (read < kHeadBytes) return damaged("cut");
  const auto* numbers = reinterpret_cast<const uint8_t*>(head);
  const uint64_t length = LoadU64(numbers);
  if (LoadU32(numbers + kLengthBytes) != MaskedCrc32c({head, kLengthBytes})) {
    return damaged("damaged in its length");
  }
  if (length > max_bytes) return damaged("too long");
  std::string payload(length, '\0');
  char foot[kFootBytes];
  if (std::fread(payload.data(), 1, length, file) < length ||
      std::fread(foot, 1, kFootBytes, file) < kFootBytes) {
    return damaged("cut");
  }
  if (LoadU32(reinterpret_cast<const uint8_t*>(foot)) != MaskedCrc32c(payload)) {
    return damaged("damaged");
  }
  return std::optional<std::string>(std::move(payload));
}

}  // namespace shardmill
