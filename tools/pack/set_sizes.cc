#include "tools/pack/set_sizes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "reader/console/terminal.h"
#include "reader/console/units.h"
#include "tools/pack/image_sizes.h"
#include "tools/pack/inputs/input_fault.h"
#include "tools/pack/labels/label_read.h"
#include "tools/progress.h"

namespace shardmill {
namespace {

Status NoneReadableError(const InputSet& set, const PackOptions& options, uint64_t images) {
  const auto split = std::find_if(set.splits.begin(), set.splits.end(),
                                  [](const InputSplit& each) { return !each.samples.empty(); });
  const Sample& first = split->samples.front();
  const Status status = ReadSampleSize(set.root, first, options.max_pixels).status();
  const std::string message =
      "none of the " + FormatCount(images) + " images can be read; the first: " + first.key;
  if (status.ok()) return DataLossError(message + ", which was changed just now");
  return status.WithContext(message);
}

// The form of the first raster that can be read: all must have it.
Result<RasterForm> FindRasterForm(const InputSet& set, const PackOptions& options) {
  constexpr int kFilesTried = 20;
  int tried = 0;
  Status first_error;
  for (const InputSplit& split : set.splits) {
    for (const Sample& sample : split.samples) {
      if (tried++ >= kFilesTried) return first_error;
      const Result<std::string> file = ReadSampleImage(set.root, sample);
      const Result<RasterForm> form =
          file.ok() ? ProbeRaster(*file, *options.bands) : Result<RasterForm>(file.status());
      if (form.ok()) return form;
      if (!IsInputFault(form.status())) return form.status().WithContext(sample.key);
      if (first_error.ok()) first_error = form.status().WithContext(sample.key);
    }
  }
  if (first_error.ok()) return RasterForm();
  return first_error;
}

// The sizes of the records, for records that are as large as their image.
void MeasureRecords(std::vector<SizeCount> sizes, const PackOptions& options, SetSizes* result) {
  if (options.resize.has_value()) sizes = ResizedSizes(sizes, *options.resize);
  if (sizes.size() == 1) {
    result->window = sizes.front().size;
    return;
  }
  uint64_t images = 0;
  unsigned __int128 pixels = 0;
  for (const SizeCount& count : sizes) {
    images += count.images;
    pixels += static_cast<unsigned __int128>(count.images) * count.size.pixels();
    result->largest_pixels = std::max(result->largest_pixels, count.size.pixels());
  }
  result->mean_pixels = static_cast<uint64_t>(pixels / images);
  result->sizes =
      FormatCount(sizes.size()) + " sizes, most often " + DescribeImageSize(sizes.front().size) +
      " (" + FormatCount(sizes.front().images) + " of " + FormatCount(images) + "), least often " +
      DescribeImageSize(sizes.back().size) + " (as " + EscapeControl(sizes.back().example) + ")";
}

uint64_t RecordsOfSplit(const std::vector<SizeCount>& sizes, size_t split,
                        const GeometryOptions& geometry) {
  uint64_t records = 0;
  for (const SizeCount& count : sizes) {
    records += count.images_by_split[split] *
               std::min(kMaxRecordsPerSource, CountRecords(geometry, count.size));
  }
  return records;
}

}  // namespace

Result<SetSizes> FindSetSizes(const InputSet& set, const PackOptions& options, int threads) {
  SetSizes result;
  if (set.holds_arrays) {
    ASSIGN_OR_RETURN(result.array, FindArrayForm(set, options.on_error.skip, threads));
    return result;
  }
  if (options.bands.has_value()) {
    ASSIGN_OR_RETURN(result.raster, FindRasterForm(set, options));
  }
  const bool window_is_open =
      !options.crop && !(options.resize && options.resize->kind == ResizeRule::Kind::kExact);
  bool records_are_open = false;
  uint64_t images = 0;
  for (const InputSplit& split : set.splits) {
    images += split.samples.size();
    records_are_open |= RecordsDependOnSize(SplitGeometry(options, split.name));
  }
  if (images == 0 || (!window_is_open && !records_are_open)) return result;
  ProgressOptions progress_options;
  progress_options.action = "looking at sizes";
  progress_options.unit = "inputs";
  progress_options.total = images;
  progress_options.style = ProgressStyleFor(options.quiet);
  Progress progress(progress_options);
  ASSIGN_OR_RETURN(CountedSizes counted, CountImageSizes(set, options, threads, &progress));
  const std::vector<SizeCount>& sizes = counted.sizes;
  result.faulty = std::move(counted.faulty);
  if (sizes.empty()) return NoneReadableError(set, options, images);
  if (window_is_open) MeasureRecords(sizes, options, &result);
  for (size_t split = 0; records_are_open && split < set.splits.size(); ++split) {
    result.records.push_back(
        RecordsOfSplit(sizes, split, SplitGeometry(options, set.splits[split].name)));
  }
  return result;
}

}  // namespace shardmill
