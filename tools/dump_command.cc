#include "tools/dump_command.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "reader/console/command_line.h"
#include "reader/console/error_json.h"
#include "reader/console/option_types.h"
#include "tools/dump/verbs.h"

namespace shardmill {
namespace {

constexpr uint64_t kMostCells = 400;

using RunVerb = Result<int> (*)(const DumpOptions&);

// The verb that was named, or info.
struct DumpState {
  DumpOptions options;
  RunVerb run = RunDumpInfo;
  std::string word;  // without a verb: PATH, or a mistyped verb
};

std::vector<std::string> VerbNames(const CLI::App& dump) {
  std::vector<std::string> names;
  for (const CLI::App* verb : dump.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

// What stands behind `dump` when no verb was recognised.
Status TakeWords(const CLI::App& dump, DumpState* state) {
  if (!state->word.empty()) state->options.path = state->word;
  const std::vector<std::string> rest = dump.remaining();
  if (rest.empty()) return OkStatus();
  if (rest.front().substr(0, 1) == "-") {
    return InvalidArgumentError("unknown option '" + rest.front() +
                                "'; options of a verb stand behind the verb");
  }
  const std::vector<std::string> verbs = VerbNames(dump);
  const std::string nearest = NearestName(state->word, verbs);
  std::string message = "unknown verb '" + state->word + "'";
  if (!nearest.empty()) message += " (did you mean '" + nearest + "'?)";
  message += "; the verbs are:";
  for (const std::string& verb : verbs) message += " " + verb;
  return InvalidArgumentError(message);
}

CLI::App* AddVerb(CLI::App* dump, DumpState* state, const std::string& name,
                  const std::string& description, RunVerb run) {
  CLI::App* verb = dump->add_subcommand(name, description);
  verb->add_option("PATH", state->options.path,
                   "Folder of a data set, its manifest.json, or a shard")
      ->required()
      ->type_name("");
  verb->callback([state, run] { state->run = run; });
  return verb;
}

void AddSplit(CLI::App* verb, DumpState* state, const std::string& otherwise) {
  verb->add_option("--split", state->options.split, "Name of the split; otherwise " + otherwise)
      ->type_name("NAME");
}

void AddJson(CLI::App* app, DumpState* state) {
  app->add_flag("--json", state->options.json, "Prints one JSON object, also when it fails");
}

// CLI11's ranges let it pass: it is not below the least and not above the largest value.
std::string RefuseNan(const std::string& text) {
  return std::isnan(std::strtod(text.c_str(), nullptr)) ? "Value " + text + " is not a number" : "";
}

void AddPictureOptions(CLI::App* verb, DumpState* state) {
  verb->add_option("-o,--output", state->options.output,
                   "PNG file to write; otherwise SET-SPLIT-….png in this folder")
      ->type_name("FILE");
  verb->add_option("--field", state->options.field, "Field shown as the image")->type_name("NAME");
  verb->add_option("--opacity", state->options.opacity, "Of the labels over the image")
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->check(CLI::Validator(RefuseNan, ""))
      ->type_name("0..1")
      ->capture_default_str();
}

void AddQuiet(CLI::App* verb, DumpState* state, const std::string& effect) {
  verb->add_flag("-q,--quiet", state->options.quiet, effect);
}

void AddInfo(CLI::App* dump, DumpState* state) {
  CLI::App* verb =
      AddVerb(dump, state, "info", "Splits, fields, classes, statistics, recipe (the default)",
              RunDumpInfo);
  AddJson(verb, state);
}

void AddRecords(CLI::App* dump, DumpState* state) {
  CLI::App* verb = AddVerb(dump, state, "records",
                           "A table of records: key, source, crop, stored bytes", RunDumpRecords);
  AddSplit(verb, state, "the first one");
  verb->add_option("--range", state->options.range, "Records FIRST up to, not including, END")
      ->type_name("FIRST:END");
  AddUnsigned(verb, "--limit", &state->options.limit, UINT64_MAX,
              "Records shown when no range is given; 0: all");
  AddJson(verb, state);
  AddQuiet(verb, state, "No remarks on stderr");
}

void AddShow(CLI::App* dump, DumpState* state) {
  CLI::App* verb =
      AddVerb(dump, state, "show",
              "One record as a PNG: image, label over it, label; prints the path", RunDumpShow);
  AddSplit(verb, state, "the first one");
  CLI::Option* record = AddUnsigned(verb, "--record", &state->options.record, UINT64_MAX,
                                    "Number of the record in its split");
  verb->add_option("--key", state->options.key, "Key of the record, instead of its number")
      ->type_name("KEY")
      ->excludes(record);
  AddPictureOptions(verb, state);
  AddQuiet(verb, state, "No table of classes on stderr");
}

void AddSheet(CLI::App* dump, DumpState* state) {
  CLI::App* verb =
      AddVerb(dump, state, "sheet", "Several records as one PNG with a legend; prints the path",
              RunDumpSheet);
  AddSplit(verb, state, "the first one");
  AddUnsigned(verb, "--count", &state->options.count, kMostCells,
              "Records, evenly spaced over the split: 1 to " + std::to_string(kMostCells));
  AddPictureOptions(verb, state);
}

void AddStats(CLI::App* dump, DumpState* state) {
  CLI::App* verb = AddVerb(
      dump, state, "stats",
      "Counts classes, channels and bytes again and compares with the manifest", RunDumpStats);
  AddSplit(verb, state, "all of them");
  AddUnsigned(verb, "--jobs", &state->options.jobs, 1024, "Threads; 0: one for each core");
  AddJson(verb, state);
  AddQuiet(verb, state, "No progress");
}

Result<int> RunVerbOf(const CLI::App& dump, DumpState* state) {
  RETURN_IF_ERROR(TakeWords(dump, state));
  if (state->options.path.empty()) {
    return InvalidArgumentError("what shall be shown? Name the folder of a data set or a shard");
  }
  return state->run(state->options);
}

}  // namespace

void AddDumpCommand(CommandLine* commands) {
  auto state = std::make_shared<DumpState>();
  auto dump = std::make_shared<CLI::App*>(nullptr);
  *dump = commands->Add(
      "dump", "Shows what is inside a data set or a shard", [state, dump]() -> Result<int> {
        Result<int> result = RunVerbOf(**dump, state.get());
        if (!result.ok() && state->options.json) {
          const std::string text = ErrorJson(state->options.path, result.status());
          std::fwrite(text.data(), 1, text.size(), stdout);
        }
        return result;
      });
  (*dump)
      ->add_option("PATH", state->word, "Without a verb: the same as `dump info PATH`")
      ->type_name("");
  AddJson(*dump, state.get());
  (*dump)->require_subcommand(0, 1);
  AddInfo(*dump, state.get());
  AddRecords(*dump, state.get());
  AddShow(*dump, state.get());
  AddSheet(*dump, state.get());
  AddStats(*dump, state.get());
  (*dump)->allow_extras();  // for TakeWords; verbs were added before and do not inherit it
}

}  // namespace shardmill
