#include "tools/pack/decode/tiff_read.h"

#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace shardmill {
namespace {

constexpr tmsize_t kMaxAllocation = tmsize_t{1} << 32;
constexpr uint32_t kMaxBands = 1024;

// A file in memory, as libtiff's callbacks see it.
struct MemoryFile {
  std::string_view content;
  uint64_t position = 0;
  std::string error;             // the first one
  bool bad_orientation = false;  // its tag holds a number that means nothing
};

tmsize_t OnRead(thandle_t handle, void* out, tmsize_t bytes) {
  auto* file = static_cast<MemoryFile*>(handle);
  if (file->position >= file->content.size() || bytes <= 0) return 0;
  const size_t count = std::min(static_cast<size_t>(bytes), file->content.size() - file->position);
  std::memcpy(out, file->content.data() + file->position, count);
  file->position += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t OnWrite(thandle_t, void*, tmsize_t) { return 0; }

toff_t OnSeek(thandle_t handle, toff_t offset, int whence) {
  auto* file = static_cast<MemoryFile*>(handle);
  file->position = offset + (whence == SEEK_CUR   ? file->position
                             : whence == SEEK_END ? file->content.size()
                                                  : 0);
  return file->position;
}

int OnClose(thandle_t) { return 0; }
toff_t OnSize(thandle_t handle) { return static_cast<MemoryFile*>(handle)->content.size(); }

int OnError(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  auto* file = static_cast<MemoryFile*>(user);
  char text[256];
  std::vsnprintf(text, sizeof text, format, arguments);
  // Nothing else depends on this tag, so its file is read all the same.
  if (std::strstr(text, "for \"Orientation\" tag") != nullptr) {
    file->bad_orientation = true;
  } else if (file->error.empty()) {
    file->error = text;
  }
  return 1;
}

int OnWarning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
struct FreeOptions {
  void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};

class TiffReader {
 public:
  explicit TiffReader(std::string_view file);

  Result<TiffHeader> ReadHeader();
  Status ReadSamples(const TiffHeader& header, std::vector<uint8_t>* out);

 private:
  Status Damaged() const {
    return DataLossError("damaged TIFF: " +
                         (file_.error.empty() ? "it ends too early" : file_.error));
  }
  uint32_t Number(ttag_t tag, uint32_t fallback) const;
  Status GoToPicture();
  bool IsCopyOrMask() const;
  Status CheckCompression() const;
  Status ReadColors(TiffHeader* header);
  Status ReadSampleForm(TiffHeader* header);
  void ReadPalette(TiffHeader* header);
  void ReadNoData(TiffHeader* header);
  Status ReadStrips(const TiffHeader& header, std::vector<uint8_t>* out);
  Status ReadTiles(const TiffHeader& header, std::vector<uint8_t>* out);

  MemoryFile file_;
  std::unique_ptr<TIFF, CloseTiff> tiff_;
};

TiffReader::TiffReader(std::string_view file) {
  file_.content = file;
  std::unique_ptr<TIFFOpenOptions, FreeOptions> options(TIFFOpenOptionsAlloc());
  if (options == nullptr) return;
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMaxAllocation);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), OnError, &file_);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), OnWarning, &file_);
  // "m": the library must not map the file itself.
  tiff_.reset(TIFFClientOpenExt("TIFF", "rm", &file_, OnRead, OnWrite, OnSeek, OnClose, OnSize,
                                nullptr, nullptr, options.get()));
}

// Of a tag of 16 bits.
uint32_t TiffReader::Number(ttag_t tag, uint32_t fallback) const {
  uint16_t value = 0;
  return TIFFGetFieldDefaulted(tiff_.get(), tag, &value) != 0 ? value : fallback;
}

