#include "trainer/comm/fixed_tree.h"

#include <algorithm>
#include <string>

namespace shardmill {
namespace {

constexpr int kMaxMicroShards = 4096;
// Up to this size one message to each rank is faster than two rounds of smaller ones.
constexpr int64_t kSmallBytes = 32 << 10;
constexpr int64_t kSegmentAlignment = 16;
// Additions go block by block, so that a whole tree works in the cache.
constexpr int64_t kBlock = 2048;

int SplitPoint(int begin, int end) {
  int left = 1;
  while (left * 2 < end - begin) left *= 2;
  return begin + left;
}

template <typename T>
void AddInto(T* __restrict a, const T* __restrict b, int64_t count) {
  for (int64_t i = 0; i < count; ++i) a[i] += b[i];
}

int64_t SegmentBegin(int64_t count, int segment, int segments) {
  const int64_t lines = (count + kSegmentAlignment - 1) / kSegmentAlignment;
  return std::min(count, lines * segment / segments * kSegmentAlignment);
}

}  // namespace

Result<FixedTree> FixedTree::Create(Communicator* communicator, int micro_shards) {
  if (micro_shards < 1 || micro_shards > kMaxMicroShards) {
    return InvalidArgumentError("the number of micro-shards is " + std::to_string(micro_shards) +
                                "; it must be 1 to " + std::to_string(kMaxMicroShards));
  }
  if (micro_shards % communicator->size() != 0) {
    return InvalidArgumentError(
        std::to_string(micro_shards) + " micro-shards cannot be shared by " +
        std::to_string(communicator->size()) + " ranks; start a number of ranks that divides " +
        std::to_string(micro_shards) + ", or choose another number of micro-shards");
  }
  return FixedTree(communicator, micro_shards);
}

FixedTree::FixedTree(Communicator* communicator, int micro_shards)
    : communicator_(communicator),
      micro_shards_(micro_shards),
      local_shards_(micro_shards / communicator->size()),
      first_shard_(communicator->rank() * local_shards_) {
  Plan(0, micro_shards);
  piece_values_.resize(pieces_.size());
}

// Returns the piece that holds the value of the subtree.
int FixedTree::Plan(int begin, int end) {
  if (OwnerOf(begin) == OwnerOf(end - 1)) {
    const int owner = OwnerOf(begin);
    if (owner == communicator_->rank()) PlanLocal(begin, end);
    pieces_.push_back({owner, begin - owner * local_shards_});
    return static_cast<int>(pieces_.size()) - 1;
  }
  const int middle = SplitPoint(begin, end);
  const int left = Plan(begin, middle);
  const int right = Plan(middle, end);
  shared_additions_.push_back({left, right});
  return left;
}

void FixedTree::PlanLocal(int begin, int end) {
  if (end - begin == 1) return;
  const int middle = SplitPoint(begin, end);
  PlanLocal(begin, middle);
  PlanLocal(middle, end);
  local_additions_.push_back({begin - first_shard_, middle - first_shard_});
}

template <typename T>
Status FixedTree::SumOf(T* const* rows, int64_t count, T* sum, std::string_view name) {
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t block = std::min(kBlock, count - begin);
    for (const Addition& addition : local_additions_) {
      AddInto(rows[addition.a] + begin, rows[addition.b] + begin, block);
    }
  }
  if (communicator_->size() == 1) {
    if (sum != rows[0]) std::copy_n(rows[0], count, sum);
    return communicator_->failure();
  }
  if (count * static_cast<int64_t>(sizeof(T)) <= kSmallBytes) {
    return SumEverywhere(rows, count, sum, name);
  }
  return SumInSegments(rows, count, sum, name);
}

// Adds the pieces, `count` values each; the sum ends up in the first.
template <typename T>
void FixedTree::AddPieces(int64_t count) {
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t block = std::min(kBlock, count - begin);
    for (const Addition& addition : shared_additions_) {
      AddInto(static_cast<T*>(piece_values_[addition.a]) + begin,
              static_cast<const T*>(piece_values_[addition.b]) + begin, block);
    }
  }
}

// Points each piece to its values [begin, begin + count): in a row of this rank, or in memory for
// what the other ranks send.
template <typename T>
void FixedTree::PlacePieces(T* const* rows, int64_t begin, int64_t count) {
  const int64_t bytes = count * static_cast<int64_t>(sizeof(T));
  const int64_t slot = (bytes + 63) / 64 * 64;
  received_.resize(std::max<size_t>(received_.size(), pieces_.size() * slot));
  receives_.clear();
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    if (piece.owner == communicator_->rank()) {
      piece_values_[i] = rows[piece.row] + begin;
    } else {
      piece_values_[i] = received_.data() + i * slot;
      receives_.push_back({piece.owner, piece_values_[i], bytes});
    }
  }
}

template <typename T>
Status FixedTree::SumEverywhere(T* const* rows, int64_t count, T* sum, std::string_view name) {
  PlacePieces(rows, 0, count);
  sends_.clear();
  for (const Piece& piece : pieces_) {
    if (piece.owner != communicator_->rank()) continue;
    for (int other = 0; other < communicator_->size(); ++other) {
      if (other == piece.owner) continue;
      sends_.push_back({other, rows[piece.row], count * static_cast<int64_t>(sizeof(T))});
    }
  }
  RETURN_IF_ERROR(communicator_->Exchange(sends_, receives_, name));
  AddPieces<T>(count);
  const T* total = static_cast<const T*>(piece_values_[0]);
  if (total != sum) std::copy_n(total, count, sum);
  return OkStatus();
}

// Each rank adds one segment of the values for all: the pieces of a segment go to its rank, and
// the sums from there to everyone. No rank handles more than twice the values.
template <typename T>
Status FixedTree::SumInSegments(T* const* rows, int64_t count, T* sum, std::string_view name) {
  const int ranks = communicator_->size();
  const int self = communicator_->rank();
  const auto begin_of = [&](int rank) { return SegmentBegin(count, rank, ranks); };
  const auto bytes_of = [&](int rank) {
    return (begin_of(rank + 1) - begin_of(rank)) * static_cast<int64_t>(sizeof(T));
  };
  const int64_t begin = begin_of(self);
  const int64_t length = begin_of(self + 1) - begin;
  PlacePieces(rows, begin, length);
  sends_.clear();
  for (const Piece& piece : pieces_) {
    if (piece.owner != self) continue;
    for (int other = 0; other < ranks; ++other) {
      if (other == self) continue;
      sends_.push_back({other, rows[piece.row] + begin_of(other), bytes_of(other)});
    }
  }
  RETURN_IF_ERROR(communicator_->Exchange(sends_, receives_, name));
  AddPieces<T>(length);
  const T* total = static_cast<const T*>(piece_values_[0]);
  if (total != sum + begin) std::copy_n(total, length, sum + begin);

  sends_.clear();
  receives_.clear();
  for (int other = 0; other < ranks; ++other) {
    if (other == self) continue;
    sends_.push_back({other, sum + begin, bytes_of(self)});
    receives_.push_back({other, sum + begin_of(other), bytes_of(other)});
  }
  return communicator_->Exchange(sends_, receives_, name);
}

Status FixedTree::Sum(float* const* rows, int64_t count, float* sum, std::string_view name) {
  return SumOf(rows, count, sum, name);
}

Status FixedTree::Sum(double* const* rows, int64_t count, double* sum, std::string_view name) {
  return SumOf(rows, count, sum, name);
}

}  // namespace shardmill
