#include "tests/tools/pack/field_testing.h"

#include "proto/record_meta.pb.h"

namespace shardmill {
namespace {

std::vector<ReadField> ReadRecord(const ShardReader& shard, uint64_t record, ReadScratch* scratch) {
  std::vector<ReadField> fields;
  for (int f = 0; f < static_cast<int>(shard.schema().fields.size()); ++f) {
    ReadField field;
    field.dims = *shard.VariableDims(record, f);
    field.tensor.resize(*shard.schema().fields[static_cast<size_t>(f)].TensorBytes(field.dims));
    const Status status = shard.Read(record, f, field.tensor.data(), field.tensor.size(), scratch);
    EXPECT_TRUE(status.ok()) << status.ToString();
    field.stored_bytes = *shard.StoredBytes(record, f);
    fields.push_back(std::move(field));
  }
  return fields;
}

std::string Label(ImageSize size, uint64_t seed) {
  return Png(MakeImage(size, 3, [&](int y, int x, int) {
    const uint64_t place = static_cast<uint64_t>(y) / 2 + static_cast<uint64_t>(x) / 3 + seed;
    return place % 3 == 0 ? 255 : 0;
  }));
}

}  // namespace

void PackFieldsTest::AddScene(const std::string& stem, ImageSize size, uint64_t seed) {
  source_.Write("train/" + stem + ".png", Png(Photo(size, seed)));
  source_.Write("train_labels/" + stem + ".png", Label(size, seed));
}

void PackFieldsTest::WriteClasses() {
  source_.Write("class_dict.csv", "name,r,g,b\na,0,0,0\nb,255,255,255\n");
}

std::map<std::string, std::vector<ReadField>> PackFieldsTest::ReadAll() {
  std::map<std::string, std::vector<ReadField>> records;
  auto dataset = Dataset::Open(output_.path());
  EXPECT_TRUE(dataset.ok()) << dataset.status().ToString();
  if (!dataset.ok()) return records;
  dataset_ = *dataset;
  ReadScratch scratch;
  const Dataset::Split* split = *dataset_->split("train");
  for (uint64_t i = 0; i < split->records(); ++i) {
    const auto [shard, record] = split->Locate(i);
    records[shard->ReadMeta(record)->key()] = ReadRecord(*shard, record, &scratch);
  }
  return records;
}

PaddedBatch PackFieldsTest::LoadPadded(const std::string& field) {
  return LoadPaddedBatch(dataset_, field);
}

std::string PackFieldsTest::Recipe(const std::string& name) {
  for (const auto& option : dataset_->manifest().recipe().options()) {
    if (option.name() == name) return option.value();
  }
  return "(missing)";
}

std::map<std::string, std::string> PackFieldsTest::OutputFiles() {
  std::map<std::string, std::string> files;
  for (const std::string& file : output_.Files()) files[file] = output_.Read(file);
  return files;
}

}  // namespace shardmill
