#include "tools/pack/decode/stored_form.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tools/pack/decode/jpeg2000_boxes.h"
#include "tools/pack/decode/little_endian.h"

namespace shardmill {
namespace {

// The data of an EXIF chunk; some writers put the mark of JPEG's segments before them.
ExifReading ReadMarkedExif(std::string_view exif) {
  constexpr std::string_view kMark("Exif\0\0", 6);
  if (exif.substr(0, kMark.size()) == kMark) exif.remove_prefix(kMark.size());
  return ReadExif(exif);
}

StoredForm ReadWebp(std::string_view file) {
  constexpr uint64_t kContainer = 12, kFrame = 8;
  StoredForm form;
  for (uint64_t chunk = kContainer; chunk < file.size();) {
    const std::optional<uint64_t> bytes = LittleEndianAt(file, chunk + 4, 4);
    if (!bytes.has_value()) break;
    const std::string_view type = file.substr(chunk, 4), body = file.substr(chunk + kFrame);
    form.animated |= type == "ANIM" || type == "ANMF";
    if (type == "EXIF") form.exif = ReadMarkedExif(body.substr(0, *bytes));
    chunk += kFrame + *bytes + *bytes % 2;
  }
  return form;
}

// EXIF data stand in a box of their own beside those of the picture.
StoredForm ReadJpeg2000(std::string_view file) {
  constexpr std::string_view kExifBox = "JpgTiffExif->JP2";
  StoredForm form;
  for (Jpeg2000Boxes boxes(file); boxes.Next();) {
    if (boxes.type() == "uuid" && boxes.body().substr(0, kExifBox.size()) == kExifBox) {
      form.exif = ReadMarkedExif(boxes.body().substr(kExifBox.size()));
    }
  }
  return form;
}

}  // namespace

StoredForm ReadStoredForm(std::string_view file, FileFormat format) {
  if (format == FileFormat::kWebp) return ReadWebp(file);
  if (format == FileFormat::kJpeg2000) return ReadJpeg2000(file);
  StoredForm form;
  form.few_bits =
      format == FileFormat::kPnm && (file.substr(0, 2) == "P1" || file.substr(0, 2) == "P4");
  return form;
}

}  // namespace shardmill