// Of the page that was read last: a smaller copy of another one, or the mask of one.
bool TiffReader::IsCopyOrMask() const {
  uint32_t kind = 0;
  TIFFGetField(tiff_.get(), TIFFTAG_SUBFILETYPE, &kind);
  return (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
}

// The picture may stand behind a smaller copy of it. A file whose only page is called a copy or a
// mask holds nothing else that could be meant, unless further pages hang below that one.
Status TiffReader::GoToPicture() {
  int pictures = 0;
  tdir_t pages = 0, picture = 0;
  uint16_t below = 0;
  uint64_t* offsets = nullptr;
  TIFFGetField(tiff_.get(), TIFFTAG_SUBIFD, &below, &offsets);
  do {
    if (!IsCopyOrMask() && pictures++ == 0) picture = pages;
    ++pages;
  } while (pictures < 2 && TIFFReadDirectory(tiff_.get()) != 0);
  if (pictures > 1) {
    return DataLossError("this TIFF file holds several pages; save the one that is meant");
  }
  if (pictures == 0 && (pages > 1 || below > 0)) {
    return DataLossError(
        "the pages of this TIFF file are smaller copies or masks of a picture that is not among "
        "them; save the picture itself");
  }
  return TIFFSetDirectory(tiff_.get(), picture) != 0 ? OkStatus() : Damaged();
}

// Of a kind that the library was built without, the file may be sound.
Status TiffReader::CheckCompression() const {
  const uint32_t compression = Number(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (TIFFIsCODECConfigured(static_cast<uint16_t>(compression)) != 0) return OkStatus();
  struct Name {
    uint32_t number;
    const char* name;
  };
  constexpr Name kNames[] = {{6, "old JPEG"},      {33003, "JPEG 2000"}, {33005, "JPEG 2000"},
                             {34712, "JPEG 2000"}, {34887, "LERC"},      {34933, "PNG"},
                             {34934, "JPEG XR"},   {50000, "Zstandard"}, {50001, "WebP"},
                             {50002, "JPEG XL"},   {52546, "JPEG XL"}};
  std::string name = "number " + std::to_string(compression);
  for (const Name& known : kNames) {
    if (known.number == compression) name = std::string(known.name) + ", " + name;
  }
  return DataLossError("the compression of this TIFF file (" + name + ") is not read; convert it");
}

Status TiffReader::ReadColors(TiffHeader* header) {
  switch (Number(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK)) {
    case PHOTOMETRIC_MINISWHITE:
      header->colors = TiffColors::kInverseGray;
      break;
    case PHOTOMETRIC_MINISBLACK:
      header->colors = TiffColors::kGray;
      break;
    case PHOTOMETRIC_YCBCR:
      // Only the JPEG decoder gives RGB of it.
      if (Number(TIFFTAG_COMPRESSION, COMPRESSION_NONE) != COMPRESSION_JPEG) {
        return DataLossError("this TIFF file holds YCbCr values, which are not read; convert it");
      }
      TIFFSetField(tiff_.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
      header->colors = TiffColors::kRgb;
      break;
    case PHOTOMETRIC_RGB:
      header->colors = TiffColors::kRgb;
      break;
    case PHOTOMETRIC_PALETTE:
      header->colors = TiffColors::kPalette;
      ReadPalette(header);
      break;
    default:
      return DataLossError(
          "the colours of this TIFF file are neither gray nor RGB nor a palette; "
          "convert it");
  }
  uint16_t extra = 0;
  uint16_t* kinds = nullptr;
  if (TIFFGetField(tiff_.get(), TIFFTAG_EXTRASAMPLES, &extra, &kinds) != 0 && extra > 0) {
    header->last_band_is_alpha = kinds[extra - 1] != EXTRASAMPLE_UNSPECIFIED;
    header->alpha_is_in_colors = kinds[extra - 1] == EXTRASAMPLE_ASSOCALPHA;
  }
  return OkStatus();
}

void TiffReader::ReadPalette(TiffHeader* header) {
  uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
  if (header->bits > 8 || TIFFGetField(tiff_.get(), TIFFTAG_COLORMAP, &red, &green, &blue) == 0) {
    return;
  }
  const size_t count = size_t{1} << header->bits;
  // Levels have 16 bits; some programs write 8.
  uint32_t all = 0;
  for (size_t i = 0; i < count; ++i) all |= uint32_t{red[i]} | green[i] | blue[i];
  const int shift = all > 255 ? 8 : 0;
  for (size_t i = 0; i < count; ++i) {
    header->palette.push_back((uint32_t{red[i]} >> shift) << 16 |
                              (uint32_t{green[i]} >> shift) << 8 | uint32_t{blue[i]} >> shift);
  }
}

// The tag is not one of libtiff's own, which gives its text with a count.
void TiffReader::ReadNoData(TiffHeader* header) {
  constexpr ttag_t kGdalNoData = 42113;
  uint32_t bytes = 0;
  const char* text = nullptr;
  if (TIFFFindField(tiff_.get(), kGdalNoData, TIFF_ASCII) == nullptr ||
      TIFFGetField(tiff_.get(), kGdalNoData, &bytes, &text) == 0 || text == nullptr) {
    return;
  }
  const std::string number(text, strnlen(text, bytes));
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (end != number.c_str()) header->no_data = value;
}

Status TiffReader::ReadSampleForm(TiffHeader* header) {
  const uint32_t bands = Number(TIFFTAG_SAMPLESPERPIXEL, 1);
  header->bits = static_cast<int>(Number(TIFFTAG_BITSPERSAMPLE, 1));
  if (bands < 1 || bands > kMaxBands) {
    return DataLossError("this TIFF file has " + std::to_string(bands) + " bands");
  }
  header->bands = static_cast<int>(bands);
  switch (Number(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT)) {
    case SAMPLEFORMAT_UINT:
    case SAMPLEFORMAT_VOID:
      header->samples = TiffSamples::kUnsigned;
      break;
    case SAMPLEFORMAT_INT:
      header->samples = TiffSamples::kSigned;
      break;
    case SAMPLEFORMAT_IEEEFP:
      header->samples = TiffSamples::kFloat;
      break;
    default:
      return DataLossError("the samples of this TIFF file are complex numbers");
  }
  const bool is_float = header->samples == TiffSamples::kFloat;
  const int bits = header->bits;
  const bool whole = bits == 8 || bits == 16 || bits == 32;
  const bool packed = bits == 1 || bits == 2 || bits == 4;
  if (is_float ? bits == 32 : whole || (packed && bands == 1)) return OkStatus();
  return DataLossError("the samples of this TIFF file have " + std::to_string(bits) +
                       (is_float ? " bits of floating point" : " bits") +
                       ", which are not read; convert it");
}

// Some of them may be lossless too, and do not say so in the header.
bool IsLossyCompression(uint32_t compression) {
  switch (compression) {
    case COMPRESSION_OJPEG:
    case COMPRESSION_JPEG:
    case COMPRESSION_JP2000:
    case COMPRESSION_LERC:
    case COMPRESSION_WEBP:
      return true;
    default:
      return false;
  }
}

Result<TiffHeader> TiffReader::ReadHeader() {
  if (tiff_ == nullptr) return Damaged();
  RETURN_IF_ERROR(GoToPicture());
  TiffHeader header;
  if (TIFFGetField(tiff_.get(), TIFFTAG_IMAGELENGTH, &header.height) == 0 ||
      TIFFGetField(tiff_.get(), TIFFTAG_IMAGEWIDTH, &header.width) == 0 || header.height == 0 ||
      header.width == 0) {
    return Damaged();
  }
  RETURN_IF_ERROR(CheckCompression());
  RETURN_IF_ERROR(ReadSampleForm(&header));
  RETURN_IF_ERROR(ReadColors(&header));
  const uint32_t orientation = Number(TIFFTAG_ORIENTATION, 1);
  header.broken_orientation = file_.bad_orientation || orientation < 1 || orientation > 8;
  if (!header.broken_orientation) header.orientation = static_cast<int>(orientation);
  ReadNoData(&header);
  header.may_be_lossy = IsLossyCompression(Number(TIFFTAG_COMPRESSION, COMPRESSION_NONE));
  return header;
}

// Copies samples of one row, `count` of them, to every `step`-th place of `out`.
void PutSamples(const uint8_t* in, const TiffHeader& header, size_t first, size_t count,
                size_t step, uint8_t* out) {
  const auto bytes = static_cast<size_t>(TiffSampleBytes(header));
  if (header.bits < 8) {
    const size_t per_byte = 8 / static_cast<size_t>(header.bits);
    const auto mask = static_cast<uint8_t>((1 << header.bits) - 1);
    for (size_t i = 0; i < count; ++i) {
      const size_t at = first + i;
      const size_t shift = 8 - static_cast<size_t>(header.bits) * (at % per_byte + 1);
      out[i * step] = static_cast<uint8_t>(in[at / per_byte] >> shift) & mask;
    }
  } else if (step == 1) {
    std::memcpy(out, in + first * bytes, count * bytes);
  } else {
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(out + i * step * bytes, in + (first + i) * bytes, bytes);
    }
  }
}

Status TiffReader::ReadStrips(const TiffHeader& header, std::vector<uint8_t>* out) {
  const bool separate = Number(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  const auto bands = static_cast<size_t>(header.bands);
  const auto bytes = static_cast<size_t>(TiffSampleBytes(header));
  const size_t planes = separate ? bands : 1, in_plane = bands / planes;
  const size_t samples = header.width * in_plane;
  const tmsize_t row_bytes = TIFFScanlineSize(tiff_.get());
  const size_t needed = (samples * static_cast<size_t>(header.bits) + 7) / 8;
  if (row_bytes <= 0 || static_cast<size_t>(row_bytes) < needed) return Damaged();
  std::vector<uint8_t> row(static_cast<size_t>(row_bytes));
  for (size_t plane = 0; plane < planes; ++plane) {
    for (uint32_t y = 0; y < header.height; ++y) {
      if (TIFFReadScanline(tiff_.get(), row.data(), y, static_cast<uint16_t>(plane)) < 0) {
        return Damaged();
      }
      PutSamples(row.data(), header, 0, samples, planes,
                 out->data() + (size_t{y} * header.width * bands + plane) * bytes);
    }
  }
  return OkStatus();
}

Status TiffReader::ReadTiles(const TiffHeader& header, std::vector<uint8_t>* out) {
  const bool separate = Number(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  const auto bands = static_cast<size_t>(header.bands);
  const auto bytes = static_cast<size_t>(TiffSampleBytes(header));
  const size_t planes = separate ? bands : 1, in_plane = bands / planes;
  uint32_t height = 0, width = 0;
  TIFFGetField(tiff_.get(), TIFFTAG_TILELENGTH, &height);
  TIFFGetField(tiff_.get(), TIFFTAG_TILEWIDTH, &width);
  const tmsize_t tile_bytes = TIFFTileSize(tiff_.get()), row_bytes = TIFFTileRowSize(tiff_.get());
  const size_t needed = (size_t{width} * in_plane * static_cast<size_t>(header.bits) + 7) / 8;
  if (height == 0 || width == 0 || row_bytes <= 0 || static_cast<size_t>(row_bytes) < needed ||
      tile_bytes / row_bytes < static_cast<tmsize_t>(height)) {
    return Damaged();
  }
  // A tile may be larger than a small picture, but not by any number that a file gives.
  constexpr size_t kLargeTile = size_t{64} << 20;
  if (static_cast<size_t>(tile_bytes) > std::max(kLargeTile, 4 * out->size())) return Damaged();
  std::vector<uint8_t> tile(static_cast<size_t>(tile_bytes));
  for (size_t plane = 0; plane < planes; ++plane) {
    for (uint64_t y = 0; y < header.height; y += height) {
      for (uint64_t x = 0; x < header.width; x += width) {
        if (TIFFReadTile(tiff_.get(), tile.data(), static_cast<uint32_t>(x),
                         static_cast<uint32_t>(y), 0, static_cast<uint16_t>(plane)) < 0) {
          return Damaged();
        }
        const uint64_t rows = std::min<uint64_t>(height, header.height - y);
        const size_t samples = std::min<uint64_t>(width, header.width - x) * in_plane;
        for (uint64_t row = 0; row < rows; ++row) {
          PutSamples(tile.data() + row * static_cast<size_t>(row_bytes), header, 0, samples, planes,
                     out->data() + (((y + row) * header.width + x) * bands + plane) * bytes);
        }
      }
    }
  }
  return OkStatus();
}

Status TiffReader::ReadSamples(const TiffHeader& header, std::vector<uint8_t>* out) {
  out->resize(uint64_t{header.height} * header.width * static_cast<uint64_t>(header.bands) *
              static_cast<uint64_t>(TiffSampleBytes(header)));
  const Status status =
      TIFFIsTiled(tiff_.get()) != 0 ? ReadTiles(header, out) : ReadStrips(header, out);
  // Some decoders report damage and go on.
  return status.ok() && !file_.error.empty() ? Damaged() : status;
}

}  // namespace

int TiffSampleBytes(const TiffHeader& header) { return std::max(1, header.bits / 8); }

Result<TiffHeader> ReadTiffHeader(std::string_view file) { return TiffReader(file).ReadHeader(); }

Status ReadTiffSamples(std::string_view file, const TiffHeader& header, std::vector<uint8_t>* out) {
  TiffReader reader(file);
  // The form of the samples depends on what reading the header sets up.
  RETURN_IF_ERROR(reader.ReadHeader().status());
  return reader.ReadSamples(header, out);
}

}  // namespace shardmill
