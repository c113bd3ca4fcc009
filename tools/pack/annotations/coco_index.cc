#include "tools/pack/annotations/coco_index.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <memory>
#include <unordered_map>
#include <utility>

#include "rapidjson/error/en.h"
#include "rapidjson/filereadstream.h"
#include "rapidjson/reader.h"

namespace shardmill {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// What an element of one of the lists says of itself.
struct Element {
  FilePart part;
  bool has_id = false, has_image_id = false;
  std::string id_fault, image_id_fault;  // what is there in place of a whole number
  int64_t id = 0, image_id = 0;
  std::string file_name, name;
};

// Called by RapidJSON for each token. Depth 1 is the whole object, 2 its lists, 3 their elements.
class IndexHandler {
 public:
  // `start` is where in the file the stream begins.
  IndexHandler(const rapidjson::FileReadStream& stream, uint64_t start, CocoIndex* index)
      : stream_(stream), start_(start), index_(index) {}

  bool Null() { return depth_ == 1 || Scalar(); }  // a list that is null is none
  bool Bool(bool) { return Scalar(); }
  bool Double(double value);
  bool Int(int value) { return Number(value); }
  bool Uint(unsigned value) { return Number(value); }
  bool Int64(int64_t value) { return Number(value); }
  bool Uint64(uint64_t value);
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return Scalar(); }
  bool String(const char* text, rapidjson::SizeType bytes, bool);
  bool Key(const char* text, rapidjson::SizeType bytes, bool);
  // With iterative parsing the brackets are taken from the stream after these calls.
  bool StartObject();
  bool EndObject(rapidjson::SizeType);
  bool StartArray();
  bool EndArray(rapidjson::SizeType) { return --depth_ >= 0; }

  // After the last token.
  Status Finish();

 private:
  enum class List { kOther, kImages, kAnnotations, kCategories };

  bool Number(int64_t value);
  // The value of an id, which is no number that can be one.
  bool FaultyId(const char* fault);
  // A value that is neither object nor list: it must not stand where these are expected.
  bool Scalar();
  bool IsInLists() const { return list_ != List::kOther && !in_element_; }
  bool Refuse(const std::string& what);
  const char* ListName() const;
  void TakeElement();

  const rapidjson::FileReadStream& stream_;
  const uint64_t start_;
  CocoIndex* index_;
  int depth_ = 0;
  List list_ = List::kOther;
  std::array<bool, 4> seen_ = {};  // by List
  bool in_element_ = false;
  std::string key_;  // of the element's own members
  Element element_;
  std::vector<std::pair<int64_t, FilePart>> annotations_;  // by image id
  std::unordered_map<int64_t, std::string> pictures_;      // likewise; of panoptic sets
  std::string problem_;
};

bool IndexHandler::Key(const char* text, rapidjson::SizeType bytes, bool) {
  const std::string_view key(text, bytes);
  if (depth_ == 1) {
    list_ = key == "images"        ? List::kImages
            : key == "annotations" ? List::kAnnotations
            : key == "categories"  ? List::kCategories
                                   : List::kOther;
  }
  if (depth_ == 3) key_ = key;
  return true;
}

bool IndexHandler::Refuse(const std::string& what) {
  problem_ = what;
  return false;
}

const char* IndexHandler::ListName() const {
  return list_ == List::kImages        ? "'images'"
         : list_ == List::kAnnotations ? "'annotations'"
                                       : "'categories'";
}

bool IndexHandler::Scalar() {
  if (!IsInLists() || depth_ > 2) return true;
  if (depth_ == 1) return Refuse(std::string(ListName()) + " is no list");
  return Refuse("the list " + std::string(ListName()) + " holds something else than objects");
}

bool IndexHandler::StartArray() {
  ++depth_;
  if (!IsInLists()) return true;
  if (depth_ != 2) {
    return Refuse("the list " + std::string(ListName()) + " holds lists in place of objects");
  }
  bool& seen = seen_[static_cast<size_t>(list_)];
  if (seen) return Refuse("there are two lists " + std::string(ListName()));
  seen = true;
  return true;
}

// Programs that count with fractions write 3.0 for 3.
bool IndexHandler::Double(double value) {
  constexpr double kMost = 1e15;  // up to there each whole number is one of its own
  if (std::abs(value) < kMost && value == std::floor(value)) {
    return Number(static_cast<int64_t>(value));
  }
  return Scalar() && FaultyId("is no whole number");
}

bool IndexHandler::Uint64(uint64_t value) {
  if (value <= uint64_t{INT64_MAX}) return Number(static_cast<int64_t>(value));
  return Scalar() && FaultyId("is beyond 9,223,372,036,854,775,807");
}

bool IndexHandler::FaultyId(const char* fault) {
  if (!in_element_ || depth_ != 3) return true;
  if (key_ == "id") element_.id_fault = fault;
  if (key_ == "image_id") element_.image_id_fault = fault;
  return true;
}

