#include "reader/schema.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "proto/schema.pb.h"

namespace shardmill {
namespace {

RecordSchema Segmentation() {
  RecordSchema schema;
  schema.fields = {
      {"image", DType::kU8, {32, 48, 3}, Codec::kRaw, Role::kImage},
      {"label", DType::kU8, {32, 48}, Codec::kZstd, Role::kClassMap, LabelEncoding::kIndex}};
  for (uint32_t id = 0; id < 11; ++id) {
    schema.classes.push_back({id, "class " + std::to_string(id), id * 1000});
  }
  schema.ignore = 11;
  return schema;
}

Status Check(const RecordSchema& schema) {
  proto::ShardSchema message;
  RecordSchemaToProto(schema, &message);
  return RecordSchemaFromProto(message).status();
}

// The change must turn a sound schema into one that is refused.
template <typename Change>
void ExpectRefused(Change change, StatusCode code = StatusCode::kDataLoss) {
  RecordSchema schema = Segmentation();
  change(&schema);
  const Status status = Check(schema);
  EXPECT_EQ(status.code(), code) << status.ToString();
}

TEST(RecordSchema, ComesBackFromItsMessage) {
  proto::ShardSchema message;
  RecordSchemaToProto(Segmentation(), &message);
  const auto schema = RecordSchemaFromProto(message);
  ASSERT_TRUE(schema.ok()) << schema.status().ToString();
  proto::ShardSchema again;
  RecordSchemaToProto(*schema, &again);
  EXPECT_EQ(message.SerializeAsString(), again.SerializeAsString());
  EXPECT_EQ(schema->FindField("label"), 1);
  EXPECT_EQ(schema->FindField("depth"), std::nullopt);
  EXPECT_EQ(schema->FindRole(Role::kImage), 0);
  EXPECT_EQ(schema->FindRole(Role::kClassId), std::nullopt);
}

TEST(RecordSchema, NamesShapesAndCountsAreChecked) {
  ExpectRefused([](RecordSchema* s) { s->fields.clear(); });
  ExpectRefused([](RecordSchema* s) { s->fields[0].name = "a/b"; });
  ExpectRefused([](RecordSchema* s) { s->fields[1].name = "image"; });
  ExpectRefused([](RecordSchema* s) { s->fields[0].shape = {}; });
  ExpectRefused([](RecordSchema* s) { s->fields[0].shape = {32, 48}; });
  ExpectRefused([](RecordSchema* s) { s->fields[0].shape = {32, 0, 3}; });
  ExpectRefused([](RecordSchema* s) { s->fields[0].shape = {32, -2, 3}; });
  ExpectRefused([](RecordSchema* s) {
    s->fields[0].shape = {std::numeric_limits<int64_t>::max(), 2, 2};
  });
  ExpectRefused([](RecordSchema* s) { s->fields[0].shape = {1 << 20, 1 << 20, 2}; });
  ExpectRefused([](RecordSchema* s) { s->fields.resize(65, s->fields[0]); });
}

TEST(RecordSchema, ClassesAndIgnoreValueAreChecked) {
  ExpectRefused([](RecordSchema* s) { s->classes[3].id = 4; });
  ExpectRefused([](RecordSchema* s) { s->classes[3].name = ""; });
  ExpectRefused([](RecordSchema* s) { s->classes[3].name = "\xFF"; });
  ExpectRefused([](RecordSchema* s) { s->classes[3].color = 0x1000000; });
  ExpectRefused([](RecordSchema* s) { s->classes.clear(); });
  ExpectRefused([](RecordSchema* s) { s->ignore = 10; });
  ExpectRefused([](RecordSchema* s) { s->ignore = 65536; });
}

TEST(RecordSchema, LabelShapesFollowFromEncodingAndClasses) {
  const auto with_label = [](DType dtype, std::vector<int64_t> shape, Role role,
                             LabelEncoding encoding) {
    RecordSchema schema = Segmentation();
    schema.fields[1] = {"label", dtype, std::move(shape), Codec::kRaw, role, encoding};
    return Check(schema).ok();
  };
  EXPECT_TRUE(with_label(DType::kU8, {4, 4}, Role::kClassMap, LabelEncoding::kIndex));
  EXPECT_TRUE(with_label(DType::kU16, {-1, -1}, Role::kClassMap, LabelEncoding::kIndex));
  EXPECT_TRUE(with_label(DType::kU8, {4, 4, 2}, Role::kClassMap, LabelEncoding::kOneHotBits));
  EXPECT_TRUE(with_label(DType::kU8, {4, 4, 11}, Role::kClassMap, LabelEncoding::kOneHotBytes));
  EXPECT_TRUE(with_label(DType::kU8, {1}, Role::kClassId, LabelEncoding::kIndex));
  EXPECT_TRUE(with_label(DType::kU8, {2}, Role::kClassId, LabelEncoding::kOneHotBits));
  EXPECT_TRUE(with_label(DType::kU8, {11}, Role::kClassId, LabelEncoding::kOneHotBytes));

  EXPECT_FALSE(with_label(DType::kF32, {4, 4}, Role::kClassMap, LabelEncoding::kIndex));
  EXPECT_FALSE(with_label(DType::kU8, {4, 4, 1}, Role::kClassMap, LabelEncoding::kIndex));
  EXPECT_FALSE(with_label(DType::kU8, {4, 4, 1}, Role::kClassMap, LabelEncoding::kOneHotBits));
  EXPECT_FALSE(with_label(DType::kU8, {4, 4, -1}, Role::kClassMap, LabelEncoding::kOneHotBytes));
  EXPECT_FALSE(with_label(DType::kU16, {4, 4, 11}, Role::kClassMap, LabelEncoding::kOneHotBytes));
  EXPECT_FALSE(with_label(DType::kU8, {2}, Role::kClassId, LabelEncoding::kIndex));
  EXPECT_FALSE(with_label(DType::kU8, {4, 4}, Role::kClassMap, LabelEncoding::kNone));
  EXPECT_FALSE(with_label(DType::kU8, {4, 4}, Role::kTensor, LabelEncoding::kIndex));
}

TEST(RecordSchema, LargeIdsNeedSixteenBits) {
  RecordSchema schema = Segmentation();
  schema.ignore = 255;
  EXPECT_TRUE(Check(schema).ok());
  schema.ignore = 256;
  EXPECT_FALSE(Check(schema).ok());
  schema.fields[1].dtype = DType::kU16;
  EXPECT_TRUE(Check(schema).ok());
}

TEST(RecordSchema, CodecsAreChecked) {
  RecordSchema schema = Segmentation();
  schema.fields[0].codec = Codec::kJpeg;
  EXPECT_TRUE(Check(schema).ok());
  schema.fields[0].shape = {-1, -1, 1};
  EXPECT_TRUE(Check(schema).ok());
  ExpectRefused([](RecordSchema* s) { s->fields[1].codec = Codec::kJpeg; });  // a label
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{8, 8, 4}, {8, 8, -1}}) {
    ExpectRefused([&](RecordSchema* s) {
      s->fields[0].codec = Codec::kJpeg;
      s->fields[0].shape = shape;
    });
  }
  ExpectRefused([](RecordSchema* s) {
    s->fields[0].codec = Codec::kJpeg;
    s->fields[0].dtype = DType::kU16;
  });
}

