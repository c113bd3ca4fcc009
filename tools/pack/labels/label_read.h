// Reads the label of a sample: file, decoding, class ids.
//
// Belongs to one worker thread; the label decoder is shared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/annotations/annotation_label.h"
#include "tools/pack/decode/image_decode.h"
#include "tools/pack/inputs/input_set.h"
#include "tools/pack/inputs/source_file.h"
#include "tools/pack/labels/label_decode.h"

namespace shardmill {

// The image file of a sample, wherever it is. Errors as of SourceFileReader, and DataLoss when a
// label file that should hold it does not.
Result<std::string> ReadSampleImage(const std::string& root, const Sample& sample);

struct LabelReaderOptions {
  std::string root;
  LabelRules rules;
  uint64_t max_pixels = 0;
};

class LabelReader {
 public:
  LabelReader(LabelReaderOptions options, const LabelDecoder& decoder);

  // Fills `map`, upright, and `unknown`; adds what was read to `source_bytes`. Errors name the
  // label file.
  Result<DecodedLabel> Read(const Sample& sample, ClassIdMap* map, UnknownValues* unknown,
                            uint64_t* source_bytes);

 private:
  Result<DecodedLabel> ReadForm(const Sample& sample, ClassIdMap* map, UnknownValues* unknown,
                                uint64_t* source_bytes);
  Result<DecodedLabel> ReadShapes(const Sample& sample, ClassIdMap* map, uint64_t* source_bytes);
  Result<DecodedLabel> ReadPanoptic(const Sample& sample, ClassIdMap* map, UnknownValues* unknown,
                                    uint64_t* source_bytes);
  // The sample's parts of its annotation file.
  Result<std::vector<std::string>> ReadParts(const Sample& sample, uint64_t* source_bytes) const;
  Result<DecodedLabel> ReadImage(std::string_view file, ClassIdMap* map, UnknownValues* unknown);
  // Into `image_`. DataLoss when its compression may have changed the label.
  Status ReadPixels(std::string_view file);
  void TurnMap(int orientation, ClassIdMap* map);

  const LabelReaderOptions options_;
  const LabelDecoder& decoder_;
  ShapeNames names_;
  ValueMap categories_;  // class ids of COCO's categories
  ImageDecoder images_;
  // Buffers that keep their size from label to label.
  SourceFileReader file_;
  SourceImage image_;
  std::vector<uint8_t> turned_;
};

}  // namespace shardmill
