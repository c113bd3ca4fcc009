#include "tools/pack/labels/one_hot.h"

#include <gtest/gtest.h>

#include <cstring>

#include "reader/label_expand.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

TEST(OneHot, BitsLieAsTheFormatSays) {
  const uint8_t ids[] = {0, 9, 255};
  std::vector<uint8_t> out;
  EncodeOneHot(LabelEncoding::kOneHotBits, DType::kU8, ids, 3, 10, &out);
  EXPECT_EQ(out, (std::vector<uint8_t>{1, 0, 0, 2, 0, 0}));
  EncodeOneHot(LabelEncoding::kOneHotBytes, DType::kU8, ids, 3, 10, &out);
  EXPECT_EQ(out.size(), 30u);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[19], 1);
  EXPECT_EQ(out[10], 0);
}

// What is encoded here, the loader's expander turns back into the ids.
TEST(OneHot, ExpanderGivesTheIdsBack) {
  for (LabelEncoding encoding : {LabelEncoding::kOneHotBits, LabelEncoding::kOneHotBytes}) {
    for (uint32_t classes : {1u, 2u, 8u, 9u, 255u, 300u}) {
      RecordSchema schema;
      for (uint32_t i = 0; i < classes; ++i) schema.classes.push_back({i, std::to_string(i), {}});
      schema.ignore = classes <= 255 ? 255 : 65535;
      const DType dtype = *schema.ignore == 255 ? DType::kU8 : DType::kU16;
      const int64_t last =
          encoding == LabelEncoding::kOneHotBits ? (classes + 7) / 8 : int64_t{classes};
      FieldSpec field = {"label", DType::kU8, {5, 7, last}, Codec::kRaw, Role::kClassMap, encoding};
      schema.fields = {field};
      RandomStream random(classes);
      std::vector<uint8_t> ids(35 * DTypeBytes(dtype)), stored, back(ids.size());
      for (size_t i = 0; i < 35; ++i) {
        uint64_t id = random.Chance(0.2) ? *schema.ignore : random.Below(classes);
        std::memcpy(&ids[i * DTypeBytes(dtype)], &id, DTypeBytes(dtype));
      }
      EncodeOneHot(encoding, dtype, ids.data(), 35, classes, &stored);
      auto expander = LabelExpander::Create(field, schema, Delivery::kIndex);
      ASSERT_TRUE(expander.ok()) << expander.status().ToString();
      Status status = expander->Expand(stored.data(), back.data());
      ASSERT_TRUE(status.ok()) << status.ToString();
      EXPECT_EQ(back, ids) << classes;
    }
  }
}

}  // namespace
}  // namespace shardmill
