#include "tools/pack/stored_form.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/tools/pack/image_files.h"

namespace shardmill {
namespace {

void Append(uint64_t value, int bytes, bool big_endian, std::string* out) {
  for (int i = 0; i < bytes; ++i) {
    const int shift = 8 * (big_endian ? bytes - 1 - i : i);
    out->push_back(static_cast<char>(value >> shift));
  }
}

// The head of a TIFF file: 16-bit entries (tag, value), then the offset of the next page.
std::string TiffHead(bool big_endian, bool big,
                     const std::vector<std::pair<uint64_t, uint64_t>>& entries, uint64_t next) {
  std::string file = big_endian ? "MM" : "II";
  auto put = [&](uint64_t value, int bytes) { Append(value, bytes, big_endian, &file); };
  put(big ? 43 : 42, 2);
  if (big) put(8, 2);  // bytes of an offset, and two without meaning
  if (big) put(0, 2);
  const int offset = big ? 8 : 4;
  put(big ? 16 : 8, offset);
  put(entries.size(), big ? 8 : 2);
  for (const auto& [tag, value] : entries) {
    put(tag, 2);
    put(3, 2);
    put(1, offset);
    put(value, 2);
    put(0, offset - 2);
  }
  put(next, offset);
  return file;
}

TEST(StoredForm, TiffHeadersOfAllKindsAreRead) {
  for (bool big_endian : {false, true}) {
    for (bool big : {false, true}) {
      auto read = [&](uint64_t bits, uint64_t photometric, uint64_t next) {
        return ReadStoredForm(TiffHead(big_endian, big, {{258, bits}, {262, photometric}}, next),
                              FileFormat::kTiff);
      };
      const StoredForm plain = read(8, 1, 0);
      EXPECT_FALSE(plain.several_pages || plain.palette || plain.few_bits);
      EXPECT_TRUE(read(8, 3, 0).palette);
      EXPECT_TRUE(read(1, 1, 0).few_bits);
      EXPECT_TRUE(read(8, 1, 4096).several_pages);
    }
  }
}

TEST(StoredForm, PagesOfAWrittenTiffAreSeen) {
  const TestImage color = Photo({5, 6}, 1);
  const StoredForm one = ReadStoredForm(Tiff({color}), FileFormat::kTiff);
  EXPECT_FALSE(one.several_pages || one.palette || one.few_bits);
  EXPECT_TRUE(ReadStoredForm(Tiff({color, color}), FileFormat::kTiff).several_pages);
}

TEST(StoredForm, CutTiffSaysNothingOfPages) {
  const std::string file = TiffHead(false, false, {{258, 8}, {262, 1}}, 4096);
  for (size_t bytes = 0; bytes < file.size(); ++bytes) {
    EXPECT_FALSE(ReadStoredForm(file.substr(0, bytes), FileFormat::kTiff).several_pages) << bytes;
  }
}

TEST(StoredForm, GrayBmpIsNoPalette) {
  std::string gray = Bmp(MakeImage({2, 2}, 1, [](int y, int x, int) { return y + x; }));
  EXPECT_FALSE(ReadStoredForm(gray, FileFormat::kBmp).palette);
  EXPECT_FALSE(ReadStoredForm(Bmp(Photo({2, 2}, 1)), FileFormat::kBmp).palette);
  gray[54 + 4] = 9;  // the blue of index 1
  EXPECT_TRUE(ReadStoredForm(gray, FileFormat::kBmp).palette);
}

TEST(StoredForm, BitmapsOfPnmHaveFewBits) {
  EXPECT_TRUE(ReadStoredForm("P1\n2 1\n0 1\n", FileFormat::kPnm).few_bits);
  EXPECT_TRUE(ReadStoredForm("P4\n2 1\n@", FileFormat::kPnm).few_bits);
  EXPECT_FALSE(ReadStoredForm("P5\n2 1\n255\n12", FileFormat::kPnm).few_bits);
}

}  // namespace
}  // namespace shardmill
