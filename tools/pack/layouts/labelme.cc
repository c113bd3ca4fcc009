// labelme: X.json beside its image, with polygons and other shapes.
#include <set>
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/json_document.h"
#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/record_key.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/layouts/drawn_classes.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxJsonBytes = uint64_t{1} << 30;
constexpr uint64_t kMaxBytesTried = uint64_t{1} << 26;  // to recognise the layout

// What the layout needs of a JSON file.
struct Annotation {
  std::string image;  // below the source folder; empty: it leaves the folder, or there is none
  // Another place: beside the JSON file, when the path is one of another machine.
  std::string image_beside;
  bool holds_image = false;
  std::set<std::string> labels;  // empty: there are no shapes
};

// "a/../b" and "./a" as "b" and "a"; empty when the path leaves the folder.
std::string Normalize(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (parts.empty()) {
      return "";
    } else {
      parts.pop_back();
    }
  }
  std::string joined;
  for (const std::string& part : parts) joined += (joined.empty() ? "" : "/") + part;
  return joined;
}

Result<Annotation> ParseAnnotation(const std::string& text, const std::string& json_path) {
  ASSIGN_OR_RETURN(const rapidjson::Document document, ParseJson(text));
  const rapidjson::Value* shapes = FindMember(document, "shapes");
  if (shapes == nullptr || !shapes->IsArray()) return InvalidArgumentError("it has no shapes");
  Annotation annotation;
  for (const rapidjson::Value& shape : shapes->GetArray()) {
    const std::string label = TextMember(shape, "label");
    if (TrimBlanks(label).empty()) return InvalidArgumentError("it has a shape without a label");
    annotation.labels.insert(label);
  }
  annotation.holds_image = !TextMember(document, "imageData").empty();
  std::string image = TextMember(document, "imagePath");
  const bool on_windows = image.find('\\') != std::string::npos;
  for (char& c : image) c = c == '\\' ? '/' : c;
  const std::string name(NameOf(image));
  // Whatever stands before, this is the name of no file.
  if (name.empty() || name == "." || name == "..") return annotation;
  const std::string folder = FolderName(json_path);
  const std::string above = folder == "." ? "" : folder + "/";
  annotation.image = Normalize(above + image);
  // ":/" behind a letter is a drive.
  if (on_windows || image[0] == '/' || image.compare(1, 2, ":/") == 0) {
    annotation.image_beside = above + name;
  }
  return annotation;
}

bool IsJson(std::string_view path) { return EndsWith(path, ".json"); }

class LabelmeReader {
 public:
  LabelmeReader(const LayoutInput& input, InputSet* set) : input_(input), set_(set) {}

  Status Read();

 private:
  Status AddFile(const ListedFile& file);
  Status CheckOtherFolders();
  // Of a file that holds its image.
  Result<Sample> MakeEmbedded(const ListedFile& file, const Annotation& annotation);

  const LayoutInput& input_;
  InputSet* set_;
  std::set<std::string> labels_;
  uint64_t without_shapes_ = 0, embedded_ = 0, held_twice_ = 0;
  std::map<std::string, InputSplit> splits_;  // by usual name, "" for none
};

Status LabelmeReader::AddFile(const ListedFile& file) {
  ASSIGN_OR_RETURN(std::string key, RecordKey(file.path));
  const std::string top = file.path.substr(0, file.path.find('/'));
  InputSplit* split = &splits_[UsualSplitName(top)];
  const std::string path = JoinPath(input_.listing.root, file.path);
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxJsonBytes));
  Result<Annotation> annotation = ParseAnnotation(text, file.path);
  if (!annotation.ok()) {
    split->problems.push_back({key, annotation.status().message()});
    return OkStatus();
  }
  labels_.insert(annotation->labels.begin(), annotation->labels.end());
  const ListedFile* image =
      annotation->image.empty() ? nullptr : input_.listing.Find(annotation->image);
  if (image == nullptr && !annotation->image_beside.empty()) {
    image = input_.listing.Find(annotation->image_beside);
  }
  if (image == nullptr && !annotation->holds_image) {
    const bool is_named = !annotation->image.empty() || !annotation->image_beside.empty();
    split->problems.push_back(
        {key, is_named ? "its image '" + annotation->image +
                             "' is neither in the source folder nor in the file"
                       : "its imagePath is no path of an image in the source folder, and the "
                         "file holds none"});
    return OkStatus();
  }
  without_shapes_ += annotation->labels.empty() ? 1 : 0;
  held_twice_ += image != nullptr && annotation->holds_image ? 1 : 0;
  if (image != nullptr) set_->unlisted.folders.insert(FolderAbove(image->path));
  ASSIGN_OR_RETURN(Sample sample,
                   image != nullptr ? MakePair(*image, file) : MakeEmbedded(file, *annotation));
  split->samples.push_back(std::move(sample));
  return OkStatus();
}

