// A sum whose bits do not depend on the number of ranks.
//
// A global batch is M micro-shards, numbered 0 … M-1; rank r of W works on the M / W of them that
// start at r M / W. Each quantity (a gradient, the sums of a batch norm, a loss) exists as one
// partial sum per micro-shard, and these are added along one binary tree over 0 … M-1 that
// depends on M alone. Which rank does an addition changes nothing, so 1, 2, 4, … ranks get the
// same bits. Partial sums travel by Communicator::Exchange; no sum of MPI is used.
//
// The tree over [a, b): two subtrees, the left one with the largest power of two of leaves that is
// smaller than b - a; the value is left + right.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "trainer/comm/communicator.h"

namespace shardmill {

class FixedTree {
 public:
  // InvalidArgument unless the number of ranks divides `micro_shards` (at most 4096).
  // `communicator` must outlive the tree.
  static Result<FixedTree> Create(Communicator* communicator, int micro_shards);

  int micro_shards() const { return micro_shards_; }
  int first_shard() const { return first_shard_; }  // of this rank
  int local_shards() const { return local_shards_; }

  // rows[i], `count` values, is the partial sum of micro-shard first_shard() + i; the rows are
  // used up. `sum` gets the sum over all M, on all ranks; it may be rows[0]. All ranks pass the
  // same count.
  Status Sum(float* const* rows, int64_t count, float* sum, std::string_view name);
  Status Sum(double* const* rows, int64_t count, double* sum, std::string_view name);

 private:
  // a += b
  struct Addition {
    int a = 0;
    int b = 0;
  };
  // A subtree that lies within one rank and in no larger one that does. Its value ends up in
  // row `row` of the rank that owns it.
  struct Piece {
    int owner = 0;
    int row = 0;
  };

  FixedTree(Communicator* communicator, int micro_shards);
  int Plan(int begin, int end);
  void PlanLocal(int begin, int end);
  int OwnerOf(int shard) const { return shard / local_shards_; }

  template <typename T>
  Status SumOf(T* const* rows, int64_t count, T* sum, std::string_view name);
  template <typename T>
  void PlacePieces(T* const* rows, int64_t begin, int64_t count);
  template <typename T>
  void AddPieces(int64_t count);
  template <typename T>
  Status SumEverywhere(T* const* rows, int64_t count, T* sum, std::string_view name);
  template <typename T>
  Status SumInSegments(T* const* rows, int64_t count, T* sum, std::string_view name);

  Communicator* communicator_;
  int micro_shards_;
  int local_shards_;
  int first_shard_;
  std::vector<Piece> pieces_;               // in the order of their micro-shards
  std::vector<Addition> local_additions_;   // between rows of this rank, in order
  std::vector<Addition> shared_additions_;  // between pieces, in order; the sum is piece 0
  // Kept between calls, so that a step allocates nothing.
  std::vector<unsigned char> received_;
  std::vector<SendPiece> sends_;
  std::vector<ReceivePiece> receives_;
  std::vector<void*> piece_values_;
};

}  // namespace shardmill
