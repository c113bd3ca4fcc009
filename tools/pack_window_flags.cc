#include "tools/pack_window_flags.h"

#include <algorithm>
#include <string_view>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "reader/console/option_types.h"
#include "tools/choice_option.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxVariants = 1000;

CropMode CropModeByName(const std::string& name) {
  for (CropMode mode : {CropMode::kRandom, CropMode::kCorners, CropMode::kTile}) {
    if (name == CropModeName(mode)) return mode;
  }
  return CropMode::kCenter;
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

// Options that mean nothing without another one.
Status CheckUseless(const WindowFlags& flags) {
  const WindowFlags usual;
  if (flags.eval_crop_mode != usual.eval_crop_mode && !flags.crop.has_value()) {
    return InvalidArgumentError("--eval-crop-mode " + flags.eval_crop_mode +
                                " needs --crop HEIGHTxWIDTH");
  }
  if (flags.augment_with != usual.augment_with && flags.augment == 0) {
    return InvalidArgumentError("--augment-with " + flags.augment_with +
                                " needs --augment, the number of copies");
  }
  if (flags.variants == 0) {
    return InvalidArgumentError("--variants 0 would make no record; 1 is the least");
  }
  return OkStatus();
}

Status CheckCrop(const WindowFlags& flags) {
  const bool mode_given = !flags.crop_mode.empty() && flags.crop_mode != "none";
  if (mode_given && !flags.crop.has_value()) {
    return InvalidArgumentError("--crop-mode " + flags.crop_mode + " needs --crop HEIGHTxWIDTH");
  }
  if (flags.crop_mode == "none" && flags.crop.has_value()) {
    return InvalidArgumentError("--crop and --crop-mode none contradict each other");
  }
  if (flags.fast_resize && flags.resize.empty()) {
    return InvalidArgumentError("--fast-resize needs --resize");
  }
  if (flags.small_images == "refuse" && !flags.crop.has_value()) {
    return InvalidArgumentError("--small-images refuse needs --crop HEIGHTxWIDTH");
  }
  if (flags.variants > 1 && flags.crop_mode != "random") {
    return InvalidArgumentError("--variants " + std::to_string(flags.variants) +
                                " needs --crop-mode random");
  }
  const bool tiles = flags.crop_mode == "tile" || flags.eval_crop_mode == "tile";
  if (flags.tile_overlap > 0 && !(tiles && flags.crop.has_value())) {
    return InvalidArgumentError(
        "--tile-overlap needs --crop and --crop-mode or --eval-crop-mode "
        "tile");
  }
  if (flags.crop.has_value() &&
      flags.tile_overlap >= std::min(flags.crop->height, flags.crop->width)) {
    return InvalidArgumentError("--tile-overlap " + std::to_string(flags.tile_overlap) +
                                " must be less than the sides of --crop " +
                                FormatImageSize(*flags.crop));
  }
  return OkStatus();
}

// A window is made whatever the sources are: of padding, if of nothing else.
Status CheckPixels(const char* flag, ImageSize size, uint64_t max_pixels) {
  if (size.pixels() <= max_pixels) return OkStatus();
  return InvalidArgumentError(std::string(flag) + " " + FormatImageSize(size) + " is " +
                              FormatCount(size.pixels()) + " pixels, more than --max-pixels " +
                              std::to_string(max_pixels));
}

}  // namespace

void AddWindowFlags(CLI::App* app, WindowFlags* flags) {
  app->add_option("--resize", flags->resize,
                  "New size of every image, or of its short or long side, before any crop. Pixel "
                  "centres lie at +0.5; images by area or linearly, labels by nearest pixel")
      ->type_name("HEIGHTxWIDTH|short=N|long=N")
      ->check(CheckResize, "");
  app->add_flag("--fast-resize", flags->fast_resize,
                "Decode JPEG files at 1/2, 1/4 or 1/8 of their size where --resize shrinks them; "
                "faster, but other pixels");
  AddImageSize(app, "--crop", &flags->crop, "Window of every image");
  AddChoice(app, "--small-images", &flags->small_images, {"pad", "refuse"},
            "Images smaller than the crop on a side: pad it evenly (labels with the ignore value), "
            "or refuse them, which --on-error makes an end or a skip");
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
      ->default_str("1")
      ->check(CheckShare, "");
  AddUnsigned(app, "--pad-value", &flags->pad_value, 255, "Padding of images");
  AddUnsigned(app, "--seed", &flags->seed, UINT64_MAX,
              "Of splits, random crops, augmentation and the order");
}

Status TakeWindowFlags(const WindowFlags& flags, PackOptions* options) {
  RETURN_IF_ERROR(CheckUseless(flags));
  RETURN_IF_ERROR(CheckCrop(flags));
  options->crop = flags.crop;
  options->fast_resize = flags.fast_resize;
  options->small_images = flags.small_images == "pad" ? SmallImages::kPad : SmallImages::kRefuse;
  options->seed = flags.seed;
  options->pad_value = static_cast<uint8_t>(flags.pad_value);
  if (!flags.resize.empty()) {
    ASSIGN_OR_RETURN(options->resize, ParseResize(flags.resize));
    if (options->resize->kind == ResizeRule::Kind::kExact) {
      RETURN_IF_ERROR(CheckPixels("--resize", options->resize->size, options->max_pixels));
    }
  }
  if (options->crop.has_value()) {
    RETURN_IF_ERROR(CheckPixels("--crop", *options->crop, options->max_pixels));
  }
  options->variants = static_cast<uint32_t>(std::max<uint64_t>(1, flags.variants));
  options->tile_overlap = static_cast<uint32_t>(flags.tile_overlap);
  ASSIGN_OR_RETURN(options->augment, ParseAugments(flags.augment_with));
  options->augment.copies = static_cast<uint32_t>(flags.augment);
  if (!flags.max_ignore.empty()) {
    ASSIGN_OR_RETURN(options->max_ignore_permille, ParseShare(flags.max_ignore));
  }
  options->crop_mode = CropModeByName(flags.crop_mode);
  options->eval_crop_mode = CropModeByName(flags.eval_crop_mode);
  return OkStatus();
}

}  // namespace shardmill
