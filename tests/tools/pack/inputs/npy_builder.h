// Builds .npy files for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardmill {

// A file of this version whose header is the dictionary `text`, padded as NumPy does.
std::string NpyFileOf(const std::string& text, const std::string& data, int version = 1);

// "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"
std::string NpyDictionary(const std::string& descr, bool fortran_order,
                          const std::vector<uint32_t>& shape);

// An array of f32 in C order.
std::string NpyFloats(const std::vector<uint32_t>& shape, const std::vector<float>& values);

}  // namespace shardmill
