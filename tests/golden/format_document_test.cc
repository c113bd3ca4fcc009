// What proto/FORMAT.md shows is what the code does: its hex example is a shard that is written
// here, and its Python program reads a golden shard.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/codec.h"
#include "reader/serialize.h"
#include "reader/shard_writer.h"
#include "tests/golden/golden_sets.h"

namespace shardmill {
namespace {

constexpr size_t kMaxProgramLines = 30;

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The first fenced block of the document that opens with "```" and this word.
std::string FencedBlock(const std::string& language) {
  const std::string document = ReadText("proto/FORMAT.md");
  const std::string opening = "\n```" + language + "\n";
  const size_t begin = document.find(opening);
  EXPECT_NE(begin, std::string::npos) << language;
  if (begin == std::string::npos) return "";
  const size_t end = document.find("\n```\n", begin + opening.size());
  return document.substr(begin + opening.size(), end + 1 - begin - opening.size());
}

std::string Hex(const std::string& bytes) {
  std::string hex;
  char digits[3];
  for (const char byte : bytes) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    hex += digits;
  }
  return hex;
}

// "00000040  01 02 …  |text|", sixteen bytes a line; lines of zeros are left out.
std::string HexDump(const std::string& bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 16) {
    const std::string row = bytes.substr(at, 16);
    if (row.find_first_not_of('\0') == std::string::npos) continue;
    char offset[32];
    std::snprintf(offset, sizeof offset, "%08zx ", at);
    text += offset;
    for (const char byte : row) text += " " + Hex(std::string(1, byte));
    text += "  |";
    for (const char byte : row) {
      const auto value = static_cast<unsigned char>(byte);
      text += value >= 32 && value < 127 ? byte : '.';
    }
    text += "|\n";
  }
  return text;
}

std::string WithoutComments(const std::string& text) {
  std::istringstream lines(text);
  std::string line, kept;
  while (std::getline(lines, line)) {
    if (!line.empty() && line[0] != '#') kept += line + "\n";
  }
  return kept;
}

// Two records of one field of three numbers, and one input that was left out.
Result<std::string> WriteExample(const std::string& folder) {
  RecordSchema schema;
  schema.fields = {{"x", DType::kU16, {3}}};
  ShardPlan plan;
  plan.split = "train";
  plan.end_input = 3;
  plan.records_per_block = 2;
  plan.dataset_id = Digest128("example");
  proto::Recipe recipe;
  recipe.set_layout("example");
  ASSIGN_OR_RETURN(const auto writer, ShardWriter::Create(folder, plan, schema, recipe));
  FieldEncoder encoder;
  for (uint16_t r = 1; r <= 2; ++r) {
    const std::array<uint16_t, 3> values = {r, uint16_t(10 * r), uint16_t(100 * r)};
    EncodedRecord record;
    ASSIGN_OR_RETURN(EncodedField field, encoder.Encode(schema.fields[0], values.data(), 6));
    record.fields.push_back(std::move(field));
    proto::RecordMeta meta;
    meta.set_key(r == 1 ? "a" : "b");
    record.meta = SerializeDeterministic(meta);
    RETURN_IF_ERROR(writer->Append(std::move(record)));
  }
  proto::ShardSummary summary;
  summary.mutable_statistics()->set_records(2);
  proto::SkippedInput* skipped = summary.add_skipped();
  skipped->set_key("c");
  skipped->set_reason("cut");
  ASSIGN_OR_RETURN(const ShardResult result, writer->Close(summary));
  return folder + "/" + result.file;
}

TEST(FormatDocument, HexExampleIsTheShardThatTheWriterWrites) {
  const std::string folder = testing::TempDir() + "/example";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto path = WriteExample(folder);
  ASSERT_TRUE(path.ok()) << path.status().ToString();
  EXPECT_EQ(WithoutComments(FencedBlock("hexdump")), HexDump(ReadText(*path)));
}

// What the program must print of the golden shard.
std::string ExpectedOutput(const GoldenSet& set) {
  std::string text;
  for (const GoldenRecord& record : set.shards[0].records) {
    text += record.key + "\n";
    for (size_t f = 0; f < record.fields.size(); ++f) {
      const FieldSpec& spec = set.schema.fields[f];
      std::string shape;
      size_t next = 0;
      for (const int64_t dim : spec.shape) {
        const int64_t side = dim == kVariableDim ? record.fields[f].variable_dims[next++] : dim;
        shape += (shape.empty() ? "[" : ", ") + std::to_string(side);
      }
      const auto& tensor = record.fields[f].tensor;
      text += "  " + spec.name + " " + shape + "] " + Hex({tensor.begin(), tensor.end()}) + "\n";
    }
  }
  return text;
}

TEST(FormatDocument, PythonProgramReadsAGoldenShard) {
  const std::string program = FencedBlock("python");
  EXPECT_LE(std::count(program.begin(), program.end(), '\n'), kMaxProgramLines);
  if (std::system("python3 -c 'pass' >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "there is no python3";
  }
  const std::string script = testing::TempDir() + "/read_shard.py";
  std::ofstream(script) << program;
  const GoldenSet set = GoldenSetNamed("raw");
  const std::string command =
      "python3 '" + script + "' 'tests/golden/raw/" + GoldenShardName(set, 0) + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t bytes = fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), bytes);
  }
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_EQ(output, ExpectedOutput(set));
}

}  // namespace
}  // namespace shardmill
