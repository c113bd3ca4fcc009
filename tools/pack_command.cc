#include "tools/pack_command.h"

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "reader/console/command_line.h"
#include "reader/console/error_json.h"
#include "reader/console/option_types.h"
#include "tools/choice_option.h"
#include "tools/pack/labels/value_map.h"
#include "tools/pack/layouts/layout.h"
#include "tools/pack/pack_job.h"
#include "tools/pack/pack_options.h"
#include "tools/pack/records/codec_choice.h"
#include "tools/pack/records/raster.h"
#include "tools/pack_split_flags.h"
#include "tools/pack_window_flags.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxIgnore = 65535;
constexpr uint64_t kMaxSourcePixels = uint64_t{1} << 36;

// The options as they stand on the command line; Check() turns them into PackOptions.
struct PackFlags {
  PackOptions pack;
  WindowFlags windows;
  SplitFlags splits;
  std::string one_hot = "none", image_type = "u8", image_codec = "raw", label_codec = "zstd";
  std::string order, on_error = "fail", classes, map, palette, gray, category_ids = "compact",
                     bands, shards;
  uint64_t ignore = 0, tolerance = 0, jobs = 0;
  bool has_ignore = false, has_tolerance = false, has_no_data = false, json = false;
  double no_data = 0;
};

const std::map<std::string, LabelEncoding>& OneHotNames() {
  static const std::map<std::string, LabelEncoding> names = {
      {"none", LabelEncoding::kIndex},
      {"bits", LabelEncoding::kOneHotBits},
      {"bytes", LabelEncoding::kOneHotBytes}};
  return names;
}

Result<ErrorPolicy> ParsePolicy(const std::string& text) {
  if (text == "fail") return ErrorPolicy{};
  if (text == "skip") return ErrorPolicy{true, std::nullopt};
  if (text.rfind("skip=", 0) == 0) {
    Result<uint64_t> allowed = ParseUnsigned(text.substr(5), UINT64_MAX);
    if (allowed.ok()) return ErrorPolicy{true, *allowed};
  }
  return InvalidArgumentError("--on-error '" + text + "': write fail, skip or skip=N");
}

// "A-B", or "A" for one shard.
Result<ShardSlice> ParseSlice(const std::string& text) {
  const size_t dash = std::min(text.find('-'), text.size());
  const Result<uint64_t> first = ParseUnsigned(text.substr(0, dash), UINT32_MAX);
  const Result<uint64_t> last =
      dash == text.size() ? first : ParseUnsigned(text.substr(dash + 1), UINT32_MAX);
  if (first.ok() && last.ok() && *first <= *last) return ShardSlice{*first, *last};
  return InvalidArgumentError("--shards '" + text +
                              "': write A-B, the numbers of the first and the last shard, from 0");
}

Status CheckSharing(const PackFlags& flags) {
  if (!flags.pack.finish) return OkStatus();
  if (!flags.shards.empty()) {
    return InvalidArgumentError("--shards makes a part of the set, --finish ends it: give one");
  }
  if (flags.pack.dry_run) return InvalidArgumentError("--finish and --dry-run exclude each other");
  return OkStatus();
}

Result<PackOptions> Check(const PackFlags& flags) {
  PackOptions options = flags.pack;
  if (options.output.empty() && !options.dry_run) {
    return InvalidArgumentError("-o OUT is missing (only --dry-run goes without it)");
  }
  options.layout.keep_category_ids = flags.category_ids == "raw";
  const PairOptions& pairs = options.layout.pairs;
  const bool has_pairs = pairs.GivesNames() || !pairs.images.empty() || !pairs.labels.empty();
  if (has_pairs && options.layout.layout == "auto") options.layout.layout = "pairs";
  if (has_pairs && options.layout.layout != "pairs") {
    return InvalidArgumentError(
        "--images, --labels and their prefixes and suffixes are for "
        "--layout pairs, not " +
        options.layout.layout);
  }
  RETURN_IF_ERROR(CheckSharing(flags));
  if (!flags.shards.empty()) {
    ASSIGN_OR_RETURN(options.slice, ParseSlice(flags.shards));
  }
  RETURN_IF_ERROR(TakeSplitFlags(flags.splits, &options));
  RETURN_IF_ERROR(TakeWindowFlags(flags.windows, &options));
  if (!flags.classes.empty()) options.layout.classes_file = flags.classes;
  if (!flags.map.empty()) options.layout.map = flags.map;
  if (flags.palette == "index") options.layout.palette = PaletteReading::kIndex;
  if (flags.palette == "color") options.layout.palette = PaletteReading::kColor;
  if (flags.gray == "value") options.layout.gray = GrayReading::kValue;
  if (flags.gray == "color") options.layout.gray = GrayReading::kColor;
  if (flags.has_tolerance) options.layout.label_tolerance = static_cast<uint32_t>(flags.tolerance);
  if (flags.has_ignore) options.layout.ignore = static_cast<uint32_t>(flags.ignore);
  options.label_encoding = OneHotNames().at(flags.one_hot);
  options.image_type = flags.image_type == "u16" ? DType::kU16 : DType::kU8;
  ASSIGN_OR_RETURN(options.image_codec, ParseCodecChoice(flags.image_codec));
  ASSIGN_OR_RETURN(options.label_codec, ParseCodecChoice(flags.label_codec));
  options.order = flags.order == "shuffled" ? DiskOrder::kShuffled
                  : flags.order == "sorted" ? DiskOrder::kSorted
                                            : DiskOrder::kByDefault;
  options.jobs = static_cast<int>(flags.jobs);
  if (flags.has_no_data && flags.bands.empty()) {
    return InvalidArgumentError("--no-data needs --bands");
  }
  if (!flags.bands.empty()) {
    options.bands.emplace();
    ASSIGN_OR_RETURN(options.bands->bands, ParseBands(flags.bands));
    if (flags.has_no_data) options.bands->no_data = flags.no_data;
  }
  ASSIGN_OR_RETURN(options.on_error, ParsePolicy(flags.on_error));
  return options;
}

