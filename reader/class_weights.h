// The class of each record of a split, and weights of records from weights of classes.
//
// Pure functions of the data set; safe for concurrent use.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "reader/dataset.h"

namespace shardmill {

// The class id of each record, kNoClassId where it belongs to none, from the first field with the
// role of a class id, whatever its encoding. Reads that field of all records. InvalidArgument when
// there is no such field.
constexpr uint32_t kNoClassId = 0xFFFFFFFF;
Result<std::vector<uint32_t>> ReadClassIds(const Dataset& dataset, const Dataset::Split& split);

// Weights of records such that class c is drawn in proportion to class_weights[c] and all records
// of a class alike; records of no class get 0. InvalidArgument when there is not one weight per
// class, or when a class with a weight has no record.
Result<std::vector<double>> RecordWeightsOfClasses(const Dataset& dataset,
                                                   const Dataset::Split& split,
                                                   const std::vector<double>& class_weights);

}  // namespace shardmill
