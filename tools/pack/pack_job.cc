#include "tools/pack/pack_job.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "reader/base/file.h"
#include "reader/base/launch.h"
#include "reader/base/thread_budget.h"
#include "reader/console/command_line.h"
#include "reader/console/error_json.h"
#include "reader/console/terminal.h"
#include "tools/pack/inputs/split_plan.h"
#include "tools/pack/layouts/layout.h"
#include "tools/pack/output/set_writer.h"
#include "tools/pack/pack_plan.h"
#include "tools/pack/pack_report.h"
#include "tools/pack/records/train_dictionaries.h"
#include "tools/pack/report/html_report.h"
#include "tools/pack/set_sizes.h"
#include "tools/pack/trial.h"
#include "tools/progress.h"

namespace shardmill {
namespace {

constexpr size_t kProblemsShown = 10;
// With more ignored pixels than this, an absent class may hide behind the ignore value.
constexpr double kMuchIgnored = 0.2;

void Warn(const std::string& text) {
  std::fprintf(stderr, "shardmill pack: warning: %s\n",
               EscapeControl(text, KeepLineEnds::kYes).c_str());
}

void Note(const PackOptions& options, const std::string& text) {
  if (!options.quiet) std::fprintf(stderr, "%s\n", EscapeControl(text).c_str());
}

Status ProblemsError(const InputSet& set) {
  uint64_t count = 0, inputs = 0;
  std::string lines;
  for (const InputSplit& split : set.splits) {
    inputs += split.inputs();
    for (const Problem& problem : split.problems) {
      if (problem.by_rule) continue;
      if (count++ < kProblemsShown) lines += "\n  " + problem.key + ": " + problem.reason;
    }
  }
  if (count == 0) return OkStatus();
  if (count > kProblemsShown) lines += "\n  …";
  return NotFoundError(std::to_string(count) + " of " + std::to_string(inputs) +
                       " inputs cannot be packed:" + lines +
                       "\nCorrect them, or leave them out with --on-error skip.");
}

// Shards among the images would be taken for inputs of the next pack.
Status CheckOutput(const PackOptions& options) {
  std::error_code error;
  if (!std::filesystem::equivalent(options.source, options.output, error)) return OkStatus();
  return InvalidArgumentError("-o " + options.output +
                              " is the source folder itself; choose another folder");
}

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Records are made by one thread and freed by another, a block at a time. The allocator would give
// their memory back to the system each time, and take it anew page by page.
void KeepFreedMemory() {
  constexpr int kLargestKept = 32 << 20;  // the most that glibc takes
  ::mallopt(M_MMAP_THRESHOLD, kLargestKept);
  ::mallopt(M_TRIM_THRESHOLD, 2 * kLargestKept);
  // Each arena keeps its own; more than run at once would only keep more.
  ::mallopt(M_ARENA_MAX, AllowedCpus() + 1);
}

std::string SizesNote(const SetSizes& sizes) {
  return "the images come in " + sizes.sizes +
         ": each record keeps its own size; --resize HEIGHTxWIDTH or --crop HEIGHTxWIDTH makes "
         "them "
         "equal, as batches without padding need";
}

std::string EmptyArraysNote(const ArrayForm& arrays) {
  return FormatCount(arrays.without_numbers) +
         (arrays.without_numbers == 1 ? " array has" : " arrays have") +
         " a side of 0 and no numbers: " + arrays.example_without_numbers +
         (arrays.without_numbers == 1 ? "" : ", …");
}

class PackJob {
 public:
  PackJob(const PackOptions& options, const Launch& launch, ReportStyle style)
      : options_(options), launch_(launch), style_(style) {}

  Result<int> Run();
  bool has_printed() const { return has_printed_; }

