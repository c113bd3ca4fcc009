// What the arrays of a set have in common: type and shape of their field.
//
// Free functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"
#include "tools/pack/inputs/input_set.h"
#include "tools/pack/inputs/npy_file.h"

namespace shardmill {

struct ArrayForm {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // kVariableDim where the arrays differ
  uint64_t mean_bytes = 0, largest_bytes = 0;
  std::string sizes;             // "1,234 arrays of f32 [12 to 873 × 40]"
  uint64_t without_numbers = 0;  // arrays with a side of 0, and the first of them
  std::string example_without_numbers;
};

// From the headers of all files. Files whose header cannot be read are left out: packing reports
// them. InvalidArgument when two others differ in type or in the number of dimensions; with
// `keep_most`, the form that most of them have is the set's.
Result<ArrayForm> FindArrayForm(const InputSet& set, bool keep_most, int threads);

// Of one file.
Result<NpyHeader> ReadArrayHeader(const std::string& path, uint64_t file_bytes);

// The dimensions of an array that vary in the form; DataLoss when it does not fit.
Result<std::vector<uint32_t>> FitArray(const NpyHeader& header, DType dtype,
                                       const std::vector<int64_t>& shape);

}  // namespace shardmill
