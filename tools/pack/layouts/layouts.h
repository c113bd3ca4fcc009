// The layouts that exist, one file each; see tools/pack/layouts/layout.h.
#pragma once

#include <string>

#include "reader/base/status.h"
#include "tools/pack/layouts/layout.h"

namespace shardmill {

// CamVid in two forms. The original: X.png, X_L.png and label_colors.txt.
// SegNet's copy: train.txt, val.txt, test.txt with "image-path label-path" per line.
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

// PASCAL VOC and exports in its form.
std::string RecognizeVoc(const FolderListing& listing);
Status ReadVoc(const LayoutInput& input, InputSet* set);

std::string RecognizeCityscapes(const FolderListing& listing);
Status ReadCityscapes(const LayoutInput& input, InputSet* set);

// KITTI's semantic set, and exports in its form.
std::string RecognizeKitti(const FolderListing& listing);
Status ReadKitti(const LayoutInput& input, InputSet* set);

// SceneParsing's 150 classes.
std::string RecognizeAde20k(const FolderListing& listing);
Status ReadAde20k(const LayoutInput& input, InputSet* set);
// All objects of ADE20K.
std::string RecognizeAde20kFull(const FolderListing& listing);
Status ReadAde20kFull(const LayoutInput& input, InputSet* set);

std::string RecognizeSynthia(const FolderListing& listing);
Status ReadSynthia(const LayoutInput& input, InputSet* set);

std::string RecognizeDeepGlobe(const FolderListing& listing);
Status ReadDeepGlobe(const LayoutInput& input, InputSet* set);
// Masks in black and white are of the road set, which has files of the same names.
std::string DoubtDeepGlobe(const FolderListing& listing, const LayoutOptions& options);

// Mapillary Vistas 1 and 1.2.
std::string RecognizeMapillary(const FolderListing& listing);
Status ReadMapillary(const LayoutInput& input, InputSet* set);
// Mapillary Vistas 2.0.
std::string RecognizeMapillaryTwo(const FolderListing& listing);
Status ReadMapillaryTwo(const LayoutInput& input, InputSet* set);

std::string RecognizeCocoStuff(const FolderListing& listing);
Status ReadCocoStuff(const LayoutInput& input, InputSet* set);

// NumPy arrays with a class each: by folder like images, or listed in labels.csv or train.csv, …
std::string RecognizeNpy(const FolderListing& listing);
Status ReadNpy(const LayoutInput& input, InputSet* set);
std::string DoubtNpy(const FolderListing& listing, const LayoutOptions& options);

// Two folders, paired by the names of their files.
std::string RecognizePairs(const FolderListing& listing);
Status ReadPairs(const LayoutInput& input, InputSet* set);

// COCO's polygons and masks, drawn.
std::string RecognizeCoco(const FolderListing& listing);
Status ReadCoco(const LayoutInput& input, InputSet* set);
// COCO's pictures of segment ids.
std::string RecognizeCocoPanoptic(const FolderListing& listing);
Status ReadCocoPanoptic(const LayoutInput& input, InputSet* set);

std::string RecognizeLabelme(const FolderListing& listing);
Status ReadLabelme(const LayoutInput& input, InputSet* set);
// CVAT for images.
std::string RecognizeCvat(const FolderListing& listing);
Status ReadCvat(const LayoutInput& input, InputSet* set);

// Lists of image and label paths.
std::string RecognizeList(const FolderListing& listing);
Status ReadList(const LayoutInput& input, InputSet* set);
// Lists of images and their classes.
std::string RecognizeCsv(const FolderListing& listing);
Status ReadCsv(const LayoutInput& input, InputSet* set);

}  // namespace shardmill
