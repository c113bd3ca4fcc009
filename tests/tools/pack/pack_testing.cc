#include "tests/tools/pack/pack_testing.h"

#include <cstring>

#include "proto/record_meta.pb.h"
#include "reader/dataset.h"

namespace shardmill {
namespace {

std::string TestName() {
  const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
  return std::string(info->test_suite_name()) + "-" + info->name();
}

}  // namespace

std::string GrayPng(ImageSize size, const std::vector<int>& ids) {
  return Png(MakeImage(size, 1, [&](int y, int x, int) {
    return ids[(static_cast<size_t>(y) * size.width + static_cast<size_t>(x)) % ids.size()];
  }));
}

std::string RgbPng(ImageSize size, const std::vector<uint32_t>& colors) {
  return Png(MakeImage(size, 3, [&](int y, int x, int c) {
    const size_t place = static_cast<size_t>(y) * size.width + static_cast<size_t>(x);
    return static_cast<int>((colors[place % colors.size()] >> (16 - 8 * c)) & 255);
  }));
}

PackTest::PackTest() : source_(TestName() + "-source"), output_(TestName() + "-output") {
  options_.source = source_.path();
  options_.output = output_.path();
  options_.jobs = 1;
  options_.overwrite = true;
}

void PackTest::AddImage(const std::string& path) {
  source_.Write(path, Jpeg(Photo(kSize, path.size()), 90));
}

Result<int> PackTest::Pack() {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Result<int> result = RunPackJob(options_, ReportStyle::kText);
  out_ = testing::internal::GetCapturedStdout();
  error_ = testing::internal::GetCapturedStderr();
  return result;
}

void PackTest::ExpectPacked() {
  Result<int> result = Pack();
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(*result, 0) << out_ << error_;
}

void PackTest::ExpectLayout(const std::string& name) {
  ExpectPacked();
  EXPECT_NE(error_.find("taken for layout " + name + ": "), std::string::npos) << error_;
  ReadLabels();
  EXPECT_EQ(manifest_.recipe().layout(), name);
}

void PackTest::ExpectError(StatusCode code, const std::string& text) {
  const Status status = Pack().status();
  EXPECT_EQ(status.code(), code) << status.ToString();
  EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
}

PackTest::Labels PackTest::ReadLabels(const std::string& split) {
  Labels labels;
  auto dataset = Dataset::Open(output_.path());
  EXPECT_TRUE(dataset.ok()) << dataset.status().ToString();
  if (!dataset.ok()) return labels;
  manifest_ = (*dataset)->manifest();
  ReadScratch scratch;
  for (const proto::Split& each : manifest_.splits()) {
    if (!split.empty() && each.name() != split) continue;
    const Dataset::Split* opened = *(*dataset)->split(each.name());
    for (uint64_t i = 0; i < opened->records(); ++i) {
      auto [shard, record] = opened->Locate(i);
      const FieldSpec& field = shard->schema().fields[1];
      std::vector<uint8_t> bytes(field.TensorBytes());
      EXPECT_TRUE(shard->Read(record, 1, bytes.data(), bytes.size(), &scratch).ok());
      std::vector<int>& values = labels[shard->ReadMeta(record)->key()];
      for (size_t at = 0; at < bytes.size(); at += DTypeBytes(field.dtype)) {
        uint16_t wide = bytes[at];
        if (field.dtype == DType::kU16) std::memcpy(&wide, &bytes[at], sizeof wide);
        values.push_back(wide);
      }
    }
  }
  return labels;
}

std::vector<int> PackTest::FirstValues(const std::string& key, size_t count) {
  std::vector<int> values = ReadLabels()[key];
  values.resize(std::min(values.size(), count));
  return values;
}

std::string PackTest::RecipeOption(const std::string& name) {
  for (const proto::Recipe::Option& option : manifest_.recipe().options()) {
    if (option.name() == name) return option.value();
  }
  return "(missing)";
}

std::vector<std::string> PackTest::ClassNames() {
  std::vector<std::string> names;
  for (const proto::ClassInfo& info : manifest_.classes()) names.push_back(info.name());
  return names;
}

}  // namespace shardmill
