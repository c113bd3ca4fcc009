// What a source folder holds, as its layout says: the samples of each split and the classes.
//
// Plain data, made before any pixel is decoded.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "reader/schema.h"
#include "tools/pack/labels/label_rules.h"

namespace shardmill {

// A piece of an annotation file.
struct FilePart {
  uint64_t offset = 0, bytes = 0;
};

struct Sample {
  std::string key;
  SourceFile image;
  // A label image or annotation file; without path for classification, and for images of a test
  // split that has no labels, which are ignored throughout.
  SourceFile label;
  uint32_t class_id = 0;  // for classification
  // What of LabelRules::parts_files[parts_file] belongs to this sample.
  std::vector<FilePart> parts = {};
  uint32_t parts_file = 0;
  bool image_is_embedded = false;  // in the label file, which is then `image` too
};

// An input that is no sample: an image without its label, a listed file that is not there.
struct Problem {
  std::string key;
  std::string reason;
  bool by_rule = false;      // it is sound, but what the user asked for leaves it out
  bool lacks_label = false;  // it is an image, and nothing else is missing
};

struct InputSplit {
  std::string name;
  std::vector<Sample> samples;    // sorted by key
  std::vector<Problem> problems;  // sorted by key
  bool made = false;              // by the packer, of a set without splits

  uint64_t inputs() const { return samples.size() + problems.size(); }
};

// Where the files lie that are inputs whether or not a list or an annotation file names them.
struct UnlistedRule {
  std::vector<std::string> trees;  // folders with all below them; "" is the source folder
  std::set<std::string> folders;   // without what is below them
  std::string reason;              // why such an input is left out
  bool by_rule = true;             // as in Problem
};

// Images of a split or a folder without labels: inputs that are left out by rule.
struct UnlabelledImages {
  std::string tree;             // a folder with all below it; empty: `files` alone
  std::set<std::string> files;  // paths
  std::string reason;
};

enum class Task { kSegmentation, kClassification };

struct InputSet {
  std::string root;    // the source folder
  std::string layout;  // "camvid", "suite", "imagefolder"
  Task task = Task::kSegmentation;
  bool holds_arrays = false;  // the files are .npy arrays, not images
  std::vector<ClassInfo> classes;
  LabelRules labels;               // of label images
  std::vector<InputSplit> splits;  // without empty ones; train first
  UnlistedRule unlisted;
  std::vector<UnlabelledImages> unlabelled;  // comes before `unlisted`
  std::vector<std::string> lists;  // the list files at the top of the folder that were looked at
  uint64_t hidden_files = 0;
  std::vector<std::string> notes;  // what the user should know of how it was read
};

}  // namespace shardmill
