// The names of all files that a prediction makes, checked before the first is written.
//
// Not for concurrent use.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "proto/record_meta.pb.h"
#include "reader/base/status.h"
#include "reader/dataset.h"

namespace shardmill {

struct PredictionOptions {
  std::string folder;
  bool overlays = true;
  bool stitch = false;     // tiles of a source become one picture
  bool overwrite = false;  // earlier predictions may be replaced; other files never are
};

// The table of data with one class per record.
inline constexpr char kPredictionTable[] = "predictions.csv";
inline constexpr char kPredictionTableHeader[] = "key,class,name,probability\n";

// The files of a record, without ending: its key as a path below the folder, nullopt when it would
// lead out of it. Of a name that is too long for a file with its ending, the end is replaced by a
// hash of the key.
std::optional<std::string> FileOfKey(const std::string& folder, const std::string& key);

// What the picture of a record is named by: its key, or its source's where tiles become one.
std::string NameOfRecord(const proto::RecordMeta& meta, bool stitch);

// The files of a prediction's pictures.
class PictureNames {
 public:
  explicit PictureNames(PredictionOptions options) : options_(std::move(options)) {}

  // Of the next record. InvalidArgument when another picture has the same name, or when there is a
  // file already that must not be replaced.
  Status Add(const proto::RecordMeta& meta);

  // After all records: a file must not be the folder of others. Removes what predictions that were
  // killed had begun to write under these names.
  Status Finish() const;

  uint64_t shortened() const { return shortened_; }  // keys too long for the name of a file

 private:
  Status AddFile(const std::string& path, const std::string& name);

  PredictionOptions options_;
  std::string last_name_;
  std::unordered_set<std::string> files_;
  std::set<std::string> folders_;
  uint64_t shortened_ = 0;
};

// Of the first `limit` records of the split; how many of the keys are too long.
Result<uint64_t> CheckPictures(const PredictionOptions& options, const Dataset::Split& split,
                               uint64_t limit);

// The same of predictions.csv.
Status CheckTable(const PredictionOptions& options);

}  // namespace shardmill
