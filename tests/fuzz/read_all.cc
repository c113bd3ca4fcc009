#include "tests/fuzz/read_all.h"

#include <cstdint>
#include <vector>

#include "proto/record_meta.pb.h"

namespace shardmill {
namespace {

// Damaged dimensions may say any size; the caller of a reader chooses what it has memory for.
constexpr uint64_t kMostBytes = uint64_t{1} << 24;

}  // namespace

void ReadAll(const ShardReader& reader) {
  ReadScratch scratch;
  for (uint64_t record = 0; record < reader.records(); ++record) {
    reader.ReadMeta(record).ok();
    for (size_t f = 0; f < reader.schema().fields.size(); ++f) {
      const int field = static_cast<int>(f);
      const auto dims = reader.VariableDims(record, field);
      if (!dims.ok()) continue;
      const Result<uint64_t> bytes = reader.schema().fields[f].TensorBytes(*dims);
      if (!bytes.ok() || *bytes > kMostBytes) continue;
      std::vector<uint8_t> out(*bytes);  // its end is guarded by the sanitizer
      reader.Read(record, field, out.data(), out.size(), &scratch).ok();
    }
  }
}

}  // namespace shardmill
