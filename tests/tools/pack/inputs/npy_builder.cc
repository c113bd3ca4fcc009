#include "tests/tools/pack/inputs/npy_builder.h"

#include <cstring>

namespace shardmill {

std::string NpyFileOf(const std::string& text, const std::string& data, int version) {
  std::string file("\x93NUMPY", 6);
  file += static_cast<char>(version);
  file += '\0';
  const size_t length_bytes = version == 1 ? 2 : 4;
  std::string padded = text;
  while ((8 + length_bytes + padded.size() + 1) % 64 != 0) padded += ' ';
  padded += '\n';
  for (size_t i = 0; i < length_bytes; ++i) file += static_cast<char>(padded.size() >> (8 * i));
  return file + padded + data;
}

std::string NpyDictionary(const std::string& descr, bool fortran_order,
                          const std::vector<uint32_t>& shape) {
  std::string text = "{'descr': '" + descr +
                     "', 'fortran_order': " + (fortran_order ? "True" : "False") + ", 'shape': (";
  for (const uint32_t dim : shape) text += std::to_string(dim) + ", ";
  if (shape.size() > 1) text.resize(text.size() - 2);
  return text + "), }";
}

std::string NpyFloats(const std::vector<uint32_t>& shape, const std::vector<float>& values) {
  std::string data(4 * values.size(), '\0');
  if (!values.empty()) std::memcpy(data.data(), values.data(), data.size());
  return NpyFileOf(NpyDictionary("<f4", false, shape), data);
}

}  // namespace shardmill
