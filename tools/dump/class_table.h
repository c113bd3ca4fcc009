// Tables of class shares and channel moments, one column or more for each split.
//
// Pure functions; safe for concurrent use.
#pragma once

#include <string>
#include <vector>

#include "reader/schema.h"

namespace shardmill {

namespace proto {
class Statistics;
}  // namespace proto

class JsonWriter;

struct NamedStatistics {
  std::string name;  // of the split
  const proto::Statistics* statistics = nullptr;
};

// "12 classes and their share of pixels"
std::string ClassTableTitle(const RecordSchema& schema);
std::string ClassTable(const RecordSchema& schema, const std::vector<NamedStatistics>& splits,
                       bool colored);
// Empty when no split has counted channels.
std::string ChannelTable(const std::vector<NamedStatistics>& splits, bool colored);

// Writes the key "statistics" and its object.
void WriteStatistics(const proto::Statistics& statistics, JsonWriter* json);

}  // namespace shardmill
