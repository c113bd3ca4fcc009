#include "tools/pack_command.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "reader/console/command_line.h"
#include "reader/console/option_types.h"
#include "tools/pack/codec_choice.h"
#include "tools/pack/layout.h"
#include "tools/pack/pack_job.h"
#include "tools/pack/pack_options.h"
#include "tools/pack/value_map.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxIgnore = 65535;
constexpr uint64_t kMaxVariants = 1000;
constexpr uint64_t kMaxSourcePixels = uint64_t{1} << 36;

// The options as they stand on the command line; Check() turns them into PackOptions.
struct PackFlags {
  PackOptions pack;
  std::string splits, crop_mode, eval_crop_mode = "center";
  std::string one_hot = "none", image_codec = "raw", label_codec = "zstd";
  std::string order, on_error = "fail", classes, map, palette;
  std::string resize, augment_with = std::string(UsualAugments()), max_ignore;
  uint64_t augment = 0;
  uint64_t ignore = 0, tolerance = 0, pad_value = 0, jobs = 0, variants = 1, tile_overlap = 0;
  bool has_ignore = false, has_tolerance = false, json = false;
};

const std::map<std::string, LabelEncoding>& OneHotNames() {
  static const std::map<std::string, LabelEncoding> names = {
      {"none", LabelEncoding::kIndex},
      {"bits", LabelEncoding::kOneHotBits},
      {"bytes", LabelEncoding::kOneHotBytes}};
  return names;
}

CropMode CropModeByName(const std::string& name) {
  for (CropMode mode : {CropMode::kRandom, CropMode::kCorners, CropMode::kTile}) {
    if (name == CropModeName(mode)) return mode;
  }
  return CropMode::kCenter;
}

Result<ErrorPolicy> ParsePolicy(const std::string& text) {
  if (text == "fail") return ErrorPolicy{};
  if (text == "skip") return ErrorPolicy{true, 0};
  if (text.rfind("skip=", 0) == 0) {
    Result<uint64_t> allowed = ParseUnsigned(text.substr(5), UINT64_MAX);
    if (allowed.ok()) return ErrorPolicy{true, *allowed};
  }
  return InvalidArgumentError("--on-error '" + text + "': write fail, skip or skip=N");
}

std::vector<std::string> SplitNames(const std::string& text) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin < text.size();) {
    size_t comma = std::min(text.find(',', begin), text.size());
    if (comma > begin) names.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return names;
}

// For CLI11: what is wrong with the text, if anything.
std::string CheckSplits(const std::string& text) {
  return SplitNames(text).empty() ? "it names no split" : "";
}

std::string CheckResize(const std::string& text) {
  return text.empty() ? "" : std::string(ParseResize(text).status().message());
}

std::string CheckAugments(const std::string& text) {
  return std::string(ParseAugments(text).status().message());
}

// "0.75" as 750.
Result<uint32_t> ParseShare(const std::string& text) {
  ASSIGN_OR_RETURN(const uint32_t permille, ParseThousandths(text));
  if (permille <= 1000) return permille;
  return InvalidArgumentError("'" + text + "' is more than 1");
}
std::string CheckShare(const std::string& text) {
  return std::string(ParseShare(text).status().message());
}

Status CheckCrop(const PackFlags& flags) {
  const bool mode_given = !flags.crop_mode.empty() && flags.crop_mode != "none";
  if (mode_given && !flags.pack.crop.has_value()) {
    return InvalidArgumentError("--crop-mode " + flags.crop_mode + " needs --crop HEIGHTxWIDTH");
  }
  if (flags.crop_mode == "none" && flags.pack.crop.has_value()) {
    return InvalidArgumentError("--crop and --crop-mode none contradict each other");
  }
  if (flags.variants > 1 && flags.crop_mode != "random") {
    return InvalidArgumentError("--variants " + std::to_string(flags.variants) +
                                " needs --crop-mode random");
  }
  const bool tiles = flags.crop_mode == "tile" || flags.eval_crop_mode == "tile";
  if (flags.tile_overlap > 0 && !(tiles && flags.pack.crop.has_value())) {
    return InvalidArgumentError(
        "--tile-overlap needs --crop and --crop-mode or --eval-crop-mode "
        "tile");
  }
  return OkStatus();
}

