// What the input kernel does to the rows of a batch, in place of the loader: the same windows and
// colours for the same (seed, epoch, split, position), so that both give the same pixels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/augment.h"
#include "reader/base/status.h"
#include "reader/batch.h"
#include "trainer/cuda/kernels/input.h"
#include "trainer/data/data_task.h"

namespace shardmill {

class InputMoves {
 public:
  // Whether there is something to do, and the kernel can do all of it. `why` receives what it
  // cannot do, as an end of "the kernel …"; else it stays as it is.
  static bool CanDo(const Augment& augment, const DataTask& task, std::string* why);

  // REQUIRES: CanDo.
  InputMoves(const Augment& augment, const DataTask& task, uint64_t seed, std::string split)
      : augment_(augment), task_(task), seed_(seed), split_(std::move(split)) {}

  // Of the rows of a whole batch, of which this rank has those from `first_row` on.
  Result<std::vector<InputRow>> Of(const Batch& batch, int64_t first_row) const;

 private:
  InputRow RowAt(const OrderKey& key, uint64_t position) const;

  Augment augment_;
  DataTask task_;
  uint64_t seed_;
  std::string split_;
};

}  // namespace shardmill