bool IndexHandler::Number(int64_t value) {
  if (!in_element_ || depth_ != 3) return Scalar();
  if (key_ == "id") {
    element_.id = value;
    element_.has_id = true;
  } else if (key_ == "image_id") {
    element_.image_id = value;
    element_.has_image_id = true;
  }
  return true;
}

bool IndexHandler::String(const char* text, rapidjson::SizeType bytes, bool) {
  if (!in_element_ || depth_ != 3) return Scalar();
  FaultyId("is text; write it as a number");
  if (key_ == "file_name") element_.file_name.assign(text, bytes);
  if (key_ == "name") element_.name.assign(text, bytes);
  return true;
}

bool IndexHandler::StartObject() {
  ++depth_;
  if (depth_ == 2 && IsInLists()) return Refuse(std::string(ListName()) + " is no list");
  if (depth_ == 3 && list_ != List::kOther) {
    in_element_ = true;
    element_ = Element();
    element_.part.offset = start_ + stream_.Tell();
    key_.clear();
  }
  return true;
}

bool IndexHandler::EndObject(rapidjson::SizeType) {
  if (depth_ == 3 && in_element_) {
    in_element_ = false;
    element_.part.bytes = start_ + stream_.Tell() + 1 - element_.part.offset;
    TakeElement();
  }
  --depth_;
  return problem_.empty();
}

void IndexHandler::TakeElement() {
  if (list_ == List::kAnnotations) {
    ++index_->annotations;
    annotations_.emplace_back(element_.image_id, element_.part);
    if (!element_.file_name.empty()) pictures_[element_.image_id] = std::move(element_.file_name);
    if (!element_.has_image_id) {
      problem_ = element_.image_id_fault.empty()
                     ? "an annotation has no image_id"
                     : "the image_id of an annotation " + element_.image_id_fault;
    }
  } else if (!element_.has_id) {
    problem_ = element_.id_fault.empty() ? "an image or a category has no id"
                                         : "the id of an image or a category " + element_.id_fault;
  } else if (list_ == List::kImages) {
    index_->images.push_back({element_.id, std::move(element_.file_name), element_.part, {}, ""});
  } else {
    index_->categories.push_back({element_.id, std::move(element_.name)});
  }
}

Status IndexHandler::Finish() {
  if (!problem_.empty()) return InvalidArgumentError(problem_);
  if (!seen_[static_cast<size_t>(List::kImages)]) {
    return InvalidArgumentError("there is no list 'images'");
  }
  index_->has_annotations = seen_[static_cast<size_t>(List::kAnnotations)];
  std::unordered_map<int64_t, size_t> places;
  for (const CocoImage& image : index_->images) {
    if (!places.emplace(image.id, places.size()).second) {
      return InvalidArgumentError("two images have the id " + std::to_string(image.id));
    }
  }
  for (const auto& [image_id, part] : annotations_) {
    auto place = places.find(image_id);
    if (place == places.end()) {
      ++index_->annotations_without_image;
    } else {
      index_->images[place->second].parts.push_back(part);
    }
  }
  for (auto& [image_id, picture] : pictures_) {
    const auto place = places.find(image_id);
    if (place != places.end()) index_->images[place->second].picture = std::move(picture);
  }
  std::sort(index_->categories.begin(), index_->categories.end(),
            [](const CocoCategory& a, const CocoCategory& b) { return a.id < b.id; });
  for (size_t i = 1; i < index_->categories.size(); ++i) {
    if (index_->categories[i].id == index_->categories[i - 1].id) {
      return InvalidArgumentError("two categories have the id " +
                                  std::to_string(index_->categories[i].id));
    }
  }
  return OkStatus();
}

// The bytes that were skipped.
uint64_t SkipByteOrderMark(std::FILE* file) {
  char first[3];
  const bool has_mark = std::fread(first, 1, sizeof first, file) == sizeof first &&
                        std::string_view(first, sizeof first) == "\xEF\xBB\xBF";
  if (!has_mark) std::rewind(file);
  return has_mark ? sizeof first : 0;
}

}  // namespace

Result<CocoIndex> ReadCocoIndex(const std::string& path) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) return ErrnoError("cannot read " + path, errno);
  const uint64_t start = SkipByteOrderMark(file.get());
  std::vector<char> buffer(kBufferBytes);
  rapidjson::FileReadStream stream(file.get(), buffer.data(), buffer.size());
  CocoIndex index;
  IndexHandler handler(stream, start, &index);
  rapidjson::Reader reader;
  const rapidjson::ParseResult parsed =
      reader.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(stream,
                                                                                           handler);
  if (std::ferror(file.get()) != 0) return IoError("cannot read " + path);
  if (parsed.IsError() && parsed.Code() != rapidjson::kParseErrorTermination) {
    return DataLossError(path + ": this is no JSON, from byte " + std::to_string(parsed.Offset()) +
                         " on: " + rapidjson::GetParseError_En(parsed.Code()));
  }
  const Status status = handler.Finish();
  if (!status.ok()) return status.WithContext(path);
  return index;
}

}  // namespace shardmill
