// manifest.json: any text; and any text whose digest is made right, so that the rules are reached.
#include <google/protobuf/util/json_util.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "proto/manifest.pb.h"
#include "reader/manifest.h"

using namespace shardmill;  // NOLINT: a program of one function

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string json(reinterpret_cast<const char*>(data), size);
  ParseManifest(json).ok();
  proto::Manifest manifest;
  if (!google::protobuf::util::JsonStringToMessage(json, &manifest).ok()) return 0;
  manifest.set_digest(ManifestDigest(manifest));
  std::string sealed;
  if (!google::protobuf::util::MessageToJsonString(manifest, &sealed).ok()) return 0;
  ParseManifest(sealed).ok();
  return 0;
}
