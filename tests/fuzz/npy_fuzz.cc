// A whole .npy file, and the start of one: what is accepted is as large as it says, and is read to
// its end and no further.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/pack/inputs/npy_file.h"

using namespace shardmill;  // NOLINT: a program of one function

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<char> exact(data, data + size);  // its end is guarded by the sanitizer
  const std::string_view file(exact.data(), exact.size());
  ParseNpyHeader(file.substr(0, size / 2), size).ok();
  const Result<NpyHeader> header = ParseNpyHeader(file, size);
  if (!header.ok()) return 0;
  std::vector<uint8_t> array;
  CopyNpyArray(*header, file, &array);
  SHARDMILL_CHECK(array.size() == header->elements() * DTypeBytes(header->dtype()));
  return 0;
}
