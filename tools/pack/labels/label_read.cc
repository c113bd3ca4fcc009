#include "tools/pack/labels/label_read.h"

#include <sys/types.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/decode/rgb_convert.h"
#include "tools/pack/labels/label_samples.h"

namespace shardmill {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Result<std::string> ReadFilePart(const std::string& root, const SourceFile& file,
                                 const FilePart& part) {
  const std::string path = JoinPath(root, file.path);
  std::unique_ptr<std::FILE, CloseFile> stream(std::fopen(path.c_str(), "rbe"));
  if (stream == nullptr) return ErrnoError("cannot read " + path, errno);
  // An annotation file that was written anew may hold other things at the same places.
  if (::fseeko(stream.get(), 0, SEEK_END) != 0 ||
      ::ftello(stream.get()) != static_cast<off_t>(file.bytes)) {
    return ChangedError(file);
  }
  std::string text(part.bytes, '\0');
  if (::fseeko(stream.get(), static_cast<off_t>(part.offset), SEEK_SET) != 0 ||
      std::fread(text.data(), 1, text.size(), stream.get()) != text.size()) {
    return ChangedError(file);
  }
  return text;
}

}  // namespace

Result<std::string> ReadSampleImage(const std::string& root, const Sample& sample) {
  SourceFileReader reader;
  ASSIGN_OR_RETURN(const std::string_view file, reader.Read(root, sample.image));
  if (sample.image_is_embedded) return EmbeddedImage(file);
  return std::string(file);
}

LabelReader::LabelReader(LabelReaderOptions options, const LabelDecoder& decoder)
    : options_(std::move(options)), decoder_(decoder) {
  names_.ignore = options_.rules.ignore;
  if (options_.rules.map.has_value()) categories_ = *options_.rules.map;
  for (auto& [category, id] : categories_.ids) {
    if (id == ValueMap::kToIgnore) id = options_.rules.ignore.value_or(options_.rules.background);
  }
  for (const std::string& name : decoder.names()) {
    names_.ids.emplace(name, static_cast<uint32_t>(names_.ids.size()));
  }
}

Result<DecodedLabel> LabelReader::Read(const Sample& sample, ClassIdMap* map,
                                       UnknownValues* unknown, uint64_t* source_bytes) {
  *unknown = UnknownValues();
  map->dtype = decoder_.dtype();
  Result<DecodedLabel> label = ReadForm(sample, map, unknown, source_bytes);
  if (!label.ok()) return label.status().WithContext("label " + sample.label.path);
  return label;
}

Result<DecodedLabel> LabelReader::ReadForm(const Sample& sample, ClassIdMap* map,
                                           UnknownValues* unknown, uint64_t* source_bytes) {
  switch (options_.rules.form) {
    case LabelForm::kCoco:
    case LabelForm::kCvat:
    case LabelForm::kLabelme:
      return ReadShapes(sample, map, source_bytes);
    case LabelForm::kPanoptic:
      return ReadPanoptic(sample, map, unknown, source_bytes);
    case LabelForm::kImage:
      break;
  }
  ASSIGN_OR_RETURN(const std::string_view file, file_.Read(options_.root, sample.label));
  *source_bytes += file.size();
  return ReadImage(file, map, unknown);
}

Result<std::vector<std::string>> LabelReader::ReadParts(const Sample& sample,
                                                        uint64_t* source_bytes) const {
  const SourceFile& file = options_.rules.parts_files[sample.parts_file];
  std::vector<std::string> parts;
  for (const FilePart& part : sample.parts) {
    ASSIGN_OR_RETURN(std::string text, ReadFilePart(options_.root, file, part));
    *source_bytes += text.size();
    parts.push_back(std::move(text));
  }
  return parts;
}

Result<DecodedLabel> LabelReader::ReadShapes(const Sample& sample, ClassIdMap* map,
                                             uint64_t* source_bytes) {
  Result<ShapeLabel> shapes = ShapeLabel();
  if (options_.rules.form == LabelForm::kLabelme) {
    ASSIGN_OR_RETURN(const std::string_view file, file_.Read(options_.root, sample.label));
    *source_bytes += file.size();
    shapes = ReadLabelmeLabel(file, names_, options_.max_pixels, [&]() -> Result<ImageSize> {
      ASSIGN_OR_RETURN(const std::string image, ReadSampleImage(options_.root, sample));
      return ProbeImageSize(image, options_.max_pixels);
    });
  } else {
    ASSIGN_OR_RETURN(const std::vector<std::string> parts, ReadParts(sample, source_bytes));
    SHARDMILL_CHECK(!parts.empty());
    shapes = options_.rules.form == LabelForm::kCvat
                 ? ReadCvatLabel(parts[0], names_, options_.max_pixels)
                 : ReadCocoLabel(parts[0], {parts.begin() + 1, parts.end()}, categories_,
                                 options_.max_pixels);
  }
  RETURN_IF_ERROR(shapes.status());
  DecodedLabel label;
  label.kind = kDrawnShapes;
  label.without_area = shapes->without_area;
  DrawShapes(std::move(shapes->shapes), options_.rules.background, shapes->size, map);
  return label;
}

Result<DecodedLabel> LabelReader::ReadPanoptic(const Sample& sample, ClassIdMap* map,
                                               UnknownValues* unknown, uint64_t* source_bytes) {
  ASSIGN_OR_RETURN(const std::vector<std::string> parts, ReadParts(sample, source_bytes));
  SHARDMILL_CHECK(!parts.empty());
  ASSIGN_OR_RETURN(const SegmentClasses segments,
                   ReadPanopticSegments(parts[0], categories_,
                                        options_.rules.ignore.value_or(options_.rules.background)));
  ASSIGN_OR_RETURN(const std::string_view file, file_.Read(options_.root, sample.label));
  *source_bytes += file.size();
  RETURN_IF_ERROR(ReadPixels(file));
  RETURN_IF_ERROR(CheckTransparency(image_));
  RETURN_IF_ERROR(DecodePanoptic(image_, segments, map, unknown));
  DecodedLabel label;
  label.kind = kSegmentIds;
  return label;
}

Status LabelReader::ReadPixels(std::string_view file) {
  ASSIGN_OR_RETURN(const ImageSize size, images_.Open(file, options_.max_pixels));
  const bool rounds =
      options_.rules.tolerance.has_value() || options_.rules.code == PixelCode::kThreshold;
  const std::string loss = images_.DescribeLoss();
  if (!loss.empty() && !rounds) {
    return DataLossError("this is " + loss +
                         ", whose compression changes colours and ids; save labels as PNG, or take "
                         "near values for a class's with --label-tolerance N");
  }
  RETURN_IF_ERROR(images_.CheckStoredValues());
  return images_.Read({0, 0, size}, &image_).status();
}

Result<DecodedLabel> LabelReader::ReadImage(std::string_view file, ClassIdMap* map,
                                            UnknownValues* unknown) {
  RETURN_IF_ERROR(ReadPixels(file));
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
