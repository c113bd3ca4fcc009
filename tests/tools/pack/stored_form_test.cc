#include "tools/pack/stored_form.h"

#include <gtest/gtest.h>

#include "tests/tools/pack/image_files.h"

namespace shardmill {
namespace {

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
