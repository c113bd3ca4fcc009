#include "tools/pack/inputs/npy_file.h"

#include <cmath>
#include <cstring>
#include <optional>

#include "reader/base/little_endian.h"

namespace shardmill {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr uint64_t kMaxHeaderBytes = uint64_t{1} << 20;
constexpr uint64_t kMaxDim = uint64_t{1} << 31;

struct TypeRow {
  std::string_view name;  // without the byte order
  NpyType type;
  uint64_t bytes;  // in the file
  DType dtype;
};
constexpr TypeRow kTypes[] = {
    {"b1", NpyType::kBool, 1, DType::kU8}, {"i1", NpyType::kI8, 1, DType::kI32},
    {"u1", NpyType::kU8, 1, DType::kU8},   {"i2", NpyType::kI16, 2, DType::kI32},
    {"u2", NpyType::kU16, 2, DType::kU16}, {"i4", NpyType::kI32, 4, DType::kI32},
    {"u4", NpyType::kU32, 4, DType::kI64}, {"i8", NpyType::kI64, 8, DType::kI64},
    {"f2", NpyType::kF16, 2, DType::kF16}, {"f4", NpyType::kF32, 4, DType::kF32},
    {"f8", NpyType::kF64, 8, DType::kF32}};

const TypeRow& RowOf(NpyType type) { return kTypes[static_cast<size_t>(type)]; }

Status BadHeader(const std::string& what) {
  return DataLossError("damaged .npy file: its header " + what);
}

// Walks through the text of a header: a Python dictionary with three keys.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : text_(text) {}

