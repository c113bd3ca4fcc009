#include "tools/pack/decode/gif_read.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/pack/decode/gif_builder.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

using Indices = std::vector<uint8_t>;

Result<Indices> Read(const std::string& gif) {
  // A copy of its own, so that the address sanitizer sees reads behind its end.
  const std::vector<char> exact(gif.begin(), gif.end());
  const std::string_view file(exact.data(), exact.size());
  ASSIGN_OR_RETURN(const GifHeader header, ReadGifHeader(file));
  Indices indices;
  RETURN_IF_ERROR(ReadGifIndices(file, header, &indices));
  return indices;
}

void ExpectDamage(const std::string& gif, const std::string& text) {
  const Status status = Read(gif).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
}

Indices RandomIndices(size_t count, uint32_t colors, uint32_t longest_run) {
  RandomStream random(count + colors);
  Indices indices;
  while (indices.size() < count) {
    const auto index = static_cast<uint8_t>(random.Below(colors));
    const size_t run = 1 + random.Below(longest_run);
    indices.insert(indices.end(), std::min(run, count - indices.size()), index);
  }
  return indices;
}

// Codes that were made by hand: lengths grow from 3 bits, and some codes mean what they define.
TEST(GifRead, CodesOfAKnownPictureAreUnderstood) {
  const unsigned char codes[] = {0x8C, 0x2D, 0x99, 0x87, 0x2A, 0x1C, 0xDC, 0x33, 0xA0, 0x02, 0x75,
                                 0xEC, 0x95, 0xFA, 0xA8, 0xDE, 0x60, 0x8C, 0x04, 0x91, 0x4C, 0x01};
  GifForm form;
  form.height = form.width = 10;
  form.palette = {0xFFFFFF, 0xFF0000, 0x0000FF, 0x000000};
  form.literal_bits = 2;
  const std::string gif =
      BuildGifAround(form, std::string(reinterpret_cast<const char*>(codes), sizeof codes));
  Indices expected;
  for (const char* row : {"1111122222", "1111122222", "1111122222", "1110000222", "1110000222",
                          "2220000111", "2220000111", "2222211111", "2222211111", "2222211111"}) {
    for (int x = 0; x < 10; ++x) expected.push_back(static_cast<uint8_t>(row[x] - '0'));
  }
  const Result<Indices> indices = Read(gif);
  ASSERT_TRUE(indices.ok()) << indices.status().ToString();
  EXPECT_EQ(*indices, expected);
  const Result<GifHeader> header = ReadGifHeader(gif);
  EXPECT_EQ(header->palette, form.palette);
  EXPECT_FALSE(header->transparent_index.has_value());
  EXPECT_EQ(ReadGifHeader(gif + "tail")->stray_bytes, 4u);
}

// Up to tables that are full, with pictures of one index and of noise.
TEST(GifRead, PicturesOfAllDepthsComeBack) {
  for (int bits = 1; bits <= 8; ++bits) {
    for (uint32_t run : {1u, 40u}) {
      GifForm form;
      form.height = 97;
      form.width = 151;
      form.palette.assign(size_t{1} << bits, 0x102030);
      form.literal_bits = std::max(2, bits);
      form.local_palette = run == 1;
      form.transparent = run == 1 ? 1 : -1;
      const Indices rows = RandomIndices(97 * 151, 1u << bits, run);
      const std::string gif = BuildGif(form, rows);
      const Result<Indices> indices = Read(gif);
      ASSERT_TRUE(indices.ok()) << bits << ": " << indices.status().ToString();
      EXPECT_EQ(*indices, rows) << bits;
      EXPECT_EQ(ReadGifHeader(gif)->transparent_index.has_value(), run == 1);
      EXPECT_EQ(ReadGifHeader(gif)->palette.size(), size_t{1} << bits);
    }
  }
}

TEST(GifRead, InterlacedRowsComeInTheirOrder) {
  GifForm form;
  form.height = 11;
  form.width = 2;
  form.palette.assign(16, 0);
  form.literal_bits = 4;
  form.interlaced = true;
  Indices stored;
  for (uint8_t row : {0, 8, 4, 2, 6, 10, 1, 3, 5, 7, 9}) stored.insert(stored.end(), 2, row);
  const Result<Indices> indices = Read(BuildGif(form, stored));
  ASSERT_TRUE(indices.ok()) << indices.status().ToString();
  for (size_t i = 0; i < indices->size(); ++i) EXPECT_EQ((*indices)[i], i / 2);
}

TEST(GifRead, WhatIsNotOneWholePictureIsRefused) {
  GifForm form;
  form.height = 4;
  form.width = 5;
  form.palette.assign(4, 0);
  form.literal_bits = 2;
  const Indices rows = RandomIndices(20, 4, 1);
  form.pictures = 2;
  ExpectDamage(BuildGif(form, rows), "an animated GIF holds several pictures");
  form.pictures = 0;
  ExpectDamage(BuildGif(form, rows), "it holds no picture");
  form.pictures = 1;
  form.left = 1;
  ExpectDamage(BuildGif(form, rows), "does not cover its canvas");
  form.left = 0;
  ExpectDamage(BuildGif(form, Indices(rows.begin(), rows.end() - 1)), "pixels are missing");
  form.literal_bits = 9;
  ExpectDamage(BuildGifAround(form, "x"), "an impossible length");
  form.literal_bits = 2;
  ExpectDamage(BuildGifAround(form, "\x3C"), "a code has no meaning");
}

TEST(GifRead, EveryCutAndFlipIsDamageOrAPicture) {
  GifForm form;
  form.height = 6;
  form.width = 9;
  form.palette.assign(4, 0x0A0B0C);
  form.literal_bits = 2;
  const std::string whole = BuildGif(form, RandomIndices(54, 4, 2));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(Read(whole.substr(0, size)).status().code(), StatusCode::kDataLoss) << size;
  }
  for (size_t i = 6; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ 1 << bit);
      const Result<GifHeader> header = ReadGifHeader(flipped);
      if (!header.ok() || header->height > 300 || header->width > 300) continue;
      const Result<Indices> indices = Read(flipped);
      const uint64_t pixels = uint64_t{header->height} * header->width;
      EXPECT_TRUE(!indices.ok() || indices->size() == pixels) << i << " bit " << bit;
    }
  }
}

}  // namespace
}  // namespace shardmill