Result<PackOptions> Check(const PackFlags& flags) {
  PackOptions options = flags.pack;
  RETURN_IF_ERROR(CheckCrop(flags));
  if (options.output.empty() && !options.dry_run) {
    return InvalidArgumentError("-o OUT is missing (only --dry-run goes without it)");
  }
  const PairOptions& pairs = options.layout.pairs;
  const bool has_pairs = pairs.GivesNames() || !pairs.images.empty() || !pairs.labels.empty();
  if (has_pairs && options.layout.layout == "auto") options.layout.layout = "pairs";
  if (has_pairs && options.layout.layout != "pairs") {
    return InvalidArgumentError(
        "--images, --labels and their prefixes and suffixes are for "
        "--layout pairs, not " +
        options.layout.layout);
  }
  options.layout.splits = SplitNames(flags.splits);
  if (!flags.classes.empty()) options.layout.classes_file = flags.classes;
  if (!flags.map.empty()) options.layout.map = flags.map;
  if (flags.palette == "index") options.layout.palette = PaletteReading::kIndex;
  if (flags.palette == "color") options.layout.palette = PaletteReading::kColor;
  if (flags.has_tolerance) options.layout.label_tolerance = static_cast<uint32_t>(flags.tolerance);
  if (flags.has_ignore) options.layout.ignore = static_cast<uint32_t>(flags.ignore);
  if (!flags.resize.empty()) {
    ASSIGN_OR_RETURN(options.resize, ParseResize(flags.resize));
  }
  options.variants = static_cast<uint32_t>(std::max<uint64_t>(1, flags.variants));
  options.tile_overlap = static_cast<uint32_t>(flags.tile_overlap);
  ASSIGN_OR_RETURN(options.augment, ParseAugments(flags.augment_with));
  options.augment.copies = static_cast<uint32_t>(flags.augment);
  if (!flags.max_ignore.empty()) {
    ASSIGN_OR_RETURN(options.max_ignore_permille, ParseShare(flags.max_ignore));
  }
  options.crop_mode = CropModeByName(flags.crop_mode);
  options.eval_crop_mode = CropModeByName(flags.eval_crop_mode);
  options.label_encoding = OneHotNames().at(flags.one_hot);
  ASSIGN_OR_RETURN(options.image_codec, ParseCodecChoice(flags.image_codec));
  ASSIGN_OR_RETURN(options.label_codec, ParseCodecChoice(flags.label_codec));
  options.order = flags.order == "shuffled" ? DiskOrder::kShuffled
                  : flags.order == "sorted" ? DiskOrder::kSorted
                                            : DiskOrder::kByDefault;
  options.pad_value = static_cast<uint8_t>(flags.pad_value);
  options.jobs = static_cast<int>(flags.jobs);
  ASSIGN_OR_RETURN(options.on_error, ParsePolicy(flags.on_error));
  return options;
}

void AddChoice(CLI::App* app, const std::string& flag, std::string* value,
               const std::vector<std::string>& choices, const std::string& description) {
  std::string type;
  for (const std::string& choice : choices) type += (type.empty() ? "" : "|") + choice;
  CLI::Option* option = app->add_option(flag, *value, description);
  option->type_name(type)->check(CLI::IsMember(choices).description(""));
  if (!value->empty()) option->default_str(*value);
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
  app->add_option("--split", flags->splits, "Only these splits, separated by commas")
      ->type_name("NAME,…")
      ->check(CheckSplits, "");
  app->add_option("--on-error", flags->on_error,
                  "Inputs that cannot be packed: stop, or leave them out and exit with 6 when they "
                  "are more than N")
      ->type_name("fail|skip[=N]")
      ->default_str("fail");
  AddUnsigned(app, "--max-pixels", &flags->pack.max_pixels, kMaxSourcePixels,
              "Largest source image that is decoded");
}

void AddPairOptions(CLI::App* app, PackFlags* flags) {
  PairOptions& pairs = flags->pack.layout.pairs;
  auto add = [app](const char* flag, std::string* value, const char* type, const char* text) {
    app->add_option(flag, *value, text)->type_name(type);
  };
  add("--images", &pairs.images, "FOLDER", "For layout pairs: where the images lie in SOURCE");
  add("--labels", &pairs.labels, "FOLDER", "… and the label images");
  add("--image-prefix", &pairs.image_prefix, "TEXT", "… what names of images begin with");
  add("--image-suffix", &pairs.image_suffix, "TEXT", "… and end in, before the extension");
  add("--label-prefix", &pairs.label_prefix, "TEXT", "… the same for labels: the rest is equal");
  add("--label-suffix", &pairs.label_suffix, "TEXT", "… for example _mask");
}

void AddLabelOptions(CLI::App* app, PackFlags* flags) {
  app->add_option("--classes", flags->classes, "Class table (name,r,g,b), in place of the layout's")
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
            "the files, else the index, and the pack stops where both name classes that differ");
  AddUnsigned(app, "--label-tolerance", &flags->tolerance, 127,
              "Take label values that miss a class's by at most this much per channel for it, and "
              "accept labels of lossy formats")
      ->default_str("")
      ->each([flags](const std::string&) { flags->has_tolerance = true; });
}

