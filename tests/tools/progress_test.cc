#include "tools/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace shardmill {
namespace {

// A progress display that writes to a memory stream and whose clock the test turns.
class ProgressTest : public testing::Test {
 protected:
  ProgressTest() : out_(open_memstream(&text_, &size_)) {}
  ~ProgressTest() override {
    std::fclose(out_);
    free(text_);
  }

  ProgressOptions Options(ProgressStyle style) {
    ProgressOptions options;
    options.action = "packing";
    options.unit = "images";
    options.total = 200;
    options.style = style;
    options.out = out_;
    options.clock = [this] { return now_; };
    return options;
  }

  std::string Text() {
    std::fflush(out_);
    return std::string(text_, size_);
  }

  double now_ = 100;

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  FILE* out_;
};

TEST_F(ProgressTest, QuietPrintsOnlyMessages) {
  Progress progress(Options(ProgressStyle::kQuiet));
  now_ += 60;
  progress.Add(50, 1000);
  EXPECT_EQ(Text(), "");
  progress.Message("warning: odd");
  EXPECT_EQ(Text(), "warning: odd\n");
}

TEST_F(ProgressTest, WithoutAUnitBytesAreCounted) {
  ProgressOptions options = Options(ProgressStyle::kLines);
  options.unit = "";
  options.total = uint64_t{8} << 20;
  Progress progress(options);
  now_ += 10;
  progress.Add(uint64_t{2} << 20, uint64_t{2} << 20);
  EXPECT_EQ(Text(), "packing 2.0 MiB of 8.0 MiB (25 %), 0.2 MB/s, 30 s left\n");
}

TEST_F(ProgressTest, WithoutTerminalOneLineEachTenSeconds) {
  Progress progress(Options(ProgressStyle::kLines));
  for (int i = 0; i < 100; ++i) {
    now_ += 0.25;
    progress.Add(2, 500'000);
  }
  std::string text = Text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "packing 80/200 images (40 %), 8/s, 2.0 MB/s, 15 s left");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST_F(ProgressTest, TerminalLineIsRewrittenAtMostSixTimesASecond) {
  {
    Progress progress(Options(ProgressStyle::kTerminal));
    for (int i = 0; i < 2000; ++i) {
      now_ += 0.001;
      progress.Add(1, 1);
    }
  }
  std::string text = Text();
  auto lines = std::count(text.begin(), text.end(), '\r') - 1;  // the last one erases
  EXPECT_GE(lines, 10);
  EXPECT_LE(lines, 12);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.substr(text.size() - 4), "\r\x1b[K");
}

TEST_F(ProgressTest, MessageErasesTheLineFirst) {
  Progress progress(Options(ProgressStyle::kTerminal));
  now_ += 1;
  progress.Add(1, 1);
  size_t before = Text().size();
  progress.Message("bad\nname");
  EXPECT_EQ(Text().substr(before), "\r\x1b[Kbad\\x0aname\n");
}

TEST_F(ProgressTest, ThreadsMayAddAtOnce) {
  std::vector<std::thread> threads;
  ProgressOptions options = Options(ProgressStyle::kLines);
  options.clock = [] { return 0.0; };
  Progress progress(options);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) progress.Add(1, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Text(), "");
}

}  // namespace
}  // namespace shardmill
