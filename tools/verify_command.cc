#include "tools/verify_command.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "reader/base/file.h"
#include "reader/base/interrupt.h"
#include "reader/base/thread_budget.h"
#include "reader/console/command_line.h"
#include "reader/console/error_json.h"
#include "reader/console/option_types.h"
#include "reader/console/terminal.h"
#include "reader/manifest.h"
#include "reader/unfinished_pack.h"
#include "reader/verify.h"
#include "tools/manifest_repair.h"
#include "tools/progress.h"
#include "tools/salvage/salvage.h"
#include "tools/salvage/salvage_report.h"
#include "tools/verify_report.h"

namespace shardmill {
namespace {

struct VerifyCommandOptions {
  std::string path;
  uint64_t jobs = 0;
  std::string io = "mmap";
  std::string salvage;
  bool rebuild_manifest = false;
  bool json = false;
  bool quiet = false;
};

Status RebuildAndWriteManifest(const std::string& path, bool quiet) {
  const std::string folder = FileName(path) == kManifestFileName ? FolderName(path) : path;
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return InvalidArgumentError("--rebuild-manifest wants the folder of a data set, not " + path);
  }
  ASSIGN_OR_RETURN(const ManifestRepair repair, RepairManifest(folder));
  if (quiet) return OkStatus();
  const std::string name = EscapeControl(JoinPath(folder, std::string(kManifestFileName)));
  if (repair.agreed) {
    std::fprintf(stderr, "%s agrees with the %d shards that are there; it is left as it is\n",
                 name.c_str(), repair.shards);
    return OkStatus();
  }
  std::fprintf(stderr,
               "%s was made again from %d shards; a split that is missing as a whole would not be "
               "noticed\n",
               name.c_str(), repair.shards);
  return OkStatus();
}

// Verify() tells how far it is; Progress wants what was added.
class ByteProgress {
 public:
  explicit ByteProgress(ProgressStyle style) : style_(style) {}

  void Report(uint64_t done, uint64_t total) {
    if (progress_ == nullptr) Start(total);
    progress_->Add(done - done_, done - done_);
    done_ = done;
  }

 private:
  void Start(uint64_t total) {
    ProgressOptions options;
    options.action = "verifying";
    options.total = total;
    options.style = style_;
    progress_ = std::make_unique<Progress>(options);
  }

  const ProgressStyle style_;
  std::unique_ptr<Progress> progress_;
  uint64_t done_ = 0;
};

FileAccess AccessOf(const VerifyCommandOptions& options) {
  return options.io == "pread" ? FileAccess::kPread : FileAccess::kMapped;
}

Result<VerifyReport> RunVerify(const VerifyCommandOptions& options) {
  VerifyOptions verify;
  verify.access = AccessOf(options);
  ASSIGN_OR_RETURN(verify.threads, ResolveThreads(static_cast<int>(options.jobs), 1));
  ByteProgress progress(ProgressStyleFor(options.quiet));
  verify.progress = [&](uint64_t done, uint64_t total) { progress.Report(done, total); };
  verify.cancelled = WasInterrupted;
  return Verify(options.path, verify);
}

// Where a pack was stopped, the finding says so.
bool IsOnlyManifestMissing(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) &&
         !std::filesystem::exists(JoinPath(path, std::string(kManifestFileName)), error) &&
         FindUnfinishedPack(path).description.empty();
}

std::string AdviceWithoutManifest(const std::string& folder) {
  return "when the shards are complete, `shardmill verify --rebuild-manifest " + folder +
         "` makes the manifest again";
}

void Print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

Result<int> RunSalvage(const VerifyCommandOptions& options) {
  SalvageOptions salvage;
  salvage.access = AccessOf(options);
  ASSIGN_OR_RETURN(salvage.threads, ResolveThreads(static_cast<int>(options.jobs), 1));
  salvage.cancelled = WasInterrupted;
  Result<SalvageReport> report = CancelledError("");
  {
    ByteProgress progress(ProgressStyleFor(options.quiet));
    salvage.progress = [&](uint64_t done, uint64_t total) { progress.Report(done, total); };
    report = Salvage(options.path, options.salvage, salvage);
  }
  RETURN_IF_ERROR(report.status());
  if (options.json) {
    Print(SalvageReportJson(options.path, options.salvage, *report));
  } else {
    Print(LossesText(*report, WantsColor(stdout)));
    Print(SalvageVerdict(options.path, options.salvage, *report));
  }
  for (const std::string& remark : report->remarks) {
    if (!options.quiet) std::fprintf(stderr, "%s\n", EscapeControl(remark).c_str());
  }
  return report->losses.empty() ? kExitDone : ExitCode(DataLossError(""));
}

Result<int> RunWithReport(const VerifyCommandOptions& options) {
  if (!options.salvage.empty()) return RunSalvage(options);
  if (options.rebuild_manifest) {
    RETURN_IF_ERROR(RebuildAndWriteManifest(options.path, options.quiet));
  }
  ASSIGN_OR_RETURN(const VerifyReport report, RunVerify(options));
  if (options.json) {
    Print(VerifyReportJson(options.path, report));
  } else {
    Print(FindingsText(report, WantsColor(stdout)));
    Print(VerdictText(options.path, report));
  }
  if (report.sound()) return kExitDone;
  if (report.needs_newer_reader()) return ExitCode(InvalidArgumentError(""));
  if (!options.quiet && IsOnlyManifestMissing(options.path)) {
    std::fprintf(stderr, "%s\n", EscapeControl(AdviceWithoutManifest(options.path)).c_str());
  }
  return ExitCode(DataLossError(""));
}

Result<int> RunVerifyCommand(const VerifyCommandOptions& options) {
  Result<int> result = RunWithReport(options);
  if (!result.ok() && options.json) Print(ErrorJson(options.path, result.status()));
  return result;
}

}  // namespace

void AddVerifyCommand(CommandLine* commands) {
  auto options = std::make_shared<VerifyCommandOptions>();
  CLI::App* app =
      commands->Add("verify", "Proves that a data set or a shard is intact; lists all damage",
                    [options] { return RunVerifyCommand(*options); });
  app->add_option("PATH", options->path, "Folder of a data set, its manifest.json, or a shard")
      ->required()
      ->type_name("");
  AddUnsigned(app, "--jobs", &options->jobs, 1024, "Threads; 0: one for each core");
  app->add_option("--io", options->io, "How shards are read: mapped, or with pread")
      ->check(CLI::IsMember({"mmap", "pread"}).description(""))
      ->type_name("mmap|pread")
      ->capture_default_str();
  CLI::Option* rebuild = app->add_flag(
      "--rebuild-manifest", options->rebuild_manifest,
      "First makes manifest.json again from what the shards say of themselves; a sound one "
      "that says something else is not replaced");
  app->add_option("--salvage", options->salvage,
                  "Copies all sound records of a damaged set into this new folder and lists what "
                  "is lost")
      ->type_name("OUT")
      ->check([](const std::string& out) { return out.empty() ? "no folder is named" : ""; }, "")
      ->excludes(rebuild);
  app->add_flag("--json", options->json, "Prints one JSON object, also when it fails");
  app->add_flag("-q,--quiet", options->quiet, "No progress and no remarks on stderr");
  app->footer(
      "Exit code: 0 intact (salvage: nothing was lost), 2 of a newer version, 3 missing or not "
      "readable, 4 damaged (salvage: something was lost).");
}

}  // namespace shardmill
