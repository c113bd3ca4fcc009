#include "tests/trainer/train_program.h"

#include <fcntl.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace shardmill {
namespace {

constexpr char kProgram[] = "trainer/shardmill-train";  // in the test's runfiles

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// In the child: replaces the standard streams and becomes the program.
[[noreturn]] void Become(std::vector<char*> arguments, const std::string& out,
                         const std::string& err) {
  const int out_file = open(out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  const int err_file = open(err.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  if (out_file < 0 || err_file < 0 || dup2(out_file, 1) < 0 || dup2(err_file, 2) < 0) _exit(126);
  execv(kProgram, arguments.data());
  _exit(127);
}

}  // namespace

RunningProgram::RunningProgram(const std::vector<std::string>& arguments) {
  static std::atomic<int> counter{0};
  const std::string stem =
      testing::TempDir() + "/trainer_output_" + std::to_string(counter.fetch_add(1));
  out_path_ = stem + ".out";
  err_path_ = stem + ".err";
  std::vector<std::string> words = {kProgram};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) Become(pointers, out_path_, err_path_);
  EXPECT_GT(pid_, 0);
}

ProgramResult RunningProgram::Wait() {
  ProgramResult result;
  int status = 0;
  EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = ReadWhole(out_path_);
  result.err = ReadWhole(err_path_);
  return result;
}

ProgramResult RunTrainer(const std::vector<std::string>& arguments) {
  return RunningProgram(arguments).Wait();
}

std::string FreshPath(const std::string& name) {
  const std::string path = testing::TempDir() + "/" + name;
  std::filesystem::remove_all(path);
  return path;
}

LogPipe::LogPipe(const std::string& output) : path_(output + "/log.jsonl") {
  std::filesystem::create_directories(output);
  EXPECT_EQ(mkfifo(path_.c_str(), 0600), 0);
  reader_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  EXPECT_GE(reader_, 0);
}

LogPipe::~LogPipe() {
  if (reader_ >= 0) close(reader_);
  std::filesystem::remove(path_);
}

std::ifstream& LogPipe::Lines() {
  lines_.open(path_);
  if (reader_ >= 0) close(std::exchange(reader_, -1));
  return lines_;
}

std::vector<LogLine> ReadLog(const std::string& path) {
  std::vector<LogLine> lines;
  std::ifstream file(path);
  std::string text;
  while (std::getline(file, text)) {
    google::protobuf::Struct object;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(text, &object).ok()) << text;
    const auto& fields = object.fields();
    const auto number = [&](const char* key, double otherwise) {
      const auto field = fields.find(key);
      return field == fields.end() ? otherwise : field->second.number_value();
    };
    LogLine line;
    line.kind = fields.at("kind").string_value();
    line.step = static_cast<uint64_t>(number("step", 0));
    line.loss = number("loss", 0);
    line.miou = number("miou", -1);
    line.wait_ms = number("wait_ms", -1);
    line.copy_ms = number("copy_ms", -1);
    line.communication_ms = number("communication_ms", -1);
    line.compute_ms = number("compute_ms", -1);
    line.total_ms = number("total_ms", -1);
    line.has_times = fields.count("wait_ms") > 0 && fields.count("compute_ms") > 0 &&
                     fields.count("images_per_s") > 0;
    lines.push_back(line);
  }
  return lines;
}

std::string ValueAfter(const std::string& text, const std::string& label) {
  const size_t begin = text.rfind(label + " ");
  if (begin == std::string::npos) return "";
  const size_t value = begin + label.size() + 1;
  return text.substr(value, text.find('\n', value) - value);
}

}  // namespace shardmill
