// Numbers and structs that the verbs of `dump` take from a manifest.
//
// Pure functions; safe for concurrent use.
#pragma once

#include <cstdint>

#include "reader/base/status.h"
#include "reader/schema.h"

namespace shardmill {

namespace proto {
class Manifest;
class Split;
class Statistics;
}  // namespace proto

// DataLoss when fields or classes break a rule of FORMAT.md.
Result<RecordSchema> SchemaOfManifest(const proto::Manifest& manifest);

uint64_t BytesOfSplit(const proto::Split& split);

// Pixels (images, for classification) of all classes together: what their shares refer to.
uint64_t Labelled(const proto::Statistics& statistics);

}  // namespace shardmill
