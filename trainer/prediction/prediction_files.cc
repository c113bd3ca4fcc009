#include "trainer/prediction/prediction_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "reader/base/checksum.h"
#include "reader/base/file.h"
#include "reader/base/file_remnants.h"
#include "reader/base/interrupt.h"
#include "reader/png_encode.h"
#include "trainer/prediction/pictures.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

constexpr char kMapEnding[] = ".png";
constexpr char kOverlayEnding[] = ".overlay.png";
// 255 are a name on every file system; "….overlay.png.tmp-4194304-99" must fit.
constexpr size_t kMostNameBytes = 255 - 12 - 15;

std::string WithoutEnding(const std::string& key) {
  const bool is_png = key.size() > 4 && key.compare(key.size() - 4, 4, kMapEnding) == 0;
  return is_png ? key.substr(0, key.size() - 4) : key;
}

std::string Hex(uint64_t number) {
  std::string text(16, '0');
  for (size_t i = 0; i < 16; ++i) text[15 - i] = "0123456789abcdef"[number >> (4 * i) & 15];
  return text;
}

bool IsTooLong(const std::string& key) {
  return FileName(WithoutEnding(key)).size() > kMostNameBytes;
}

// Cut where a character of UTF-8 begins.
std::string Shortened(const std::string& name, const std::string& key) {
  size_t end = kMostNameBytes - 17;
  while (end > 0 && (static_cast<uint8_t>(name[end]) & 0xC0) == 0x80) --end;
  return name.substr(0, end) + "~" + Hex(Checksum64(key.data(), key.size()));
}

bool IsOwnTable(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && line + "\n" == kPredictionTableHeader;
}

// Whether a file of this name may be written.
Status CheckPlace(const std::string& path, bool overwrite, bool (*is_own)(const std::string&)) {
  std::error_code error;
  const fs::file_status found = fs::symlink_status(path, error);
  if (!fs::exists(found)) return OkStatus();
  if (!fs::is_regular_file(found) || !is_own(path)) {
    return InvalidArgumentError(path +
                                " is there already, and no prediction of shardmill-train: choose "
                                "another --output");
  }
  if (overwrite) return OkStatus();
  return InvalidArgumentError("there are predictions already, such as " + path +
                              ": choose another --output, or replace them with --overwrite");
}

bool IsOwnPicture(const std::string& path) { return HasPngSoftware(path, kPictureSoftware); }

}  // namespace

std::optional<std::string> FileOfKey(const std::string& folder, const std::string& key) {
  if (key.empty() || key.front() == '/' || key.back() == '/') return std::nullopt;
  std::istringstream parts(key);
  std::string part;
  while (std::getline(parts, part, '/')) {
    if (part.empty() || part == "." || part == "..") return std::nullopt;
  }
  std::string file = WithoutEnding(key);
  if (IsTooLong(key)) {
    const std::string name = FileName(file);
    file = file.substr(0, file.size() - name.size()) + Shortened(name, key);
  }
  return JoinPath(folder, file);
}

std::string NameOfRecord(const proto::RecordMeta& meta, bool stitch) {
  const std::string& key = meta.key();
  if (!stitch || meta.variant() == 0) return key;
  const std::string ending = "#v" + std::to_string(meta.variant());
  const bool ends_so = key.size() > ending.size() &&
                       key.compare(key.size() - ending.size(), ending.size(), ending) == 0;
  return ends_so ? key.substr(0, key.size() - ending.size()) : key;
}

Status PictureNames::Add(const proto::RecordMeta& meta) {
  const std::string name = NameOfRecord(meta, options_.stitch);
  if (options_.stitch && name == last_name_) return OkStatus();  // another tile
  last_name_ = name;
  const std::optional<std::string> file = FileOfKey(options_.folder, name);
  if (!file) return DataLossError("the key '" + name + "' of a record cannot be a file name");
  if (IsTooLong(name)) ++shortened_;
  RETURN_IF_ERROR(AddFile(*file + kMapEnding, name));
  return options_.overlays ? AddFile(*file + kOverlayEnding, name) : OkStatus();
}

Status PictureNames::AddFile(const std::string& path, const std::string& name) {
  folders_.insert(FolderName(path));
  if (files_.insert(path).second) return CheckPlace(path, options_.overwrite, IsOwnPicture);
  return InvalidArgumentError("two predictions would be one file, " + path + ": that of '" + name +
                              "' and one before it; " +
                              (options_.overlays ? "try --no-overlays, or " : "") +
                              "rename one of the sources and pack again");
}

Status PictureNames::Finish() const {
  for (const std::string& folder : folders_) {
    for (std::string path = folder; path.size() > options_.folder.size(); path = FolderName(path)) {
      if (files_.count(path) == 0) continue;
      return InvalidArgumentError(path +
                                  " would be the prediction of one record and the folder of "
                                  "others; rename one of the sources and pack again");
    }
    RemoveRemnantsIn(
        folder, [&](const std::string& name) { return files_.count(JoinPath(folder, name)) > 0; });
  }
  return OkStatus();
}

Result<uint64_t> CheckPictures(const PredictionOptions& options, const Dataset::Split& split,
                               uint64_t limit) {
  PictureNames names(options);
  for (uint64_t record = 0; record < std::min(limit, split.records()); ++record) {
    RETURN_IF_ERROR(CheckInterrupt());
    const auto [shard, number] = split.Locate(record);
    ASSIGN_OR_RETURN(const proto::RecordMeta meta, shard->ReadMeta(number));
    RETURN_IF_ERROR(names.Add(meta));
  }
  RETURN_IF_ERROR(names.Finish());
  return names.shortened();
}

Status CheckTable(const PredictionOptions& options) {
  const std::string path = JoinPath(options.folder, kPredictionTable);
  RETURN_IF_ERROR(CheckPlace(path, options.overwrite, IsOwnTable));
  RemoveRemnants(path);
  return OkStatus();
}

}  // namespace shardmill
