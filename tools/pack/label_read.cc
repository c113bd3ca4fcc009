#include "tools/pack/label_read.h"

#include <utility>

#include "reader/base/file.h"
#include "tools/pack/file_format.h"
#include "tools/pack/rgb_convert.h"

namespace shardmill {

Result<std::string> ReadSourceFile(const std::string& root, const SourceFile& file) {
  Result<std::string> content = ReadFile(JoinPath(root, file.path), file.bytes);
  const bool changed = content.ok() ? content->size() != file.bytes
                                    : content.status().code() == StatusCode::kInvalidArgument;
  if (changed) {
    return DataLossError(file.path + " had " + std::to_string(file.bytes) +
                         " bytes when the folder was listed, and was changed since");
  }
  return content;
}

LabelReader::LabelReader(LabelReaderOptions options, const LabelDecoder& decoder)
    : options_(std::move(options)), decoder_(decoder) {}

Result<DecodedLabel> LabelReader::Read(const Sample& sample, ClassIdMap* map,
                                       UnknownValues* unknown, uint64_t* source_bytes) {
  ASSIGN_OR_RETURN(const std::string file, ReadSourceFile(options_.root, sample.label));
  *source_bytes += file.size();
  *unknown = UnknownValues();
  Result<DecodedLabel> label = ReadImage(file, map, unknown);
  if (!label.ok()) return label.status().WithContext("label " + sample.label.path);
  return label;
}

Status LabelReader::CheckForm(const std::string& file) const {
  const bool rounds =
      options_.rules.tolerance.has_value() || options_.rules.code == PixelCode::kThreshold;
  if (!IsLossy(file) || rounds) return OkStatus();
  return DataLossError("this is " + DescribeContent(file) +
                       ", whose compression changes colours and ids; save labels as PNG, or take "
                       "near values for a class's with --label-tolerance N");
}

Result<DecodedLabel> LabelReader::ReadImage(const std::string& file, ClassIdMap* map,
                                            UnknownValues* unknown) {
  RETURN_IF_ERROR(CheckForm(file));
  RETURN_IF_ERROR(images_.Decode(file, options_.max_pixels, &image_));
  RETURN_IF_ERROR(images_.CheckStoredValues());
  ASSIGN_OR_RETURN(const DecodedLabel label, decoder_.Decode(image_, map, unknown));
  if (image_.orientation != 1) TurnMap(image_.orientation, map);
  return label;
}

void LabelReader::TurnMap(int orientation, ClassIdMap* map) {
  turned_.resize(map->bytes.size());
  TurnUpright(map->bytes.data(), map->size, DTypeBytes(map->dtype), orientation, turned_.data());
  std::swap(turned_, map->bytes);
  map->size = UprightSize(map->size, orientation);
}

}  // namespace shardmill
