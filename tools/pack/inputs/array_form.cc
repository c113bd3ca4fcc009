#include "tools/pack/inputs/array_form.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "reader/base/file.h"
#include "reader/base/interrupt.h"
#include "reader/base/ordered_pipeline.h"
#include "reader/console/terminal.h"
#include "reader/console/units.h"
#include "tools/pack/inputs/file_start.h"
#include "tools/pack/inputs/input_fault.h"

namespace shardmill {
namespace {

// The smallest and the largest of each side.
struct Sides {
  std::vector<uint32_t> least, most;

  void Add(const std::vector<uint32_t>& shape) {
    if (least.empty()) least = most = shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      least[d] = std::min(least[d], shape[d]);
      most[d] = std::max(most[d], shape[d]);
    }
  }
};

struct EmptyArray {
  std::vector<uint32_t> shape;  // with a side of 0
  std::string key;
};

// Arrays of one type and number of dimensions.
struct Kind {
  uint64_t arrays = 0;
  std::string example;  // key of the first
  Sides sides;
  unsigned __int128 bytes = 0;
  uint64_t largest_bytes = 0;
  std::vector<EmptyArray> empty;  // not among the above
};
using Kinds = std::map<std::pair<DType, size_t>, Kind>;

void Count(const NpyHeader& header, const std::string& key, Kinds* kinds) {
  Kind& kind = (*kinds)[{header.dtype(), header.shape.size()}];
  const uint64_t bytes = header.elements() * DTypeBytes(header.dtype());
  if (bytes == 0) {
    kind.empty.push_back({header.shape, key});
    return;
  }
  if (kind.arrays++ == 0) kind.example = key;
  kind.sides.Add(header.shape);
  kind.bytes += bytes;
  kind.largest_bytes = std::max(kind.largest_bytes, bytes);
}

// Arrays without numbers make no kind: packing reports those that do not fit.
Status DropEmptyKinds(Kinds* kinds) {
  std::string example;
  for (auto each = kinds->begin(); each != kinds->end();) {
    const Kind& kind = each->second;
    if (!kind.empty.empty() && example.empty()) example = kind.empty.front().key;
    each = kind.arrays == 0 ? kinds->erase(each) : std::next(each);
  }
  if (!kinds->empty()) return OkStatus();
  return DataLossError("all arrays have a side of 0 and no numbers; the first: " +
                       EscapeControl(example));
}

std::string Describe(DType dtype, uint64_t arrays, const Sides& sides) {
  std::string text = FormatCount(arrays) + (arrays == 1 ? " array of " : " arrays of ") +
                     std::string(DTypeName(dtype)) + " [";
  for (size_t d = 0; d < sides.least.size(); ++d) {
    text += (d == 0 ? "" : " × ") + std::to_string(sides.least[d]);
    if (sides.least[d] != sides.most[d]) text += " to " + std::to_string(sides.most[d]);
  }
  return text + "]";
}

Status SeveralKinds(const Kinds& kinds) {
  std::string message = "the arrays differ in type or in the number of their dimensions:";
  for (const auto& [form, kind] : kinds) {
    message += "\n  " + Describe(form.first, kind.arrays + kind.empty.size(), kind.sides) +
               ", for example " + EscapeControl(kind.example);
  }
  return InvalidArgumentError(message +
                              "\nMake them equal, or keep the most frequent form with "
                              "--on-error skip.");
}

bool Fits(const std::vector<uint32_t>& shape, const std::vector<int64_t>& form) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (form[d] != kVariableDim && form[d] != int64_t{shape[d]}) return false;
  }
  return true;
}