std::string CheckImageCodec(const std::string& text) {
  return std::string(ParseCodecChoice(text).status().message());
}

std::string CheckLabelCodec(const std::string& text) {
  const Result<CodecChoice> choice = ParseCodecChoice(text);
  if (choice.ok() && choice->codec == Codec::kJpeg) return "JPEG changes class ids";
  return std::string(choice.status().message());
}

void AddCodec(CLI::App* app, const std::string& flag, std::string* value, const std::string& more,
              std::string (*check)(const std::string&), const std::string& description) {
  app->add_option(flag, *value, description)
      ->type_name("raw|zstd[:LEVEL]|zstd-dict[:LEVEL]" + more)
      ->check(check, "")
      ->default_str(*value);
}

void AddInputOptions(CLI::App* app, PackFlags* flags) {
  app->add_option("SOURCE", flags->pack.source, "Folder of images to pack")
      ->required()
      ->type_name("");
  app->add_option("-o,--output", flags->pack.output, "Folder for the shards")->type_name("OUT");
  AddChoice(app, "--layout", &flags->pack.layout.layout, LayoutNames(),
            "How the folder is laid out");
  app->add_option(
         "--on-error", flags->on_error,
         "Inputs that cannot be packed: stop, or leave them out and exit with 6: with skip "
         "when there is one, with skip=N when they are more than N (then --overwrite "
         "keeps the old data set, with skip=0 too); a listed file that is gone or that the system "
         "does not give out always "
         "stops the pack")
      ->type_name("fail|skip[=N]")
      ->default_str("fail");
  AddUnsigned(app, "--max-pixels", &flags->pack.max_pixels, kMaxSourcePixels,
              "Largest source image that is decoded, and largest window of --resize and --crop");
}

// For CLI11: what is wrong with the text, if anything.
std::string CheckBands(const std::string& text) {
  return std::string(ParseBands(text).status().message());
}

void AddBandOptions(CLI::App* app, PackFlags* flags) {
  app->add_option("--bands", flags->bands,
                  "Store these bands of TIFF files as they are (u8, u16 or f32), not as RGB")
      ->type_name("all|N,N,…")
      ->check(CheckBands, "");
  app->add_option("--no-data", flags->no_data,
                  "With --bands: the value where there is no data, in place of the file's own; it "
                  "is filled with 0 and has no class, like what is no finite number")
      ->type_name("VALUE")
      ->default_str("")
      ->each([flags](const std::string&) { flags->has_no_data = true; });
}

void AddPairOptions(CommandLine* commands, CLI::App* app, PackFlags* flags) {
  PairOptions& pairs = flags->pack.layout.pairs;
  auto add = [=](const char* flag, std::string* value, const char* type, const char* text) {
    const CLI::Option* option = app->add_option(flag, *value, text)->type_name(type);
    // Names may begin and end in nothing more.
    if (std::string_view(type) == "TEXT") commands->AllowEmpty(option);
  };
  add("--images", &pairs.images, "FOLDER", "For layout pairs: where the images lie in SOURCE");
  add("--labels", &pairs.labels, "FOLDER", "… and the label images");
  add("--image-prefix", &pairs.image_prefix, "TEXT", "… what names of images begin with");
  add("--image-suffix", &pairs.image_suffix, "TEXT", "… and end in, before the extension");
  add("--label-prefix", &pairs.label_prefix, "TEXT", "… the same for labels: the rest is equal");
  add("--label-suffix", &pairs.label_suffix, "TEXT", "… for example _mask");
  add("--list", &flags->pack.layout.list, "FILE",
      "For layouts list and csv: the list file in SOURCE; it may have a column 'split'");
  AddChoice(app, "--category-ids", &flags->category_ids, {"compact", "raw"},
            "For layouts coco and coco-panoptic: number the categories without gaps, or keep their "
            "ids as class ids");
}

