#include "tools/bench_command.h"

#include <cstdio>
#include <iterator>
#include <memory>
#include <string>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "reader/base/file_remnants.h"
#include "reader/base/thread_budget.h"
#include "reader/console/command_line.h"
#include "reader/console/error_json.h"
#include "reader/console/option_types.h"
#include "reader/console/terminal.h"
#include "reader/console/units.h"
#include "reader/png_encode.h"
#include "tools/bench/read_bench.h"
#include "tools/bench/read_report.h"
#include "tools/bench/read_suite.h"
#include "tools/dump/picture.h"

namespace shardmill {
namespace {

constexpr uint64_t kMostRounds = 1000;
constexpr uint64_t kMostRecordBytes = uint64_t{1} << 30;
constexpr uint64_t kFewestRecords = 16;

struct BenchReadOptions {
  ReadSuiteOptions suite;
  uint64_t synthetic = 0;
  uint64_t threads = 0;
  uint64_t rounds = 15;
  std::string plot;
  bool first_batch = false;
  bool json = false;
  bool quiet = false;
};

Status CheckOptions(const BenchReadOptions& options) {
  if (!options.suite.path.empty() && options.synthetic > 0) {
    return InvalidArgumentError("--synthetic makes its own set; leave PATH or --synthetic out");
  }
  if (options.first_batch && options.suite.path.empty()) {
    return InvalidArgumentError("--first-batch needs the PATH of a set");
  }
  if (options.synthetic > kMostRecordBytes) {
    return InvalidArgumentError("--synthetic is too large; the limit is 1GiB");
  }
  const uint64_t largest =
      options.synthetic > 0 ? options.synthetic : std::end(kSyntheticSizes)[-1];
  if (options.suite.path.empty() && options.suite.set_bytes < kFewestRecords * largest) {
    return InvalidArgumentError("--set-size is too small to measure with; the least is " +
                                FormatBytes(kFewestRecords * largest) + ", " +
                                std::to_string(kFewestRecords) + " of the largest records");
  }
  if (options.rounds == 0) return InvalidArgumentError("--rounds must be at least 1");
  return OkStatus();
}

Status WritePlot(const ReadReport& report, const std::string& path) {
  const Picture picture = DrawStackedPlot(ReadReportPlot(report));
  PngPicture png;
  png.height = picture.height;
  png.width = picture.width;
  png.pixels = reinterpret_cast<const uint8_t*>(picture.pixels.data());
  RemoveRemnants(path);
  return WritePng(path, png);
}

void Print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

Result<int> StopAtFirstBatch(const BenchReadOptions& options) {
  ReadBenchOptions bench;
  bench.path = options.suite.path;
  bench.split = options.suite.split;
  bench.batch = options.suite.batch;
  RETURN_IF_ERROR(TakeFirstBatch(bench));
  std::printf("first batch\n");
  return kExitDone;
}

Result<int> MeasureReading(const BenchReadOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  if (options.first_batch) return StopAtFirstBatch(options);
  ReadSuiteOptions suite = options.suite;
  if (options.synthetic > 0) suite.record_bytes = {options.synthetic};
  ASSIGN_OR_RETURN(suite.threads, ResolveThreads(static_cast<int>(options.threads), 1));
  suite.rounds = static_cast<int>(options.rounds);
  if (!options.quiet) {
    suite.progress = [](const std::string& what) {
      std::fprintf(stderr, "%s\n", EscapeControl(what).c_str());
    };
  }
  ASSIGN_OR_RETURN(const ReadReport report, RunReadSuite(suite));
  // The report stands alone on stdout, so what may fail comes first where a program reads it.
  const bool plot = !options.plot.empty();
  if (plot && options.json) RETURN_IF_ERROR(WritePlot(report, options.plot));
  Print(options.json ? ReadReportJson(report) : ReadReportText(report, WantsColor(stdout)));
  if (plot && !options.json) RETURN_IF_ERROR(WritePlot(report, options.plot));
  return kExitDone;
}

Result<int> RunBenchRead(const BenchReadOptions& options) {
  Result<int> result = MeasureReading(options);
  if (!result.ok() && options.json) Print(ErrorJson(options.suite.path, result.status()));
  return result;
}

void AddRead(CLI::App* bench, BenchReadOptions* options, bool* chosen) {
  CLI::App* read = bench->add_subcommand(
      "read", "How fast the loader reads, beside bare loops over the same records");
  read->add_option("PATH", options->suite.path,
                   "Folder of a data set; otherwise synthetic sets of several record sizes")
      ->type_name("");
  read->add_option("--split", options->suite.split, "Name of the split; otherwise the first one")
      ->type_name("NAME");
  AddBytes(read, "--synthetic", &options->synthetic,
           "One synthetic record size instead of all of them; 0: all");
  AddBytes(read, "--set-size", &options->suite.set_bytes, "Of each synthetic set");
  AddUnsigned(read, "--threads", &options->threads, 1024,
              "Measures 1 and this many threads; 0: one for each core");
  AddUnsigned(read, "--batch", &options->suite.batch, UINT32_MAX,
              "Records in a batch; 0: about 4 MiB");
  AddUnsigned(read, "--rounds", &options->rounds, kMostRounds,
              "Turns of everything that is compared; the medians count");
  read->add_flag("--cold", options->suite.cold,
                 "Measures reading from the disk too: mapped, and direct (O_DIRECT, io_uring)");
  read->add_option("--plot", options->plot, "PNG that shows where the time of the threads went")
      ->type_name("FILE");
  read->add_option("--trace", options->suite.trace_path,
                   "Chrome trace (JSON) of an epoch of the first set")
      ->type_name("FILE");
  read->add_flag("--first-batch", options->first_batch,
                 "Only takes the first batch of PATH: to time the start of a process");
  read->add_flag("--json", options->json, "Prints one JSON object, also when it fails");
  read->add_flag("-q,--quiet", options->quiet, "No progress on stderr");
  read->callback([chosen] { *chosen = true; });
}

}  // namespace

void AddBenchCommand(CommandLine* commands) {
  struct State {
    BenchReadOptions read;
    bool chosen = false;
  };
  auto state = std::make_shared<State>();
  CLI::App* bench = commands->Add(
      "bench", "Measures what this machine reaches, beside its limits", [state]() -> Result<int> {
        if (!state->chosen) {
          return InvalidArgumentError("what shall be measured? Say `shardmill bench read`");
        }
        return RunBenchRead(state->read);
      });
  bench->require_subcommand(0, 1);
  AddRead(bench, &state->read, &state->chosen);
}

}  // namespace shardmill
