// Packs a folder with the real packer and reads the labels back.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/status.h"
#include "tests/tools/pack/image_files.h"
#include "tools/pack/pack_job.h"

namespace shardmill {

// Gray label of the given ids; `ids` are repeated until the image is full.
std::string GrayPng(ImageSize size, const std::vector<int>& ids);
// The same in the colours 0xRRGGBB.
std::string RgbPng(ImageSize size, const std::vector<uint32_t>& colors);

class PackTest : public testing::Test {
 protected:
  PackTest();

  // A JPEG image, and a label beside it, of 4 high × 6 wide.
  void AddImage(const std::string& path);
  static constexpr ImageSize kSize = {4, 6};

  // Packs source_ into output_; prints nothing.
  Result<int> Pack();
  void ExpectPacked();
  // Packed by this layout, which was found by itself.
  void ExpectLayout(const std::string& name);
  // The pack ends with this error, whose text holds `text`.
  void ExpectError(StatusCode code, const std::string& text);

  // What was stored: label values by key, of all splits or one.
  using Labels = std::map<std::string, std::vector<int>>;
  Labels ReadLabels(const std::string& split = "");
  // The first values of a record's label.
  std::vector<int> FirstValues(const std::string& key, size_t count);
  std::string RecipeOption(const std::string& name);
  std::vector<std::string> ClassNames();

  TestFolder source_, output_;
  PackOptions options_;
  proto::Manifest manifest_;  // of the last pack
  std::string out_, error_;   // what it printed
};

}  // namespace shardmill
