// Places blocks of known size and lifetime into one arena, so that blocks that are never alive at
// the same time share memory.
#pragma once

#include <cstdint>
#include <vector>

namespace shardmill {

class ArenaPlan {
 public:
  // A block that is in use from time `first` to time `last`, both included. Returns its number.
  int Add(int64_t bytes, int first, int last);
  // Makes the life of a block longer where needed.
  void Extend(int block, int first, int last);

  // Places all blocks: the largest first, each at the lowest offset where it overlaps no block
  // that is alive at the same time. Equal blocks keep the order of Add: the result is a function
  // of the calls.
  void Place();

  // REQUIRES: Place was called.
  int64_t offset(int block) const { return blocks_[block].offset; }
  int64_t total_bytes() const { return total_bytes_; }

 private:
  struct Block {
    int64_t bytes = 0;
    int first = 0;
    int last = 0;
    int64_t offset = 0;
  };

  int64_t LowestOffset(const Block& block, const std::vector<const Block*>& placed) const;

  std::vector<Block> blocks_;
  int64_t total_bytes_ = 0;
};

}  // namespace shardmill