// The key is that of the image file, as if it lay there.
Result<Sample> LabelmeReader::MakeEmbedded(const ListedFile& file, const Annotation& annotation) {
  ++embedded_;
  const std::string& beside = annotation.image_beside;
  const std::string& image = beside.empty() ? annotation.image : beside;
  Sample sample;
  ASSIGN_OR_RETURN(sample.key, RecordKey(image.empty() ? file.path : image));
  sample.label = {file.path, file.bytes, file.changed_ns};
  sample.image = sample.label;
  sample.image_is_embedded = true;
  return sample;
}

// Folders of images that have a split's name and no JSON files.
Status LabelmeReader::CheckOtherFolders() {
  for (const std::string& folder : input_.listing.FoldersIn("")) {
    const auto has = [&](bool (*fits)(std::string_view)) {
      return FindBelow(input_.listing, folder, fits) != nullptr;
    };
    if (UsualSplitName(folder).empty() || has(IsJson) || !has(HasImageExtension)) continue;
    // Images that JSON files of other folders name.
    const bool is_used = std::any_of(
        set_->unlisted.folders.begin(), set_->unlisted.folders.end(),
        [&](const std::string& used) { return used == folder || BeginsWith(used, folder + "/"); });
    if (is_used) continue;
    RETURN_IF_ERROR(LeaveOutUnnamed(input_, folder, "it holds no JSON files of shapes", set_));
  }
  return OkStatus();
}

Status LabelmeReader::Read() {
  set_->labels.form = LabelForm::kLabelme;
  set_->labels.ignore = 255;
  for (const ListedFile& file : input_.listing.files) {
    if (EndsWith(file.path, ".json")) RETURN_IF_ERROR(AddFile(file));
  }
  set_->unlisted.reason = "no JSON file of shapes names it";
  set_->unlisted.by_rule = false;  // like an image without its label
  if (without_shapes_ > 0) {
    set_->notes.push_back(std::to_string(without_shapes_) +
                          " images have no shapes and are background alone");
  }
  if (held_twice_ > 0) {
    set_->notes.push_back(std::to_string(held_twice_) +
                          " JSON files hold an image too; the files that they name are taken");
  }
  if (embedded_ > 0) {
    set_->notes.push_back(std::to_string(embedded_) +
                          " images are not in the folder and are taken from the JSON files, which "
                          "hold them");
  }
  RETURN_IF_ERROR(CheckOtherFolders());
  RETURN_IF_ERROR(UseDrawnClasses(input_, {labels_.begin(), labels_.end()}, set_));
  for (auto& [name, split] : splits_) {
    RETURN_IF_ERROR(AddOrDivide(name, std::move(split), set_));
  }
  return OkStatus();
}

}  // namespace

std::string RecognizeLabelme(const FolderListing& listing) {
  const ListedFile* file =
      FindBelow(listing, "", [](std::string_view path) { return EndsWith(path, ".json"); });
  if (file == nullptr || file->bytes > kMaxBytesTried) return "";
  Result<std::string> text = ReadFile(JoinPath(listing.root, file->path), kMaxJsonBytes);
  if (!text.ok() || text->find("\"shapes\"") == std::string::npos ||
      text->find("\"imagePath\"") == std::string::npos) {
    return "";
  }
  return file->path + " holds shapes and the path of an image";
}

Status ReadLabelme(const LayoutInput& input, InputSet* set) {
  return LabelmeReader(input, set).Read();
}

}  // namespace shardmill
