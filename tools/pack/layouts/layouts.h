// The layouts that exist, one file each; see tools/pack/layout.h.
#pragma once

#include <string>

#include "reader/base/status.h"
#include "tools/pack/layout.h"

namespace shardmill {

// SegNet's copy of CamVid: train.txt, val.txt, test.txt with "image-path label-path" per line.
// The paths are those of another machine: the longest end of each that exists below the source
// folder is taken. Labels hold class indices.
std::string RecognizeCamvid(const FolderListing& listing);
Status ReadCamvid(const LayoutInput& input, InputSet* set);

// The Semantic Segmentation Suite's: X beside X_labels for each split X, and class_dict.csv with
// the colours that the labels hold.
std::string RecognizeSuite(const FolderListing& listing);
Status ReadSuite(const LayoutInput& input, InputSet* set);

// Classification: split/class/…/file, or class/…/file.
std::string RecognizeImageFolder(const FolderListing& listing);
Status ReadImageFolder(const LayoutInput& input, InputSet* set);

}  // namespace shardmill
