// Reads the files that write_golden.py wrote: named arrays and texts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace shardmill {

struct GoldenArray {
  std::vector<int64_t> shape;
  std::vector<float> values;  // of u8 arrays too
};

class GoldenFile {
 public:
  // Of the folder that the environment names, else of the folder in the tree. CHECKs that the file
  // is what write_golden.py writes.
  explicit GoldenFile(const std::string& name);

  // Case → description.
  const std::map<std::string, std::string>& cases() const { return cases_; }
  bool Has(const std::string& array) const { return arrays_.count(array) > 0; }
  const GoldenArray& Array(const std::string& name) const;  // CHECKs that it is there
  const std::vector<float>& Values(const std::string& name) const { return Array(name).values; }
  std::vector<uint8_t> Bytes(const std::string& name) const;

  // What lies under "PREFIX…", without the prefix.
  std::map<std::string, GoldenArray> Under(const std::string& prefix) const;

 private:
  std::map<std::string, std::string> cases_;
  std::map<std::string, GoldenArray> arrays_;
};

// A description in JSON.
class GoldenOptions {
 public:
  explicit GoldenOptions(const std::string& json);
  double Number(const std::string& key, double otherwise = 0) const;
  bool Flag(const std::string& key) const;
  bool Has(const std::string& text) const { return texts_.count(text) > 0; }
  std::string Text(const std::string& key) const;

 private:
  std::map<std::string, double> numbers_;  // flags too
  std::map<std::string, std::string> texts_;
};

}  // namespace shardmill