void AddLabelOptions(CLI::App* app, PackFlags* flags) {
  app->add_option(
         "--classes", flags->classes,
         "Class table (name,r,g,b; a column 'id' says which label value a class is), in place of "
         "the layout's")
      ->type_name("FILE");
  AddUnsigned(app, "--ignore", &flags->ignore, kMaxIgnore,
              "Label value that means no class, in place of the layout's")
      ->default_str("")
      ->each([flags](const std::string&) { flags->has_ignore = true; });
  std::string maps = "FILE|none";
  for (const std::string& name : ValueMapNames()) maps += "|" + name;
  app->add_option("--map", flags->map,
                  "What label values become, in place of the layout's map: lines 'FROM TO' with a "
                  "number, range, #rrggbb or * and a class id, class name or 'ignore'")
      ->type_name(maps);
  AddChoice(app, "--palette", &flags->palette, {"index", "color"},
            "What counts in palette files; by default the colour when the class table has those of "
            "the files, else the index, and the pack stops where that is not certain");
  AddChoice(app, "--gray", &flags->gray, {"value", "color"},
            "What gray label files of any depth hold, also in three equal channels: class ids, or "
            "the colour (v, v, v), v scaled "
            "to 8 bits; by default what fits all values of a file, and the pack stops where both "
            "do and differ");
  AddUnsigned(app, "--label-tolerance", &flags->tolerance, 127,
              "Take label values that miss a class's by at most this much per channel for it, and "
              "accept labels of lossy formats")
      ->default_str("")
      ->each([flags](const std::string&) { flags->has_tolerance = true; });
}

void AddOutputOptions(CLI::App* app, PackFlags* flags) {
  AddChoice(app, "--one-hot", &flags->one_hot, {"none", "bits", "bytes"},
            "Store labels as one-hot vectors; the loader makes them from indices too");
  AddChoice(app, "--image-type", &flags->image_type, {"u8", "u16"},
            "Type of the samples of stored images");
  AddCodec(
      app, "--image-codec", &flags->image_codec, "|jpeg[:QUALITY]", CheckImageCodec,
      "How images and arrays are stored; JPEG files that nothing changes are kept as they are");
  AddCodec(app, "--label-codec", &flags->label_codec, "", CheckLabelCodec,
           "How label images are stored; zstd-dict learns from the set first, for small records");
  AddChoice(app, "--order", &flags->order, {"shuffled", "sorted"},
            "Order in the shards; by default train is shuffled and the others are sorted");
  AddBytes(app, "--shard-size", &flags->pack.shard_bytes, "Target for the records of one shard");
  AddBytes(app, "--block-size", &flags->pack.block_bytes, "Target for the records of one block");
  app->add_flag("--overwrite", flags->pack.overwrite,
                "Replace the data set in OUT once the new one is complete");
  AddUnsigned(app, "-j,--jobs", &flags->jobs, 1024, "Threads; 0 means all CPUs");
  app->add_option("--shards", flags->shards,
                  "Make only these shards of the plan, beside others that do the same; numbered "
                  "from 0 through all splits as --dry-run shows them; no manifest")
      ->type_name("A-B");
  app->add_flag("--finish", flags->pack.finish,
                "Check that all shards of the plan are there and fit, and write the manifest; with "
                "--overwrite when they were made with it");
  app->add_flag("--dry-run", flags->pack.dry_run,
                "Read the folder, try some inputs, print the plan with an estimate and the "
                "problems; write nothing");
  app->add_flag("--json", flags->json, "Print the summary, or the error, as one JSON object");
  app->add_flag("-q,--quiet", flags->pack.quiet, "No notes and no progress");
}

}  // namespace

void AddPackCommand(CommandLine* commands) {
  auto flags = std::make_shared<PackFlags>();
  auto run = [flags]() -> Result<int> {
    const ReportStyle style = flags->json ? ReportStyle::kJson : ReportStyle::kText;
    const Result<PackOptions> options = Check(*flags);
    if (options.ok()) return RunPackJob(*options, style);
    if (flags->json) {
      std::fputs(ErrorJson(flags->pack.source, options.status()).c_str(), stdout);
    }
    return options.status();
  };
  CLI::App* app = commands->Add("pack", "Packs a folder of images and labels into shards", run);
  AddInputOptions(app, flags.get());
  AddSplitFlags(app, &flags->splits);
  AddPairOptions(commands, app, flags.get());
  AddLabelOptions(app, flags.get());
  AddBandOptions(app, flags.get());
  AddWindowFlags(app, &flags->windows);
  AddOutputOptions(app, flags.get());
  app->footer("Layouts, of which auto takes the one that the folder looks like:\n" +
              DescribeLayouts());
}

}  // namespace shardmill
