#include "tools/pack/decode/png_inflate.h"

#include <isa-l/igzip_lib.h>

#include <cstring>

namespace shardmill {
namespace {

constexpr uint64_t kWrapperBytes = 6;  // 2 before the deflate stream, 4 behind it
constexpr uint64_t kMaxPacked = 0xffff0000;
constexpr uint64_t kMaxRatio = 1032;  // deflate's best: 258 bytes from 2 bits
constexpr int kDeflateMethod = 8;
constexpr int kMaxWindow = 7;
constexpr int kDictionaryFlag = 0x20;

Status CheckZlibHeader(std::string_view stream) {
  const int method = static_cast<uint8_t>(stream[0]);
  const int flags = static_cast<uint8_t>(stream[1]);
  if ((method & 15) != kDeflateMethod || method >> 4 > kMaxWindow ||
      (method << 8 | flags) % 31 != 0 || (flags & kDictionaryFlag) != 0) {
    return DataLossError("the pixel data of the PNG does not start as a zlib stream");
  }
  return OkStatus();
}

Status CheckZlibTrailer(std::string_view trailer, const uint8_t* unpacked, uint64_t bytes) {
  uint32_t stored = 0;
  for (const char byte : trailer) stored = stored << 8 | static_cast<uint8_t>(byte);
  if (isal_adler32(1, unpacked, bytes) != stored) {
    return DataLossError("the pixel data of the PNG is damaged: its Adler-32 checksum is wrong");
  }
  return OkStatus();
}

Status WrongSize(std::string_view how, uint64_t bytes) {
  return DataLossError("the pixel data of the PNG unpacks to " + std::string(how) + " than the " +
                       std::to_string(bytes) + " bytes that its header asks for");
}

// What became of the stream: exactly `bytes` bytes, all input used, or the error.
Status CheckOutcome(int outcome, const inflate_state& state, uint64_t bytes) {
  if (outcome == ISAL_OUT_OVERFLOW || state.total_out > bytes) return WrongSize("more", bytes);
  if (outcome == ISAL_END_INPUT) {
    return DataLossError("the pixel data of the PNG ends before its zlib stream does");
  }
  if (outcome != ISAL_DECOMP_OK) {
    return DataLossError("the pixel data of the PNG is damaged: its zlib stream breaks off after " +
                         std::to_string(state.total_out) + " bytes");
  }
  if (state.total_out < bytes) return WrongSize("less", bytes);
  if (state.avail_in != 0) {
    return DataLossError("the PNG has " + std::to_string(state.avail_in) +
                         " bytes of pixel data behind the end of its zlib stream");
  }
  return OkStatus();
}

}  // namespace

PngInflater::PngInflater() : state_(std::make_unique<inflate_state>()) {}
PngInflater::~PngInflater() = default;
PngInflater::PngInflater(PngInflater&&) noexcept = default;
PngInflater& PngInflater::operator=(PngInflater&&) noexcept = default;

// ISA-L's one-shot call is its fastest, and wants one piece. Copying the packed bytes costs
// about one hundredth of unpacking them.
Result<std::string_view> PngInflater::Join(const std::vector<std::string_view>& pieces) {
  uint64_t bytes = 0;
  for (const std::string_view piece : pieces) bytes += piece.size();
  if (bytes < kWrapperBytes) {
    return DataLossError("the PNG has " + std::to_string(bytes) +
                         " bytes of pixel data, too few for a zlib stream");
  }
  if (bytes > kMaxPacked) {
    return DataLossError("the PNG has " + std::to_string(bytes) +
                         " bytes of pixel data, more than any image this large can need");
  }
  if (pieces.size() == 1) return pieces[0];
  uint8_t* end = packed_.Reserve(bytes);
  const std::string_view joined(reinterpret_cast<const char*>(end), bytes);
  for (const std::string_view piece : pieces) {
    if (piece.empty()) continue;
    std::memcpy(end, piece.data(), piece.size());
    end += piece.size();
  }
  return joined;
}

Result<const uint8_t*> PngInflater::Inflate(const std::vector<std::string_view>& pieces,
                                            uint64_t bytes) {
  SHARDMILL_CHECK(bytes <= kMaxBytes);
  ASSIGN_OR_RETURN(const std::string_view stream, Join(pieces));
  RETURN_IF_ERROR(CheckZlibHeader(stream));
  if (bytes / kMaxRatio > stream.size()) return WrongSize("less", bytes);
  uint8_t* unpacked = unpacked_.Reserve(bytes);
  isal_inflate_init(state_.get());
  // ISA-L's structure has no const input, and never writes to it.
  state_->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(stream.data())) + 2;
  state_->avail_in = static_cast<uint32_t>(stream.size() - kWrapperBytes);
  state_->next_out = unpacked;
  state_->avail_out = static_cast<uint32_t>(bytes + 1);  // one more, to see that there is more
  state_->crc_flag = ISAL_DEFLATE;
  RETURN_IF_ERROR(CheckOutcome(isal_inflate_stateless(state_.get()), *state_, bytes));
  RETURN_IF_ERROR(CheckZlibTrailer(stream.substr(stream.size() - 4), unpacked, bytes));
  return unpacked;
}

}  // namespace shardmill