TEST(RecordSchema, DictionariesComeBackAndAreChecked) {
  const std::string id_and_content = std::string("\x37\xA4\x30\xEC\1\0\0\0", 8) + "content";
  const auto with = [](const std::string& bytes) {
    return [bytes](RecordSchema* s) {
      s->fields[1].codec = Codec::kZstdDictionary;
      s->fields[1].dictionary = std::make_shared<const ZstdDictionary>(bytes);
    };
  };
  RecordSchema schema = Segmentation();
  with(id_and_content)(&schema);
  proto::ShardSchema message;
  RecordSchemaToProto(schema, &message);
  const auto again = RecordSchemaFromProto(message);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->fields[1].dictionary->bytes, id_and_content);

  ExpectRefused([](RecordSchema* s) { s->fields[1].codec = Codec::kZstdDictionary; });
  ExpectRefused(with("\x37\xA4\x30\xEC\1"));                                 // too short
  ExpectRefused(with(std::string("\x37\xA4\x30\xEC\0\0\0\0 content", 16)));  // id 0
  ExpectRefused(with("anything but a dictionary"));
  ExpectRefused(with(id_and_content + std::string(kMaxDictionaryBytes, 'x')));
  ExpectRefused([&](RecordSchema* s) {
    with(id_and_content)(s);
    s->fields[1].codec = Codec::kZstd;  // which has none
  });
}

TEST(RecordSchema, ValuesOfNewerVersionsAreRefusedAsSuch) {
  proto::ShardSchema sound;
  RecordSchemaToProto(Segmentation(), &sound);
  proto::ShardSchema message = sound;
  message.mutable_fields(0)->set_dtype(static_cast<proto::DType>(77));
  EXPECT_EQ(RecordSchemaFromProto(message).status().code(), StatusCode::kInvalidArgument);
  message = sound;
  message.mutable_fields(0)->set_codec(proto::CODEC_UNSPECIFIED);
  EXPECT_EQ(RecordSchemaFromProto(message).status().code(), StatusCode::kInvalidArgument);
}

TEST(FieldSpec, TensorBytesFillsInTheVariableDimensions) {
  FieldSpec spec = {"f", DType::kF32, {kVariableDim, 3, kVariableDim}};
  EXPECT_EQ(*spec.TensorBytes({5, 7}), 5u * 3 * 7 * 4);
  EXPECT_EQ(*spec.TensorBytes({0, 7}), 0u);
  EXPECT_FALSE(spec.TensorBytes({5}).ok());
  EXPECT_FALSE(spec.TensorBytes({5, 7, 1}).ok());
  EXPECT_FALSE(spec.TensorBytes({0xFFFFFFFF, 0xFFFFFFFF}).ok());
  EXPECT_EQ(spec.VariableDimCount(), 2);
  EXPECT_FALSE(spec.IsDense());
  spec.shape = {2, 3};
  EXPECT_EQ(spec.TensorBytes(), 24u);
  EXPECT_TRUE(spec.IsDense());
  spec.codec = Codec::kZstd;
  EXPECT_FALSE(spec.IsDense());
}

}  // namespace
}  // namespace shardmill
