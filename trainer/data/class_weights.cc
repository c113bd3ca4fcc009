#include "trainer/data/class_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "proto/manifest.pb.h"
#include "reader/base/text_file.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxFileBytes = 16 << 20;
constexpr double kMostWeight = 3e38;  // that is a float

Status CheckStatistics(const std::vector<ClassInfo>& classes, const proto::Statistics& statistics) {
  const int expected = static_cast<int>(classes.size());
  if (statistics.class_pixels_size() != expected ||
      statistics.class_image_pixels_size() != expected) {
    return InvalidArgumentError("the manifest has no class statistics for these " +
                                std::to_string(expected) +
                                " classes; use --class-weights none or a file");
  }
  return OkStatus();
}

Result<std::vector<float>> MedianFrequency(const std::vector<ClassInfo>& classes,
                                           const proto::Statistics& statistics) {
  std::vector<double> frequency(classes.size(), 0);
  std::vector<double> occurring;
  for (size_t k = 0; k < classes.size(); ++k) {
    const auto pixels = static_cast<double>(statistics.class_pixels(static_cast<int>(k)));
    const auto of = static_cast<double>(statistics.class_image_pixels(static_cast<int>(k)));
    if (pixels == 0 || of == 0) continue;
    frequency[k] = pixels / of;
    occurring.push_back(frequency[k]);
  }
  if (occurring.empty()) return InvalidArgumentError("no class occurs in the train split");
  std::sort(occurring.begin(), occurring.end());
  const size_t half = occurring.size() / 2;
  const double median =
      occurring.size() % 2 == 1 ? occurring[half] : (occurring[half - 1] + occurring[half]) / 2;
  std::vector<float> weights(classes.size(), 0);
  for (size_t k = 0; k < classes.size(); ++k) {
    if (frequency[k] > 0) weights[k] = static_cast<float>(median / frequency[k]);
  }
  return weights;
}

Result<std::vector<float>> Enet(const proto::Statistics& statistics) {
  double total = 0;
  for (const uint64_t pixels : statistics.class_pixels()) total += static_cast<double>(pixels);
  if (total == 0) return InvalidArgumentError("no class occurs in the train split");
  std::vector<float> weights;
  for (const uint64_t pixels : statistics.class_pixels()) {
    weights.push_back(static_cast<float>(1 / std::log(1.02 + static_cast<double>(pixels) / total)));
  }
  return weights;
}

std::string Trim(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

std::optional<size_t> ClassOfName(const std::vector<ClassInfo>& classes, const std::string& name) {
  for (size_t k = 0; k < classes.size(); ++k) {
    if (classes[k].name == name) return k;
  }
  return std::nullopt;
}

std::optional<size_t> ClassOfId(const std::vector<ClassInfo>& classes, const std::string& id) {
  for (size_t k = 0; k < classes.size(); ++k) {
    if (std::to_string(classes[k].id) == id) return k;
  }
  return std::nullopt;
}

struct FileContent {
  std::vector<std::optional<float>> weights;
  std::string id;             // a word that is an id and no name
  std::string name_or_other;  // one that is the name of a class and the id of another
};

// A word is a name where a class has it, else an id.
std::optional<size_t> FindClass(const std::vector<ClassInfo>& classes, const std::string& word,
                                FileContent* content) {
  const std::optional<size_t> named = ClassOfName(classes, word),
                              numbered = ClassOfId(classes, word);
  if (!named && numbered) content->id = word;
  if (named && numbered && named != numbered) content->name_or_other = word;
  return named ? named : numbered;
}

// Names that are numbers, as folders 0 to 10 in the order of their names give: "2" may be meant as
// the name or as the id.
Status CheckWords(const FileContent& content) {
  if (content.id.empty() || content.name_or_other.empty()) return OkStatus();
  return InvalidArgumentError("'" + content.id + "' is no name of a class but an id, and '" +
                              content.name_or_other +
                              "' is the name of one class and the id of another: write all classes "
                              "by their names");
}

Status ReadLine(const std::string& line, const std::vector<ClassInfo>& classes,
                FileContent* content) {
  const size_t comma = line.rfind(',');
  if (comma == std::string::npos) return InvalidArgumentError("expected CLASS,WEIGHT");
  const std::string word = Trim(line.substr(0, comma));
  const std::string number = Trim(line.substr(comma + 1));
  const std::optional<size_t> index = FindClass(classes, word, content);
  if (!index) return InvalidArgumentError("the data set has no class '" + word + "'");
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0' || !(value >= 0) || value > kMostWeight) {
    return InvalidArgumentError("'" + number +
                                "' is not a weight; expected a number from 0 to 3e38");
  }
  RETURN_IF_ERROR(CheckWords(*content));
  std::optional<float>& weight = content->weights[*index];
  if (weight) return InvalidArgumentError("a second weight for class '" + word + "'");
  weight = static_cast<float>(value);
  return OkStatus();
}

Result<std::vector<float>> FromFile(const std::string& path,
                                    const std::vector<ClassInfo>& classes) {
  const Result<std::string> text = ReadTextFile(path, kMaxFileBytes);
  if (text.status().code() == StatusCode::kNotFound) {
    return NotFoundError("--class-weights " + path +
                         ": neither none, median nor enet, nor a file that can be read");
  }
  if (!text.ok()) return text.status().WithContext("--class-weights");
  std::istringstream file(*text);
  FileContent content;
  content.weights.resize(classes.size());
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    line = Trim(line);
    if (line.empty() || line[0] == '#') continue;
    RETURN_IF_ERROR(
        ReadLine(line, classes, &content).WithContext(path + ":" + std::to_string(number)));
  }
  std::vector<float> result;
  for (size_t k = 0; k < classes.size(); ++k) {
    if (!content.weights[k]) {
      return InvalidArgumentError(path + ": no weight for class '" + classes[k].name + "'");
    }
    result.push_back(*content.weights[k]);
  }
  if (std::none_of(result.begin(), result.end(), [](float weight) { return weight > 0; })) {
    return InvalidArgumentError(path + ": every class weighs 0");
  }
  return result;
}

}  // namespace

std::string AbsentClassesNotice(const std::vector<ClassInfo>& classes,
                                const proto::Statistics& statistics) {
  constexpr int kMostNamed = 8;
  if (statistics.class_pixels_size() != static_cast<int>(classes.size())) return "";
  std::string names;
  int absent = 0;
  for (size_t k = 0; k < classes.size(); ++k) {
    if (statistics.class_pixels(static_cast<int>(k)) > 0) continue;
    if (++absent <= kMostNamed) names += (absent == 1 ? "'" : ", '") + classes[k].name + "'";
  }
  if (absent == 0) return "";
  if (absent > kMostNamed) names += " and " + std::to_string(absent - kMostNamed) + " more";
  return "no training label is " + names + ": the network cannot learn " +
         (absent == 1 ? "this class" : "these classes");
}

Result<std::vector<float>> ClassWeights(const std::string& choice,
                                        const std::vector<ClassInfo>& classes,
                                        const proto::Statistics& statistics) {
  if (choice == "none") return std::vector<float>(classes.size(), 1.0f);
  if (choice != "median" && choice != "enet") return FromFile(choice, classes);
  RETURN_IF_ERROR(CheckStatistics(classes, statistics));
  return choice == "median" ? MedianFrequency(classes, statistics) : Enet(statistics);
}

}  // namespace shardmill
