// The key of a record from its serialised proto::RecordMeta, without building the message.
//
// Verification looks at every record; for tiny ones a protobuf parse would take longer than all
// the rest. Stateless; safe for concurrent use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shardmill {

// The key, when protobuf would accept the bytes and the key is a valid one; else empty. The result
// points into `bytes`, or into `storage` when protobuf itself had to be asked (that is when the
// message has another form than the writers of this project give it).
std::string_view ScanRecordKey(const uint8_t* bytes, uint64_t size, std::string* storage);

}  // namespace shardmill
