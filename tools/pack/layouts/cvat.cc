// CVAT for images: annotations.xml with an <image> element for each image.
#include <map>
#include <set>
#include <utility>

#include "pugixml.hpp"
#include "reader/base/file.h"
#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/record_key.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/layouts/drawn_classes.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"

namespace shardmill {
namespace {

constexpr char kFile[] = "annotations.xml";
constexpr uint64_t kMaxXmlBytes = uint64_t{1} << 32;

class CvatReader {
 public:
  CvatReader(const LayoutInput& input, InputSet* set) : input_(input), set_(set) {}

  Status Read();

 private:
  Status AddImage(const pugi::xml_node& image, uint64_t end);
  const ListedFile* FindImage(const std::string& subset, const std::string& name) const;

  const LayoutInput& input_;
  InputSet* set_;
  const ListedFile* file_ = nullptr;
  uint64_t without_shapes_ = 0, tags_ = 0;
  std::map<std::string, InputSplit> splits_;  // by usual name, "" for none
};

// The labels of the task or project, in their order.
std::vector<std::string> LabelNames(const pugi::xml_node& annotations) {
  std::vector<std::string> names;
  for (const char* above : {"task", "project", "job"}) {
    for (const pugi::xml_node& label :
         annotations.child("meta").child(above).child("labels").children("label")) {
      names.emplace_back(label.child_value("name"));
    }
    if (!names.empty()) break;
  }
  return names;
}

// Where the element's text begins. pugixml tells where its name stands, behind the bracket.
uint64_t BeginOf(const pugi::xml_node& node) {
  return static_cast<uint64_t>(node.offset_debug()) - 1;
}

const ListedFile* CvatReader::FindImage(const std::string& subset, const std::string& name) const {
  for (const std::string& path :
       {"images/" + subset + "/" + name, "images/" + name, subset + "/" + name, name}) {
    if (const ListedFile* found = input_.listing.Find(path)) return found;
  }
  return nullptr;
}

Status CvatReader::AddImage(const pugi::xml_node& image, uint64_t end) {
  const std::string name = image.attribute("name").value();
  const std::string subset = image.attribute("subset").value();
  InputSplit* split = &splits_[UsualSplitName(subset)];
  const ListedFile* found = FindImage(subset, name);
  if (found == nullptr) {
    ASSIGN_OR_RETURN(std::string key, RecordKey(name.empty() ? kFile : name));
    split->problems.push_back({key, std::string(kFile) + " names it, but there is no such image; "
                                                         "export with images"});
    return OkStatus();
  }
  ASSIGN_OR_RETURN(Sample sample, MakePair(*found, *file_));
  bool has_shapes = false;
  for (const pugi::xml_node& node : image.children()) {
    const bool is_tag = std::string_view(node.name()) == "tag";
    tags_ += is_tag ? 1 : 0;
    has_shapes |= !is_tag;
  }
  without_shapes_ += has_shapes ? 0 : 1;
  const uint64_t begin = BeginOf(image);
  sample.parts.push_back({begin, end - begin});
  split->samples.push_back(std::move(sample));
  return OkStatus();
}

Status CvatReader::Read() {
  file_ = input_.listing.Find(kFile);
  if (file_ == nullptr) {
    return NotFoundError("there is no " + std::string(kFile) + " in " + input_.listing.root);
  }
  set_->labels.form = LabelForm::kCvat;
  set_->labels.parts_files = {{file_->path, file_->bytes, file_->changed_ns}};
  const std::string path = JoinPath(input_.listing.root, kFile);
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxXmlBytes));
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) {
    return DataLossError(path + ": damaged XML at byte " + std::to_string(parsed.offset) + ": " +
                         parsed.description());
  }
  const pugi::xml_node annotations = document.child("annotations");
  if (annotations.child("track")) {
    return InvalidArgumentError(path +
                                " holds tracks of a video ('CVAT for video'); export it as 'CVAT "
                                "for images', which has the shapes of each image");
  }
  RETURN_IF_ERROR(UseDrawnClasses(input_, LabelNames(annotations), set_));
  for (pugi::xml_node image = annotations.child("image"); image;
       image = image.next_sibling("image")) {
    // The element ends with its last end tag before the next element or the end of the list.
    const pugi::xml_node next = image.next_sibling();
    const uint64_t limit = next ? BeginOf(next) : text.rfind("</annotations");
    const uint64_t end = text.rfind('>', limit - 1) + 1;
    RETURN_IF_ERROR(AddImage(image, end));
  }
  set_->unlisted.trees = {input_.listing.HasFolder("images") ? "images" : ""};
  set_->unlisted.reason = std::string(kFile) + " does not name it";
  if (without_shapes_ > 0) {
    set_->notes.push_back(std::to_string(without_shapes_) +
                          " images have no shapes and are background alone");
  }
  if (tags_ > 0) {
    set_->notes.push_back(std::to_string(tags_) +
                          (tags_ == 1 ? " tag of a whole image is" : " tags of whole images are") +
                          " not read: only shapes are drawn");
  }
  for (auto& [name, split] : splits_) {
    RETURN_IF_ERROR(AddOrDivide(name, std::move(split), set_));
  }
  return OkStatus();
}

}  // namespace

std::string RecognizeCvat(const FolderListing& listing) {
  return listing.Find(kFile) == nullptr ? "" : std::string("there is ") + kFile;
}

Status ReadCvat(const LayoutInput& input, InputSet* set) { return CvatReader(input, set).Read(); }

}  // namespace shardmill
