#include "trainer/checkpoint/checkpoint.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <cstring>

#include "proto/checkpoint.pb.h"
#include "reader/base/checksum.h"
#include "reader/base/file.h"
#include "reader/base/little_endian.h"

namespace shardmill {
namespace {

constexpr char kMagic[] = "SMILLCKP";
constexpr uint32_t kVersion = 1;
constexpr uint64_t kAlignment = 64;
constexpr uint64_t kHeaderBytes = 64;
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 40;
constexpr uint64_t kMaxDescriptionBytes = uint64_t{1} << 30;  // protobuf's own limit is 2^31

uint64_t AlignUp(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

struct Header {
  uint64_t description_bytes = 0;
  uint64_t file_bytes = 0;
  uint64_t description_checksum = 0;
};

std::string EncodeHeader(const Header& header) {
  uint8_t bytes[kHeaderBytes] = {};
  std::memcpy(bytes, kMagic, 8);
  StoreU32(kVersion, bytes + 8);
  StoreU64(header.description_bytes, bytes + 16);
  StoreU64(header.file_bytes, bytes + 24);
  StoreU64(header.description_checksum, bytes + 32);
  StoreU64(Checksum64(bytes, 56), bytes + 56);
  return std::string(reinterpret_cast<const char*>(bytes), kHeaderBytes);
}

Result<Header> DecodeHeader(const std::string& file) {
  if (file.size() < kHeaderBytes || std::memcmp(file.data(), kMagic, 8) != 0) {
    return DataLossError("is no checkpoint of shardmill-train");
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
  if (LoadU64(bytes + 56) != Checksum64(bytes, 56)) return DataLossError("the header is damaged");
  if (const uint32_t version = LoadU32(bytes + 8); version != kVersion) {
    return DataLossError("has format version " + std::to_string(version) +
                         "; this program reads version " + std::to_string(kVersion));
  }
  Header header;
  header.description_bytes = LoadU64(bytes + 16);
  header.file_bytes = LoadU64(bytes + 24);
  header.description_checksum = LoadU64(bytes + 32);
  if (header.file_bytes != file.size()) {
    return DataLossError("is cut or has grown: " + std::to_string(file.size()) +
                         " bytes, written as " + std::to_string(header.file_bytes));
  }
  if (header.description_bytes > std::min(kMaxDescriptionBytes, file.size() - kHeaderBytes)) {
    return DataLossError("the description is longer than the file or than allowed");
  }
  return header;
}

bool IsZero(const std::string& bytes, uint64_t begin, uint64_t end) {
  return std::all_of(bytes.begin() + begin, bytes.begin() + end, [](char c) { return c == 0; });
}

// Every float has one byte order in memory: the project supports little-endian machines only.
std::string EncodeDescription(const std::vector<TensorView>& tensors,
                              proto::Checkpoint* description) {
  for (const TensorView& tensor : tensors) {
    proto::CheckpointTensor* entry = description->add_tensors();
    entry->set_name(tensor.name);
    entry->set_elements(tensor.elements);
    entry->set_checksum(Checksum64(tensor.data, tensor.elements * sizeof(float)));
    entry->set_offset(~uint64_t{0});  // the longest form: offsets cannot lengthen what they follow
  }
  uint64_t offset = AlignUp(kHeaderBytes + description->ByteSizeLong());
  for (proto::CheckpointTensor& entry : *description->mutable_tensors()) {
    entry.set_offset(offset);
    offset = AlignUp(offset + entry.elements() * sizeof(float));
  }
  return description->SerializeAsString();
}

Status AppendPadded(uint64_t target, AtomicFile* file) {
  SHARDMILL_CHECK(file->size() <= target);
  return file->AppendZeros(target - file->size());
}

}  // namespace

Status WriteCheckpoint(const std::string& path, proto::Checkpoint description,
                       const std::vector<TensorView>& tensors) {
  description.clear_tensors();
  const std::string text = EncodeDescription(tensors, &description);
  Header header;
  header.description_bytes = text.size();
  header.description_checksum = Checksum64(text.data(), text.size());
  header.file_bytes = kHeaderBytes + text.size();
  for (const proto::CheckpointTensor& entry : description.tensors()) {
    header.file_bytes = entry.offset() + entry.elements() * sizeof(float);
  }
  const std::string head = EncodeHeader(header);
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  RETURN_IF_ERROR(file.Append(head.data(), head.size()));
  RETURN_IF_ERROR(file.Append(text.data(), text.size()));
  for (size_t i = 0; i < tensors.size(); ++i) {
    RETURN_IF_ERROR(AppendPadded(description.tensors(static_cast<int>(i)).offset(), &file));
    RETURN_IF_ERROR(file.Append(tensors[i].data, tensors[i].elements * sizeof(float)));
  }
  return file.Commit();
}

LoadedCheckpoint::LoadedCheckpoint(std::string path, std::string bytes)
    : path_(std::move(path)),
      bytes_(std::move(bytes)),
      description_(std::make_unique<proto::Checkpoint>()) {}
LoadedCheckpoint::~LoadedCheckpoint() = default;
LoadedCheckpoint::LoadedCheckpoint(LoadedCheckpoint&&) noexcept = default;
LoadedCheckpoint& LoadedCheckpoint::operator=(LoadedCheckpoint&&) noexcept = default;

Result<LoadedCheckpoint> LoadedCheckpoint::Read(const std::string& path) {
  ASSIGN_OR_RETURN(std::string bytes, ReadFile(path, kMaxFileBytes));
  return FromBytes(path, std::move(bytes));
}

Result<LoadedCheckpoint> LoadedCheckpoint::FromBytes(const std::string& path, std::string bytes) {
  LoadedCheckpoint checkpoint(path, std::move(bytes));
  RETURN_IF_ERROR(checkpoint.Parse().WithContext(path));
  return checkpoint;
}

Status LoadedCheckpoint::Parse() {
  ASSIGN_OR_RETURN(const Header header, DecodeHeader(bytes_));
  const char* text = bytes_.data() + kHeaderBytes;
  if (Checksum64(text, header.description_bytes) != header.description_checksum ||
      !description_->ParseFromArray(text, static_cast<int>(header.description_bytes))) {
    return DataLossError("the description is damaged");
  }
  uint64_t end = kHeaderBytes + header.description_bytes;
  for (const proto::CheckpointTensor& entry : description_->tensors()) {
    const uint64_t room = bytes_.size() - end;
    if (entry.offset() < end || entry.offset() - end > room || entry.offset() % kAlignment != 0 ||
        entry.elements() > (bytes_.size() - entry.offset()) / sizeof(float)) {
      return DataLossError("buffer '" + entry.name() + "' lies outside the file");
    }
    const uint64_t tensor_bytes = entry.elements() * sizeof(float);
    if (!IsZero(bytes_, end, entry.offset()) ||
        Checksum64(bytes_.data() + entry.offset(), tensor_bytes) != entry.checksum()) {
      return DataLossError("buffer '" + entry.name() + "' is damaged");
    }
    end = entry.offset() + tensor_bytes;
  }
  if (end != bytes_.size()) return DataLossError("has bytes that belong to nothing");
  return OkStatus();
}

Status LoadedCheckpoint::CopyTensor(const std::string& name, float* out, int64_t elements) const {
  for (const proto::CheckpointTensor& entry : description_->tensors()) {
    if (entry.name() != name) continue;
    if (entry.elements() != static_cast<uint64_t>(elements)) {
      return DataLossError(path_ + ": buffer '" + name + "' has " +
                           std::to_string(entry.elements()) + " elements, expected " +
                           std::to_string(elements));
    }
    // An empty buffer may be null, which memcpy does not accept.
    if (elements > 0) {
      std::memcpy(out, bytes_.data() + entry.offset(), elements * sizeof(float));
    }
    return OkStatus();
  }
  return DataLossError(path_ + ": has no buffer '" + name + "'");
}

Status CheckResumable(const proto::Checkpoint& before, const proto::Checkpoint& now) {
  if (before.trained_on().dataset_id() != now.trained_on().dataset_id()) {
    return InvalidArgumentError("the checkpoint was trained on data set " +
                                before.trained_on().dataset_id() + ", this is data set " +
                                now.trained_on().dataset_id() +
                                "; give the same data set, or start a new run without --resume");
  }
  const proto::ModelDescription& old_model = before.model();
  proto::ModelDescription new_model = now.model();
  if (!old_model.has_layers()) new_model.clear_layers();
  if (!google::protobuf::util::MessageDifferencer::Equals(old_model, new_model)) {
    const auto describe = [](const proto::ModelDescription& model, const proto::TrainConfig& c) {
      return model.name() + " with width " + std::to_string(c.width()) + ", depth " +
             std::to_string(c.depth()) + " and " + std::to_string(model.classes()) + " classes";
    };
    return InvalidArgumentError("the checkpoint holds " + describe(old_model, before.config()) +
                                ", this run asks for " + describe(new_model, now.config()) +
                                "; leave out the model's flags, or start a new run");
  }
  if (before.environment().epoch_order_version() != now.environment().epoch_order_version()) {
    return InvalidArgumentError("the checkpoint was made with another order of records (version " +
                                std::to_string(before.environment().epoch_order_version()) +
                                "); start a new run");
  }
  return OkStatus();
}

}  // namespace shardmill
