// `shardmill dump show` and `sheet`: records of a split as one picture.
//
// Free functions; safe for concurrent use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/dump/picture.h"
#include "tools/dump/shard_set.h"

namespace shardmill {

struct RecordSheetOptions {
  std::vector<uint64_t> records;  // at least one, of the split
  std::string field;              // shown as the image; empty: the image field
  double opacity = 0.55;          // of labels over images
};

// How many pixels (records, for classification) of each class were drawn.
struct DrawnClasses {
  std::vector<uint64_t> counts;  // per class id
  uint64_t ignored = 0;
  uint64_t invalid = 0;  // ids outside the class table and one-hot pixels of several classes

  uint64_t labelled() const;  // of all classes together
  uint64_t total() const;     // and the others
};

struct RecordSheet {
  Picture picture;
  DrawnClasses classes;
};

// One record: image, overlay and label in full size, shares of its own pixels in the legend.
Result<RecordSheet> DrawRecord(const ShardSet& set, const ShardSet::Split& split, uint64_t record,
                               const RecordSheetOptions& options);
// Several: image and overlay, shares of the whole split in the legend.
Result<RecordSheet> DrawRecords(const ShardSet& set, const ShardSet::Split& split,
                                const RecordSheetOptions& options);

// `count` record numbers (at most `records`), evenly spaced and starting with 0.
std::vector<uint64_t> EvenlySpaced(uint64_t records, uint64_t count);

}  // namespace shardmill
