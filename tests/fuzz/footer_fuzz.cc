// The footer: any bytes, with the checksum made right so that the checks behind it are reached.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "reader/base/checksum.h"
#include "reader/shard_format.h"
#include "tests/reader/shard_testing.h"

using namespace shardmill;  // NOLINT: a program of one function

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  bytes.resize(PaddedBytes(size), '\0');
  if (bytes.empty()) return 0;  // the postscript's checks do not let it through
  DecodeFooter(bytes).ok();
  testing_shards::SetU64(kFooterChecksumOffset, 0, &bytes);
  testing_shards::SetU64(kFooterChecksumOffset, Checksum64(bytes.data(), bytes.size()), &bytes);
  const Result<Footer> footer = DecodeFooter(bytes);
  if (!footer.ok()) return 0;
  SHARDMILL_CHECK(EncodeFooter(*footer) == bytes);
  CheckBlockTable(*footer, 8192, 1 << 20, 4).ok();
  return 0;
}