 private:
  void AddNote(const std::string& note);
  Status MakePackPlan();
  Result<std::vector<PlannedShard>> ChooseShards() const;
  Result<int> Try();
  Status Pack();
  void WriteReport(const PackResult& result);
  int ReportAndWarn();
  int CodeOfSkipped(uint64_t faulty) const;
  void PrintReport(bool colored);
  void WarnAboutSpace(uint64_t bytes) const;
  void WarnAboutClasses() const;
  std::unique_ptr<Progress> StartProgress(const char* action, uint64_t total) const;
  PackReport Report() const;

  const PackOptions& options_;
  const Launch launch_;
  const ReportStyle style_;
  int threads_ = 1;
  std::string layout_;
  std::vector<std::string> notes_;
  PackPlan plan_;
  WrittenSet written_;
  TrialResult trial_;
  std::string page_;  // the HTML report, once it is written
  double seconds_ = 0;
  bool has_printed_ = false;
};

std::unique_ptr<Progress> PackJob::StartProgress(const char* action, uint64_t total) const {
  ProgressOptions progress;
  progress.action = action;
  progress.unit = "inputs";
  progress.total = total;
  progress.style = ProgressStyleFor(options_.quiet);
  return std::make_unique<Progress>(progress);
}

PackReport PackJob::Report() const {
  PackReport report;
  report.options = &options_;
  report.plan = &plan_;
  report.written = options_.dry_run ? nullptr : &written_;
  report.trial = &trial_;
  report.threads = threads_;
  report.layout = layout_;
  report.notes = notes_;
  report.page = page_;
  report.seconds = seconds_;
  return report;
}

void PackJob::AddNote(const std::string& note) {
  notes_.push_back(note);
  Note(options_, note);
}

Status PackJob::MakePackPlan() {
  LayoutOptions layout = options_.layout;
  layout.threads = threads_;
  layout.output = options_.output;
  ASSIGN_OR_RETURN(InputSet set, ReadInputSet(options_.source, layout));
  // Why inputs fail may be why a split gets none.
  const Status problems = options_.on_error.skip ? OkStatus() : ProblemsError(set);
  if (problems.ok()) RETURN_IF_ERROR(MakeSplits(options_.split_rule, options_.seed, &set));
  layout_ = set.layout;
  notes_ = set.notes;
  if (set.hidden_files > 0) {
    notes_.push_back(FormatCount(set.hidden_files) + " hidden files and folders left out");
  }
  for (const std::string& note : notes_) Note(options_, note);
  RETURN_IF_ERROR(problems);
  ASSIGN_OR_RETURN(const SetSizes sizes, FindSetSizes(set, options_, threads_));
  if (!sizes.sizes.empty()) AddNote(SizesNote(sizes));
  if (sizes.array.has_value() && sizes.array->without_numbers > 0) {
    AddNote(EmptyArraysNote(*sizes.array));
  }
  ASSIGN_OR_RETURN(plan_, MakePlan(std::move(set), options_, sizes));
  return OkStatus();
}

Result<int> PackJob::Run() {
  KeepFreedMemory();
  RETURN_IF_ERROR(CheckOutput(options_));
  ASSIGN_OR_RETURN(threads_, ResolveThreads(options_.jobs, launch_.local_size));
  RETURN_IF_ERROR(MakePackPlan());
  if (options_.dry_run) return launch_.rank > 0 ? kExitDone : Try();
  RETURN_IF_ERROR(TrainDictionaries(options_, threads_, &plan_));
  RETURN_IF_ERROR(Pack());
  return launch_.rank > 0 ? kExitDone : ReportAndWarn();
}

int PackJob::ReportAndWarn() {
  // mpirun gives rank 0 a terminal wherever its own output goes.
  PrintReport(launch_.size == 1 && WantsColor(stdout));
  const PackResult& result = written_.result;
  if (!result.unknown_labels.empty()) Warn(result.unknown_labels);
  if (written_.complete) WarnAboutClasses();
  if (written_.held_back) {
    Warn(options_.output + " keeps what it holds: " + FormatCount(result.faulty()) +
         " inputs were skipped, --on-error skip=" + std::to_string(options_.on_error.allowed()) +
         " allows " + FormatCount(options_.on_error.allowed()) +
         ". Correct them, or allow so many, and give the same command again: it goes on with the "
         "new shards, which are kept aside");
  }
  if (const uint64_t arrays = result.conversions[kNotFiniteKept]; arrays > 0) {
    Warn(FormatCount(arrays) + (arrays == 1 ? " array holds" : " arrays hold") +
         " NaN or infinite numbers, which are kept; training on them gives NaN" +
         (result.not_finite_example.empty() ? "" : "; the first: " + result.not_finite_example));
  }
  if (result.clipped_labels > 0) {
    Warn(FormatCount(result.clipped_labels) +
         " label files of 8 bits hold the value 255, and there are class ids beyond it: were "
         "larger ids cut to 255 when they were saved?");
  }
  return CodeOfSkipped(result.faulty());
}

// Where the notes are silent, the exit code would stand alone.
int PackJob::CodeOfSkipped(uint64_t faulty) const {
  const uint64_t allowed = options_.on_error.allowed();
  if (faulty <= allowed) return kExitDone;
  if (options_.quiet && !written_.held_back) {
    Warn(FormatCount(faulty) + (faulty == 1 ? " input was" : " inputs were") +
         " skipped, --on-error skip" +
         (options_.on_error.limit.has_value() ? "=" + std::to_string(allowed) : "") + " allows " +
         FormatCount(allowed) + " before the exit code is 6");
  }
  return kExitInputsSkipped;
}

Result<std::vector<PlannedShard>> PackJob::ChooseShards() const {
  std::vector<PlannedShard> shards = plan_.AllShards();
  if (!options_.slice.has_value()) return shards;
  if (options_.slice->last >= shards.size()) {
    return InvalidArgumentError("--shards: the plan has " + FormatCount(shards.size()) +
                                " shards, 0 to " + std::to_string(shards.size() - 1) +
                                "; --dry-run shows them");
  }
  const auto begin = shards.begin();
  return std::vector<PlannedShard>(begin + static_cast<int64_t>(options_.slice->first),
                                   begin + static_cast<int64_t>(options_.slice->last) + 1);
}

// The exit code is the one that the pack would have, as far as the inputs that were tried tell.
Result<int> PackJob::Try() {
  ASSIGN_OR_RETURN(trial_, TryInputs(plan_, options_, threads_));
  PrintReport(launch_.size == 1 && WantsColor(stdout));
  uint64_t problems = trial_.problems.size();
  for (const SplitPlan& split : plan_.splits) {
    problems += static_cast<uint64_t>(
        std::count_if(split.problems.begin(), split.problems.end(),
                      [](const Problem& problem) { return !problem.by_rule; }));
  }
  if (options_.on_error.skip) {
    return CodeOfSkipped(problems);
  }
  if (problems == 0) return kExitDone;
  const Problem& first = trial_.problems.front();
  return DataLossError(FormatCount(problems) + " of the " + FormatCount(trial_.tried) +
                       " inputs tried cannot be packed; the first: " + first.key + ": " +
                       first.reason);
}

Status PackJob::Pack() {
  SetWriting writing;
  writing.launch = launch_;
  writing.threads = threads_;
  ASSIGN_OR_RETURN(writing.shards, ChooseShards());
  writing.note = [this](const std::string& text) { Note(options_, text); };
  writing.start_progress = [this](uint64_t total) { return StartProgress("packing", total); };
  const auto start = std::chrono::steady_clock::now();
  writing.write_report = [this, start](const PackResult& result) {
    seconds_ = SecondsSince(start);
    WriteReport(result);
  };
  const uint64_t bytes = plan_.most_bytes();
  Note(options_, DescribePlan(Report()) + "; at most " + FormatBytes(bytes) + " in all");
  if (!options_.finish && launch_.rank == 0) WarnAboutSpace(bytes);
  ASSIGN_OR_RETURN(written_, WriteSet(plan_, options_, writing));
  if (!written_.complete || written_.was_there) seconds_ = SecondsSince(start);
  const std::string page = JoinPath(options_.output, kReportFileName);
  std::error_code error;
  if (written_.was_there && std::filesystem::exists(page, error)) page_ = page;
  return OkStatus();
}

// The data set is complete without it.
void PackJob::WriteReport(const PackResult& result) {
  // An old one would tell of another set.
  std::error_code error;
  std::filesystem::remove(JoinPath(options_.output, kReportFileName), error);
  ReportContext context;
  context.source = options_.source;
  context.notes = notes_;
  context.threads = threads_;
  context.inputs = plan_.inputs();
  context.source_bytes = plan_.source_bytes();
  context.conversions = ConvertedImages(result);
  const Status status = WriteHtmlReport(options_.output, context);
  if (status.ok()) {
    page_ = JoinPath(options_.output, kReportFileName);
  } else {
    Warn("there is no " + std::string(kReportFileName) + ": " + status.message());
  }
}

void PackJob::WarnAboutSpace(uint64_t bytes) const {
  std::error_code error;
  std::filesystem::space_info space = std::filesystem::space(options_.output, error);
  if (error) space = std::filesystem::space(FolderName(options_.output), error);  // not made yet
  if (error || space.available >= bytes) return;
  Warn(options_.output + " has " + FormatBytes(space.available) + " free; the shards take up to " +
       FormatBytes(bytes));
}

void PackJob::PrintReport(bool colored) {
  const PackReport report = Report();
  has_printed_ = true;
  const std::string text = style_ == ReportStyle::kJson ? SummaryJson(report)
                           : options_.dry_run           ? PlanText(report)
                                                        : SummaryText(report, colored);
  std::fputs(text.c_str(), stdout);
}

void PackJob::WarnAboutClasses() const {
  const std::vector<std::string> absent = AbsentClasses(Report());
  if (absent.empty()) return;
  std::string names;
  for (size_t i = 0; i < std::min(absent.size(), kProblemsShown); ++i) {
    names += (i == 0 ? "" : ", ") + absent[i];
  }
  if (absent.size() > kProblemsShown) names += ", …";
  Warn(std::to_string(absent.size()) + " of " + std::to_string(plan_.schema.classes.size()) +
       " classes occur in no record: " + names);
  uint64_t ignored = 0, pixels = 0;
  for (const SplitResult& split : written_.result.splits) {
    ignored += split.statistics.ignore_pixels();
    pixels += split.statistics.image_pixels();
  }
  if (static_cast<double>(ignored) > kMuchIgnored * static_cast<double>(pixels)) {
    Warn("much of the set is ignored; is the ignore value " +
         std::to_string(plan_.schema.ignore.value_or(0)) + " one of the classes in the files?");
  }
}

}  // namespace

namespace {

// Rank 0 speaks for all. A plan with problems has been printed before they become an error.
Result<int> RunRank(const PackOptions& options, const Launch& launch, ReportStyle style) {
  PackOptions rank_options = options;
  rank_options.quiet = options.quiet || launch.rank > 0;
  PackJob job(rank_options, launch, style);
  Result<int> result = job.Run();
  if (result.ok()) return result;
  if (style == ReportStyle::kJson && launch.rank == 0 && !job.has_printed()) {
    std::fputs(ErrorJson(options.source, result.status()).c_str(), stdout);
  }
  if (launch.size == 1) return result;
  return result.status().WithContext("rank " + std::to_string(launch.rank) + " of " +
                                     std::to_string(launch.size));
}

}  // namespace

Result<int> RunPackJob(const PackOptions& options, ReportStyle style) {
  ASSIGN_OR_RETURN(const Launch launch, DetectLaunch());
  return RunRank(options, launch, style);
}

}  // namespace shardmill
