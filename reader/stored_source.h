// Another way to the stored bytes of records than the mapping of their shard.
#pragma once

#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/stage_clock.h"

namespace shardmill {

class StoredSource {
 public:
  virtual ~StoredSource() = default;

  struct Wanted {
    const InputFile& file;
    FileRange range;
    int slot = 0;  // of the ring, which is being filled
  };
  // Writes the wanted bytes to `out`; false when they are not at hand here and shall be read from
  // the mapping. Says on `clock`, which may be null, what it does. Safe from several threads.
  virtual Result<bool> Read(const Wanted& wanted, void* out, StageClock* clock) = 0;
};

}  // namespace shardmill
