#include "tests/trainer/torch/golden_file.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cstdlib>
#include <cstring>

#include "reader/base/file.h"
#include "reader/base/little_endian.h"
#include "reader/base/status.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxFileBytes = 16 << 20;

std::string FolderOfGoldenFiles() {
  const char* folder = std::getenv("SHARDMILL_TORCH_GOLDEN");
  return folder != nullptr ? folder : "tests/trainer/torch/golden";
}

google::protobuf::Struct ParseJson(const std::string& text) {
  google::protobuf::Struct object;
  SHARDMILL_CHECK(google::protobuf::util::JsonStringToMessage(text, &object).ok());
  return object;
}

// `entry` is what the header says of one array; the arrays begin at `data`.
GoldenArray ReadArray(const google::protobuf::Struct& entry, const std::string& data) {
  const auto& fields = entry.fields();
  GoldenArray array;
  for (const auto& size : fields.at("shape").list_value().values()) {
    array.shape.push_back(static_cast<int64_t>(size.number_value()));
  }
  const auto& offsets = fields.at("data_offsets").list_value().values();
  const auto begin = static_cast<size_t>(offsets.Get(0).number_value());
  const auto end = static_cast<size_t>(offsets.Get(1).number_value());
  SHARDMILL_CHECK(begin <= end && end <= data.size());
  if (fields.at("dtype").string_value() == "U8") {
    for (size_t i = begin; i < end; ++i) {
      array.values.push_back(static_cast<float>(static_cast<uint8_t>(data[i])));
    }
  } else {
    SHARDMILL_CHECK(fields.at("dtype").string_value() == "F32");
    array.values.resize((end - begin) / sizeof(float));
    if (end > begin) std::memcpy(array.values.data(), data.data() + begin, end - begin);
  }
  return array;
}

}  // namespace

GoldenFile::GoldenFile(const std::string& name) {
  const auto content =
      ReadFile(JoinPath(FolderOfGoldenFiles(), name + ".safetensors"), kMaxFileBytes);
  SHARDMILL_CHECK(content.ok() && content->size() > 8);
  const uint64_t length = LoadU64(reinterpret_cast<const uint8_t*>(content->data()));
  SHARDMILL_CHECK(length <= content->size() - 8);
  const google::protobuf::Struct header = ParseJson(content->substr(8, length));
  const std::string data = content->substr(8 + length);
  for (const auto& [key, value] : header.fields()) {
    if (key != "__metadata__") {
      arrays_[key] = ReadArray(value.struct_value(), data);
      continue;
    }
    for (const auto& [name_of_case, text] : value.struct_value().fields()) {
      cases_[name_of_case] = text.string_value();
    }
  }
}

const GoldenArray& GoldenFile::Array(const std::string& name) const {
  const auto found = arrays_.find(name);
  SHARDMILL_CHECK(found != arrays_.end());
  return found->second;
}

std::vector<uint8_t> GoldenFile::Bytes(const std::string& name) const {
  const std::vector<float>& values = Values(name);
  return {values.begin(), values.end()};
}

std::map<std::string, GoldenArray> GoldenFile::Under(const std::string& prefix) const {
  std::map<std::string, GoldenArray> found;
  for (const auto& [name, array] : arrays_) {
    if (name.compare(0, prefix.size(), prefix) == 0) found[name.substr(prefix.size())] = array;
  }
  return found;
}

GoldenOptions::GoldenOptions(const std::string& json) {
  const google::protobuf::Struct object = ParseJson(json);
  for (const auto& [key, value] : object.fields()) {
    if (value.kind_case() == google::protobuf::Value::kStringValue) {
      texts_[key] = value.string_value();
    } else {
      numbers_[key] = value.kind_case() == google::protobuf::Value::kBoolValue
                          ? static_cast<double>(value.bool_value())
                          : value.number_value();
    }
  }
}

double GoldenOptions::Number(const std::string& key, double otherwise) const {
  const auto found = numbers_.find(key);
  return found == numbers_.end() ? otherwise : found->second;
}

bool GoldenOptions::Flag(const std::string& key) const { return Number(key) != 0; }

std::string GoldenOptions::Text(const std::string& key) const {
  const auto found = texts_.find(key);
  SHARDMILL_CHECK(found != texts_.end());
  return found->second;
}

}  // namespace shardmill
