// Where the parts of a COCO annotation file lie, without keeping the parts.
//
// The file is read once as a stream; memory grows with the number of annotations, not with their
// polygons.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/inputs/input_set.h"

namespace shardmill {

struct CocoImage {
  int64_t id = 0;
  std::string file_name;
  FilePart entry;               // of the list "images"
  std::vector<FilePart> parts;  // of the list "annotations", in the order of the file
  std::string picture;          // what the last of these names as its file; empty: none does
};

struct CocoCategory {
  int64_t id = 0;
  std::string name;
};

struct CocoIndex {
  std::vector<CocoImage> images;         // in the order of the file
  std::vector<CocoCategory> categories;  // sorted by id
  bool has_annotations = false;          // there is the list, perhaps empty
  uint64_t annotations = 0;
  uint64_t annotations_without_image = 0;
};

// InvalidArgument when the file is not of this form: one of the lists holds something else than
// objects, there is no list of images, an id is no whole number, or two images have one.
Result<CocoIndex> ReadCocoIndex(const std::string& path);

}  // namespace shardmill
