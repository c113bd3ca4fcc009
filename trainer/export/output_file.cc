#include "trainer/export/output_file.h"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "reader/base/file.h"
#include "reader/base/little_endian.h"
#include "reader/png_encode.h"
#include "trainer/prediction/pictures.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

std::string HeadOf(const std::string& path) {
  std::string head(64, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  return head;
}

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// A header of JSON behind its length, which JSON alone would make larger than any file.
bool IsSafetensors(const std::string& path, const std::string& head) {
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error || head.size() <= 8 || !StartsWith(std::string_view(head).substr(8), "{\"")) {
    return false;
  }
  return LoadU64(reinterpret_cast<const uint8_t*>(head.data())) <= size - 8;
}

bool IsOfKind(const std::string& path, OutputKind kind) {
  if (kind == OutputKind::kPicture) return HasPngSoftware(path, kPictureSoftware);
  const std::string head = HeadOf(path);
  if (kind == OutputKind::kTrace) return StartsWith(head, "{\"traceEvents\"");
  return IsSafetensors(path, head);
}

const char* KindName(OutputKind kind) {
  if (kind == OutputKind::kPicture) return "picture of shardmill-train";
  return kind == OutputKind::kTrace ? "trace" : "safetensors file";
}

}  // namespace

Status CheckOutputFile(const std::string& option, const std::string& path, OutputKind kind) {
  std::error_code error;
  const fs::file_status found = fs::status(path, error);
  if (fs::is_directory(found)) {
    return InvalidArgumentError(option + " " + path + " is a folder: name a file");
  }
  const bool is_free =
      !fs::exists(found) || (fs::is_regular_file(found) && fs::file_size(path, error) == 0);
  if (!is_free && (!fs::is_regular_file(found) || !IsOfKind(path, kind))) {
    return InvalidArgumentError(option + " " + path + " is there already, and no " +
                                KindName(kind) + ": choose another name");
  }
  return AtomicFile::Create(path).status().WithContext(option);
}

}  // namespace shardmill
