#include "trainer/models/model_file.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>

#include "proto/model.pb.h"
#include "reader/base/text_file.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxFileBytes = 16 << 20;

// Keeps the first error of the text parser.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    text_ = std::to_string(line + 1) + ":" + std::to_string(column + 1) + ": " + message;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

Result<proto::Model> ParseModel(const std::string& text, const std::string& source) {
  proto::Model model;
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') {
    const auto parsed = google::protobuf::util::JsonStringToMessage(text, &model);
    if (!parsed.ok()) return InvalidArgumentError(source + ": " + parsed.message().ToString());
  } else {
    FirstError error;
    google::protobuf::TextFormat::Parser parser;
    parser.RecordErrorsTo(&error);
    if (!parser.ParseFromString(text, &model)) {
      return InvalidArgumentError(source + ":" + error.text());
    }
  }
  if (model.layers_size() == 0) return InvalidArgumentError(source + ": the model has no layers");
  return model;
}

Result<proto::Model> ReadModelFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kMaxFileBytes));
  return ParseModel(text, path);
}

std::string ModelText(const proto::Model& model) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseShortRepeatedPrimitives(true);
  std::string text;
  SHARDMILL_CHECK(printer.PrintToString(model, &text));
  return text;
}

}  // namespace shardmill
