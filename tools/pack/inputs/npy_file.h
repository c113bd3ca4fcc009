// Reads NumPy's .npy files, versions 1 to 3: one array of numbers each.
//
// Free functions without state; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"

namespace shardmill {

// Kinds of numbers in files; what has no type of its own in shards is widened, and f64 rounded.
enum class NpyType { kBool, kI8, kU8, kI16, kU16, kI32, kU32, kI64, kF16, kF32, kF64 };

struct NpyHeader {
  NpyType type = NpyType::kU8;
  bool big_endian = false;
  bool fortran_order = false;   // the first index runs fastest
  std::vector<uint32_t> shape;  // a single number is an array of one
  uint64_t data_offset = 0;

  DType dtype() const;  // in shards
  uint64_t elements() const;
};

// So many bytes hold the header of nearly every file.
constexpr uint64_t kNpyStartBytes = 4096;

// `start` holds the first bytes of a file of `file_bytes` bytes, the header at least (else
// InvalidArgument, when there is more of the file). DataLoss when it is no sound .npy file, its
// data is not as long as the header says, or it holds anything but numbers of a known type.
Result<NpyHeader> ParseNpyHeader(std::string_view start, uint64_t file_bytes);

// Of an array that was copied.
struct NpyNumbers {
  uint64_t not_finite = 0;  // NaN or infinite, as in the file
  uint64_t too_large = 0;   // of f64: finite, but not as f32
  double first_too_large = 0;
  std::vector<uint32_t> first_too_large_at;  // its place in the array
};

// The array in C order, little-endian, as dtype() says. `file` is what `header` was read from.
NpyNumbers CopyNpyArray(const NpyHeader& header, std::string_view file, std::vector<uint8_t>* out);

}  // namespace shardmill
