#include "tools/sample_command.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "reader/console/command_line.h"
#include "reader/console/option_types.h"
#include "reader/console/terminal.h"
#include "tools/sample/sample_set.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxCount = 1'000'000;
constexpr uint64_t kMaxPixels = uint64_t{1} << 24;

struct SampleCommandOptions {
  SampleSetOptions set;
  uint64_t count = SampleSetOptions().count;
  uint64_t height = SampleSetOptions().size.height;
  uint64_t width = SampleSetOptions().size.width;
};

Result<int> RunSample(const SampleCommandOptions& options) {
  SampleSetOptions set = options.set;
  if (options.height == 0 || options.width == 0 || options.height * options.width > kMaxPixels) {
    return InvalidArgumentError("--height times --width must be from 1 to " +
                                FormatCount(kMaxPixels) + " pixels");
  }
  set.count = static_cast<uint32_t>(options.count);
  set.size = {static_cast<uint32_t>(options.height), static_cast<uint32_t>(options.width)};
  ASSIGN_OR_RETURN(SampleSetResult result, WriteSampleSet(set));
  std::printf("%s: %u train and %u val pairs, %s, %s\n", EscapeControl(set.folder).c_str(),
              result.train, result.val, DescribeImageSize(set.size).c_str(),
              FormatBytes(result.bytes).c_str());
  return kExitDone;
}

}  // namespace

void AddSampleCommand(CommandLine* commands) {
  auto options = std::make_shared<SampleCommandOptions>();
  CLI::App* app = commands->Add("sample", "Writes a small synthetic street-scene set as PNG pairs",
                                [options] { return RunSample(*options); });
  app->add_option("-o,--output", options->set.folder, "Folder to write; missing or empty")
      ->required()
      ->type_name("DIR");
  AddUnsigned(app, "--count", &options->count, kMaxCount,
              "Pairs; the last sixth becomes the val split");
  AddUnsigned(app, "--height", &options->height, kMaxImageSide, "Pixels");
  AddUnsigned(app, "--width", &options->width, kMaxImageSide, "Pixels");
  AddUnsigned(app, "--seed", &options->set.seed, UINT64_MAX, "Of the scenes");
}

}  // namespace shardmill