ArrayForm MakeForm(DType dtype, const Kind& kind) {
  ArrayForm form;
  form.dtype = dtype;
  Sides sides = kind.sides;
  for (size_t d = 0; d < sides.least.size(); ++d) {
    const bool same = sides.least[d] == sides.most[d] && sides.least[d] > 0;
    form.shape.push_back(same ? int64_t{sides.least[d]} : kVariableDim);
  }
  for (const EmptyArray& array : kind.empty) {
    if (!Fits(array.shape, form.shape)) continue;
    if (form.without_numbers++ == 0) form.example_without_numbers = array.key;
    sides.Add(array.shape);
  }
  const uint64_t arrays = kind.arrays + form.without_numbers;
  form.mean_bytes = static_cast<uint64_t>(kind.bytes / arrays);
  form.largest_bytes = kind.largest_bytes;
  form.sizes = Describe(dtype, arrays, sides);
  return form;
}

Result<Kinds> CountKinds(const InputSet& set, int threads) {
  std::vector<const Sample*> samples;
  for (const InputSplit& split : set.splits) {
    for (const Sample& sample : split.samples) samples.push_back(&sample);
  }
  Kinds kinds;
  Status first_fault;
  PipelineOptions pipeline;
  pipeline.threads = threads;
  pipeline.cancelled = WasInterrupted;
  struct Looked {
    std::optional<NpyHeader> header;
    Status fault;
  };
  RETURN_IF_ERROR(RunOrdered<Looked>(
      pipeline, samples.size(),
      [&](uint64_t index, int) -> Result<Looked> {
        const SourceFile& file = samples[index]->image;
        Result<NpyHeader> header = ReadArrayHeader(JoinPath(set.root, file.path), file.bytes);
        if (header.ok()) return Looked{*header, OkStatus()};
        Status fault = header.status().WithContext(samples[index]->key);
        if (!IsInputFault(fault)) return fault;
        return Looked{std::nullopt, std::move(fault)};
      },
      [&](uint64_t index, Looked looked) {
        if (looked.header.has_value()) Count(*looked.header, samples[index]->key, &kinds);
        if (first_fault.ok()) first_fault = std::move(looked.fault);
        return OkStatus();
      }));
  if (kinds.empty() && !first_fault.ok()) {
    return DataLossError("none of the .npy files can be read; the first: " + first_fault.message());
  }
  return kinds;
}

}  // namespace

Result<NpyHeader> ReadArrayHeader(const std::string& path, uint64_t file_bytes) {
  ASSIGN_OR_RETURN(const std::string start, ReadFileStart(path, kNpyStartBytes));
  Result<NpyHeader> header = ParseNpyHeader(start, file_bytes);
  if (header.ok() || header.status().code() != StatusCode::kInvalidArgument) return header;
  ASSIGN_OR_RETURN(const std::string file, ReadFile(path, file_bytes));
  return ParseNpyHeader(file, file.size());
}

Result<ArrayForm> FindArrayForm(const InputSet& set, bool keep_most, int threads) {
  ASSIGN_OR_RETURN(Kinds kinds, CountKinds(set, threads));
  if (kinds.empty()) {
    return DataLossError("none of the .npy files can be read; pack one alone to see why");
  }
  RETURN_IF_ERROR(DropEmptyKinds(&kinds));
  if (kinds.size() > 1 && !keep_most) return SeveralKinds(kinds);
  const auto most = std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return a.second.arrays < b.second.arrays;
  });
  return MakeForm(most->first.first, most->second);
}

Result<std::vector<uint32_t>> FitArray(const NpyHeader& header, DType dtype,
                                       const std::vector<int64_t>& shape) {
  bool fits = header.dtype() == dtype && header.shape.size() == shape.size();
  std::vector<uint32_t> dims;
  for (size_t d = 0; fits && d < shape.size(); ++d) {
    if (shape[d] == kVariableDim) {
      dims.push_back(header.shape[d]);
    } else {
      fits = shape[d] == int64_t{header.shape[d]};
    }
  }
  if (fits) return dims;
  if (header.elements() == 0) {
    return DataLossError(
        "an array with a side of 0, which holds no numbers and has another form "
        "than the other arrays of the set");
  }
  return DataLossError("an array of " + std::string(DTypeName(header.dtype())) + " with " +
                       std::to_string(header.shape.size()) +
                       " dimensions, unlike the other arrays of the set");
}

}  // namespace shardmill
