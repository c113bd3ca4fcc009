// The layouts that exist, one file each; see layout.h.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/folder_scan.h"
#include "tools/pack/input_set.h"

namespace shardmill {

// SegNet's copy of CamVid: train.txt, val.txt, test.txt with "image-path label-path" per line.
// The paths are those of another machine: the longest end of each that exists below the source
// folder is taken. Labels hold class indices.
std::string RecognizeCamvid(const FolderListing& listing);
Status ReadCamvid(const FolderListing& listing, const std::vector<ClassInfo>& classes,
                  InputSet* set);

// The Semantic Segmentation Suite's: X beside X_labels for each split X, and class_dict.csv with
// the colours that the labels hold.
std::string RecognizeSuite(const FolderListing& listing);
Status ReadSuite(const FolderListing& listing, const std::vector<ClassInfo>& classes,
                 InputSet* set);

// Classification: split/class/…/file, or class/…/file.
std::string RecognizeImageFolder(const FolderListing& listing);
Status ReadImageFolder(const FolderListing& listing, const std::vector<ClassInfo>& classes,
                       InputSet* set);

}  // namespace shardmill