  // Skips blanks, and the character when it comes next.
  bool Take(char wanted) {
    SkipBlanks();
    if (text_.empty() || text_[0] != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::optional<std::string_view> TakeQuoted() {
    SkipBlanks();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return std::nullopt;
    const size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view inside = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return inside;
  }
  bool TakeWord(std::string_view word) {
    SkipBlanks();
    if (text_.substr(0, word.size()) != word) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  // Below kMaxDim; Python 2 wrote an L behind it.
  std::optional<uint32_t> TakeNumber() {
    SkipBlanks();
    uint64_t number = 0;
    size_t digits = 0;
    for (; digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9'; ++digits) {
      number = number * 10 + static_cast<uint64_t>(text_[digits] - '0');
      if (number >= kMaxDim) return std::nullopt;
    }
    if (digits == 0) return std::nullopt;
    text_.remove_prefix(digits);
    Take('L');
    return static_cast<uint32_t>(number);
  }
  bool AtEnd() {
    SkipBlanks();
    return text_.empty();
  }

 private:
  void SkipBlanks() {
    const size_t first = text_.find_first_not_of(" \t\n");
    text_.remove_prefix(first == std::string_view::npos ? text_.size() : first);
  }
  std::string_view text_;
};

Status ParseType(HeaderText* text, NpyHeader* header) {
  const std::optional<std::string_view> descr = text->TakeQuoted();
  if (!descr || descr->size() < 2) {
    return DataLossError("this .npy file holds records, not numbers; save each column by itself");
  }
  const char order = descr->front();
  const bool known_order = order == '<' || order == '>' || order == '|';
  const std::string_view name = known_order ? descr->substr(1) : std::string_view();
  header->big_endian = order == '>';
  for (const TypeRow& row : kTypes) {
    if (row.name != name) continue;
    header->type = row.type;
    return OkStatus();
  }
  return DataLossError("this .npy file holds values of type " + std::string(*descr) +
                       "; bool, i1 to i8, u1 to u4 and f2 to f8 can be packed");
}

Status ParseShape(HeaderText* text, NpyHeader* header) {
  if (!text->Take('(')) return BadHeader("has no shape");
  header->shape.clear();
  while (!text->Take(')')) {
    const std::optional<uint32_t> dim = text->TakeNumber();
    if (!dim) return BadHeader("has a shape that cannot be read");
    header->shape.push_back(*dim);
    if (header->shape.size() > kMaxRank) return BadHeader("has more than 8 dimensions");
    if (text->Take(',')) continue;
    return text->Take(')') ? OkStatus() : BadHeader("has a shape without an end");
  }
  return OkStatus();
}

Status ParseEntry(HeaderText* text, NpyHeader* header, uint32_t* seen) {
  const std::optional<std::string_view> key = text->TakeQuoted();
  if (!key || !text->Take(':')) return BadHeader("is no dictionary");
  if (*key == "descr") {
    *seen |= 1;
    return ParseType(text, header);
  }
  if (*key == "shape") {
    *seen |= 2;
    return ParseShape(text, header);
  }
  if (*key != "fortran_order") return BadHeader("has an unknown key");
  *seen |= 4;
  header->fortran_order = text->TakeWord("True");
  return header->fortran_order || text->TakeWord("False") ? OkStatus() : BadHeader("has no order");
}

Status ParseDictionary(std::string_view dictionary, NpyHeader* header) {
  HeaderText text(dictionary);
  uint32_t seen = 0;
  if (!text.Take('{')) return BadHeader("is no dictionary");
  while (!text.Take('}')) {
    RETURN_IF_ERROR(ParseEntry(&text, header, &seen));
    if (!text.Take(',') && text.AtEnd()) return BadHeader("has no end");
  }
  if (seen != 7 || !text.AtEnd()) return BadHeader("lacks a key, or goes on behind its end");
  return OkStatus();
}

// The size of the array in the file.
Status CheckDataBytes(const NpyHeader& header, uint64_t file_bytes) {
  uint64_t bytes = RowOf(header.type).bytes;
  for (const uint32_t dim : header.shape) {
    if (__builtin_mul_overflow(bytes, dim, &bytes) || bytes > kMaxRecordBytes) {
      return DataLossError("this .npy file says more than " + std::to_string(kMaxRecordBytes) +
                           " bytes");
    }
  }
  const uint64_t found = file_bytes - header.data_offset;
  if (bytes == found) return OkStatus();
  return DataLossError("damaged .npy file: it has " + std::to_string(found) +
                       " bytes of data, its header says " + std::to_string(bytes));
}

// One number of the file, in the machine's byte order, in the low bytes.
uint64_t LoadElement(const uint8_t* in, uint64_t bytes, bool big_endian) {
  uint64_t value = 0;
  for (uint64_t i = 0; i < bytes; ++i) {
    value = value << 8 | in[big_endian ? i : bytes - 1 - i];
  }
  return value;
}

// Not by comparison with the largest f32: numbers a little beyond it are rounded to it.
bool BecomesInfinite(double wide) {
  return std::isfinite(wide) && std::isinf(static_cast<float>(wide));
}

double LoadDouble(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void StoreConverted(NpyType type, uint64_t bits, uint8_t* out) {
  switch (type) {
    case NpyType::kBool:
      *out = bits != 0 ? 1 : 0;
      return;
    case NpyType::kU8:
      *out = static_cast<uint8_t>(bits);
      return;
    case NpyType::kI8:
      return StoreU32(static_cast<uint32_t>(static_cast<int8_t>(bits)), out);
    case NpyType::kI16:
      return StoreU32(static_cast<uint32_t>(static_cast<int16_t>(bits)), out);
    case NpyType::kU16:
    case NpyType::kF16:
      out[0] = static_cast<uint8_t>(bits);
      out[1] = static_cast<uint8_t>(bits >> 8);
      return;
    case NpyType::kI32:
    case NpyType::kF32:
      return StoreU32(static_cast<uint32_t>(bits), out);
    case NpyType::kU32:
    case NpyType::kI64:
      return StoreU64(bits, out);
    case NpyType::kF64: {
      const auto narrow = static_cast<float>(LoadDouble(bits));
      uint32_t narrow_bits;
      std::memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
      return StoreU32(narrow_bits, out);
    }
  }
}

// NaN and infinity have all bits of the exponent set.
uint64_t CountNotFinite(DType dtype, const std::vector<uint8_t>& array) {
  constexpr uint32_t kExponentF32 = 0x7F800000, kExponentF16 = 0x7C00;
  uint64_t count = 0;
  if (dtype == DType::kF32) {
    for (size_t i = 0; i < array.size(); i += 4) {
      count += (LoadU32(&array[i]) & kExponentF32) == kExponentF32;
    }
  } else if (dtype == DType::kF16) {
    for (size_t i = 0; i < array.size(); i += 2) {
      count += ((array[i] | array[i + 1] << 8) & kExponentF16) == kExponentF16;
    }
  }
  return count;
}

// How far apart in the file neighbours along each dimension are, in elements.
std::vector<uint64_t> FileStrides(const NpyHeader& header) {
  std::vector<uint64_t> strides(header.shape.size());
  uint64_t stride = 1;
  for (size_t i = 0; i < strides.size(); ++i) {
    const size_t d = header.fortran_order ? i : strides.size() - 1 - i;
    strides[d] = stride;
    stride *= header.shape[d];
  }
  return strides;
}

}  // namespace

DType NpyHeader::dtype() const { return RowOf(type).dtype; }

uint64_t NpyHeader::elements() const {
  uint64_t count = 1;
  for (const uint32_t dim : shape) count *= dim;
  return count;
}

Result<NpyHeader> ParseNpyHeader(std::string_view start, uint64_t file_bytes) {
  if (start.substr(0, kMagic.size()) != kMagic || start.size() < 12) {
    return DataLossError("this is no .npy file");
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(start.data());
  const uint8_t version = bytes[6];
  if (version < 1 || version > 3) {
    return DataLossError("a .npy file of version " + std::to_string(version) +
                         "; 1 to 3 can be read");
  }
  const uint64_t text_offset = version == 1 ? 10 : 12;
  const uint64_t text_bytes = version == 1 ? bytes[8] | bytes[9] << 8 : LoadU32(bytes + 8);
  if (text_bytes > kMaxHeaderBytes || text_offset + text_bytes > file_bytes) {
    return BadHeader("says a size of " + std::to_string(text_bytes) + " bytes");
  }
  if (text_offset + text_bytes > start.size()) {
    return InvalidArgumentError("the header of the .npy file is longer than what was read");
  }
  NpyHeader header;
  RETURN_IF_ERROR(ParseDictionary(start.substr(text_offset, text_bytes), &header));
  header.data_offset = text_offset + text_bytes;
  RETURN_IF_ERROR(CheckDataBytes(header, file_bytes));
  if (header.shape.empty()) header.shape = {1};
  return header;
}

NpyNumbers CopyNpyArray(const NpyHeader& header, std::string_view file, std::vector<uint8_t>* out) {
  NpyNumbers numbers;
  const TypeRow& row = RowOf(header.type);
  const uint64_t elements = header.elements(), out_bytes = DTypeBytes(row.dtype);
  SHARDMILL_CHECK(header.data_offset + elements * row.bytes <= file.size());
  out->resize(elements * out_bytes);
  const auto* data = reinterpret_cast<const uint8_t*>(file.data()) + header.data_offset;
  const bool as_stored = row.bytes == out_bytes && row.type != NpyType::kBool &&
                         !header.big_endian && !header.fortran_order;
  if (as_stored) {
    if (elements > 0) std::memcpy(out->data(), data, out->size());
    numbers.not_finite = CountNotFinite(row.dtype, *out);
    return numbers;
  }
  const std::vector<uint64_t> strides = FileStrides(header);
  std::vector<uint32_t> index(header.shape.size(), 0);
  uint64_t from = 0;
  for (uint64_t i = 0; i < elements; ++i) {
    const uint64_t bits = LoadElement(data + from * row.bytes, row.bytes, header.big_endian);
    StoreConverted(header.type, bits, out->data() + i * out_bytes);
    if (header.type == NpyType::kF64 && BecomesInfinite(LoadDouble(bits)) &&
        numbers.too_large++ == 0) {
      numbers.first_too_large = LoadDouble(bits);
      numbers.first_too_large_at = index;
    }
    for (size_t d = index.size(); d-- > 0;) {
      from += strides[d];
      if (++index[d] < header.shape[d]) break;
      from -= strides[d] * header.shape[d];
      index[d] = 0;
    }
  }
  numbers.not_finite = CountNotFinite(row.dtype, *out);
  return numbers;
}

}  // namespace shardmill
