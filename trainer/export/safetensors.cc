#include "trainer/export/safetensors.h"

#include "reader/base/file.h"
#include "reader/base/file_remnants.h"
#include "reader/base/little_endian.h"
#include "reader/console/json_writer.h"

namespace shardmill {
namespace {

constexpr uint64_t kAlignment = 8;  // of the arrays: the header is filled up with blanks

std::string Header(const std::vector<SafeTensor>& tensors,
                   const std::vector<std::pair<std::string, std::string>>& metadata) {
  JsonWriter json(JsonStyle::kOneLine);
  json.BeginObject();
  json.Key("__metadata__").BeginObject();
  for (const auto& [key, value] : metadata) json.Key(key).String(value);
  json.EndObject();
  uint64_t offset = 0;
  for (const SafeTensor& tensor : tensors) {
    json.Key(tensor.name).BeginObject();
    json.Key("dtype").String(tensor.dtype);
    json.Key("shape").BeginArray();
    for (const int64_t size : tensor.shape) json.Number(size);
    json.EndArray();
    json.Key("data_offsets").BeginArray();
    json.Number(offset);
    offset += tensor.bytes;
    json.Number(offset);
    json.EndArray();
    json.EndObject();
  }
  json.EndObject();
  std::string header = json.Take();
  while (!header.empty() && header.back() == '\n') header.pop_back();
  header.resize((header.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return header;
}

}  // namespace

Status WriteSafetensors(const std::string& path, const std::vector<SafeTensor>& tensors,
                        const std::vector<std::pair<std::string, std::string>>& metadata) {
  const std::string header = Header(tensors, metadata);
  uint8_t length[8];
  StoreU64(header.size(), length);
  RemoveRemnants(path);
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  RETURN_IF_ERROR(file.Append(length, sizeof(length)));
  RETURN_IF_ERROR(file.Append(header.data(), header.size()));
  for (const SafeTensor& tensor : tensors) {
    if (tensor.bytes > 0) RETURN_IF_ERROR(file.Append(tensor.data, tensor.bytes));
  }
  return file.Commit();
}

}  // namespace shardmill