void AddGeometryOptions(CLI::App* app, PackFlags* flags) {
  app->add_option("--resize", flags->resize,
                  "New size of every image, or of its short or long side, before any crop. Pixel "
                  "centres lie at +0.5; images by area or linearly, labels by nearest pixel")
      ->type_name("HEIGHTxWIDTH|short=N|long=N")
      ->check(CheckResize, "");
  AddImageSize(app, "--crop", &flags->pack.crop,
               "Window of every image; padded where the image is smaller");
  AddChoice(app, "--crop-mode", &flags->crop_mode, {"center", "random", "corners", "tile", "none"},
            "Where the windows lie in images of train: corners takes these and the centre, tile a "
            "grid that is padded at the far edges; center with --crop, else none");
  AddChoice(app, "--eval-crop-mode", &flags->eval_crop_mode, {"center", "corners", "tile"},
            "The same for the other splits");
  AddUnsigned(app, "--variants", &flags->variants, kMaxVariants,
              "Random windows of each image of train");
  AddUnsigned(app, "--tile-overlap", &flags->tile_overlap, kMaxImageSide,
              "Pixels that neighbouring tiles share");
  AddUnsigned(app, "--augment", &flags->augment, kMaxVariants,
              "Augmented copies of each window of train, beside the plain one");
  app->add_option("--augment-with", flags->augment_with,
                  "What they differ by, one transform for image and label, drawn for each copy up "
                  "to the strength given: " +
                      DescribeAugments())
      ->type_name("NAME[=STRENGTH],…")
      ->default_str(flags->augment_with)
      ->check(CheckAugments, "");
  app->add_option("--max-ignore", flags->max_ignore,
                  "Largest share of a window of train, 0 to 1, that may be ignored or padding; "
                  "else it is drawn again up to 10 times, then dropped and counted")
      ->type_name("SHARE")
      ->check(CheckShare, "");
  AddUnsigned(app, "--pad-value", &flags->pad_value, 255, "Padding of images");
  AddUnsigned(app, "--seed", &flags->pack.seed, UINT64_MAX,
              "Of random crops, augmentation and the order");
}

void AddOutputOptions(CLI::App* app, PackFlags* flags) {
  AddChoice(app, "--one-hot", &flags->one_hot, {"none", "bits", "bytes"},
            "Store labels as one-hot vectors; the loader makes them from indices too");
  AddCodec(app, "--image-codec", &flags->image_codec, "|jpeg[:QUALITY]", CheckImageCodec,
           "How images are stored; JPEG files that nothing changes are kept as they are");
  AddCodec(app, "--label-codec", &flags->label_codec, "", CheckLabelCodec,
           "How label images are stored; zstd-dict learns from the set first, for small records");
  AddChoice(app, "--order", &flags->order, {"shuffled", "sorted"},
            "Order in the shards; by default train is shuffled and the others are sorted");
  AddBytes(app, "--shard-size", &flags->pack.shard_bytes, "Target for the records of one shard");
  AddBytes(app, "--block-size", &flags->pack.block_bytes, "Target for the records of one block");
  app->add_flag("--overwrite", flags->pack.overwrite,
                "Replace the data set in OUT once the new one is complete");
  AddUnsigned(app, "-j,--jobs", &flags->jobs, 1024, "Threads; 0 means all CPUs");
  app->add_flag("--dry-run", flags->pack.dry_run, "Read the folder, print the plan, write nothing");
  app->add_flag("--json", flags->json, "Print the summary as one JSON object");
  app->add_flag("-q,--quiet", flags->pack.quiet, "No notes and no progress");
}

}  // namespace

void AddPackCommand(CommandLine* commands) {
  auto flags = std::make_shared<PackFlags>();
  auto run = [flags]() -> Result<int> {
    ASSIGN_OR_RETURN(PackOptions options, Check(*flags));
    return RunPackJob(options, flags->json ? ReportStyle::kJson : ReportStyle::kText);
  };
  CLI::App* app = commands->Add("pack", "Packs a folder of images and labels into shards", run);
  AddInputOptions(app, flags.get());
  AddPairOptions(app, flags.get());
  AddLabelOptions(app, flags.get());
  AddGeometryOptions(app, flags.get());
  AddOutputOptions(app, flags.get());
  app->footer("Layouts, of which auto takes the one that the folder looks like:\n" +
              DescribeLayouts());
}

}  // namespace shardmill
