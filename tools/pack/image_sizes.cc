#include "tools/pack/image_sizes.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "reader/base/file.h"
#include "reader/base/interrupt.h"
#include "reader/base/ordered_pipeline.h"
#include "reader/console/terminal.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/decode/image_decode.h"
#include "tools/pack/decode/png_decode.h"
#include "tools/pack/inputs/file_start.h"
#include "tools/pack/inputs/input_fault.h"
#include "tools/pack/labels/label_read.h"
#include "tools/progress.h"

namespace shardmill {
namespace {

// Holds the headers of nearly all files; a photograph with a large preview in it needs more.
constexpr uint64_t kPrefixBytes = uint64_t{64} << 10;
// The whole of a small PNG file, whose headers are walked from chunk to chunk; of others the rest
// is read where it is needed.
constexpr uint64_t kStartBytes = uint64_t{16} << 10;

// Reading a header takes little longer than handing a file to a thread.
constexpr uint64_t kMaxBatch = 32;
constexpr uint64_t kBatchesPerThread = 16;

using CountsBySize = std::map<std::pair<uint32_t, uint32_t>, SizeCount>;

bool MoreFrequent(const SizeCount& a, const SizeCount& b) {
  if (a.images != b.images) return a.images > b.images;
  return std::pair(a.size.height, a.size.width) > std::pair(b.size.height, b.size.width);
}

std::vector<SizeCount> MostFrequentFirst(CountsBySize counts) {
  std::vector<SizeCount> sizes;
  for (auto& [key, count] : counts) sizes.push_back(std::move(count));
  std::sort(sizes.begin(), sizes.end(), MoreFrequent);
  return sizes;
}

}  // namespace

Result<ImageSize> ReadImageSize(const std::string& path, uint64_t file_bytes, uint64_t max_pixels) {
  ASSIGN_OR_RETURN(const FileParts parts, FileParts::Open(path));
  ASSIGN_OR_RETURN(const std::string start, parts.Read(0, kStartBytes));
  if (SniffFormat(start) == FileFormat::kPng) {
    const auto read = [&](uint64_t offset, uint64_t bytes) -> Result<std::string> {
      const bool is_known = offset < start.size() && bytes <= start.size() - offset;
      return is_known ? Result<std::string>(start.substr(offset, bytes))
                      : parts.Read(offset, bytes);
    };
    ASSIGN_OR_RETURN(const ImageSize size, ProbePngFile(file_bytes, read));
    RETURN_IF_ERROR(CheckPixels(size, max_pixels));
    return size;
  }
  ASSIGN_OR_RETURN(const std::string prefix, parts.Read(0, kPrefixBytes));
  Result<ImageSize> size = ProbeImageSize(prefix, max_pixels);
  if (size.ok() || prefix.size() == file_bytes) return size;
  ASSIGN_OR_RETURN(const std::string file, ReadFile(path, file_bytes));
  return ProbeImageSize(file, max_pixels);
}

Result<ImageSize> ReadSampleSize(const std::string& root, const Sample& sample,
                                 uint64_t max_pixels) {
  if (!sample.image_is_embedded) {
    return ReadImageSize(JoinPath(root, sample.image.path), sample.image.bytes, max_pixels);
  }
  ASSIGN_OR_RETURN(const std::string file, ReadSampleImage(root, sample));
  return ProbeImageSize(file, max_pixels);
}

Result<CountedSizes> CountImageSizes(const InputSet& set, const PackOptions& options, int threads,
                                     Progress* progress) {
  std::vector<std::pair<const Sample*, size_t>> samples;  // and their split
  for (size_t split = 0; split < set.splits.size(); ++split) {
    for (const Sample& sample : set.splits[split].samples) samples.emplace_back(&sample, split);
  }
  CountsBySize counts;
  std::vector<Problem> faulty;
  PipelineOptions pipeline;
  pipeline.threads = threads;
  pipeline.batch =
      std::min(kMaxBatch, samples.size() / (static_cast<uint64_t>(threads) * kBatchesPerThread));
  pipeline.cancelled = WasInterrupted;
  using SizeOrFault = Result<ImageSize>;
  RETURN_IF_ERROR(RunOrdered<SizeOrFault>(
      pipeline, samples.size(),
      [&](uint64_t index, int) -> Result<SizeOrFault> {
        const Sample& sample = *samples[index].first;
        SizeOrFault size = ReadSampleSize(set.root, sample, options.max_pixels);
        if (size.ok() || IsInputFault(size.status())) return size;
        return size.status().WithContext(sample.key);
      },
      [&](uint64_t index, SizeOrFault size) {
        progress->Add(1, 0);
        const auto& [sample, split] = samples[index];
        if (!size.ok()) {
          faulty.push_back({sample->key, std::string(size.status().message())});
          return OkStatus();
        }
        SizeCount& count = counts[{size->height, size->width}];
        if (count.images++ == 0) count.example = sample->key;
        count.images_by_split.resize(set.splits.size());
        ++count.images_by_split[split];
        count.size = *size;
        return OkStatus();
      }));
  return CountedSizes{MostFrequentFirst(std::move(counts)), std::move(faulty)};
}

std::vector<SizeCount> ResizedSizes(const std::vector<SizeCount>& sizes, const ResizeRule& rule) {
  CountsBySize counts;
  for (const SizeCount& from : sizes) {
    const ImageSize size = rule.Apply(from.size);
    auto [found, is_new] = counts.try_emplace({size.height, size.width}, from);
    SizeCount& count = found->second;
    count.size = size;
    if (is_new) continue;
    count.images += from.images;
    for (size_t i = 0; i < count.images_by_split.size(); ++i) {
      count.images_by_split[i] += from.images_by_split[i];
    }
  }
  return MostFrequentFirst(std::move(counts));
}

std::string DescribeSizes(const std::vector<SizeCount>& sizes, size_t lines) {
  std::string text;
  for (size_t i = 0; i < std::min(lines, sizes.size()); ++i) {
    const SizeCount& count = sizes[i];
    text += "\n  " + DescribeImageSize(count.size) + ": " + FormatCount(count.images) +
            (count.images == 1 ? " image, " : " images, for example ") +
            EscapeControl(count.example);
  }
  if (sizes.size() > lines) text += "\n  … " + FormatCount(sizes.size()) + " sizes in all";
  return text;
}

}  // namespace shardmill
