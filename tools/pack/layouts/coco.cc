// COCO's annotation files: instances, drawn as a class map over background, and panoptic, whose
// pictures hold segment ids.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "reader/base/file.h"
#include "reader/names.h"
#include "tools/pack/annotations/coco_index.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/pairing.h"
#include "tools/pack/inputs/record_key.h"
#include "tools/pack/inputs/split_names.h"
#include "tools/pack/labels/class_label.h"
#include "tools/pack/labels/unused_class.h"
#include "tools/pack/layouts/drawn_classes.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/layouts/layouts.h"
#include "tools/pack/layouts/listed_files.h"

namespace shardmill {
namespace {

constexpr uint32_t kMaxCategoryId = 60000;

struct AnnotationFile {
  const ListedFile* file;
  std::string split;  // "train2017"; empty: not known
};

struct Kind {
  std::string_view begin;  // of the file's name: "instances_"
  LabelForm form;
};
constexpr Kind kInstances = {"instances_", LabelForm::kCoco};
constexpr Kind kPanoptic = {"panoptic_", LabelForm::kPanoptic};
// The other form of names: in the folder of the images.
constexpr char kBesideImages[] = "_annotations.coco.json";

std::vector<AnnotationFile> FindFiles(const FolderListing& listing, const Kind& kind) {
  std::vector<AnnotationFile> files;
  for (const ListedFile& file : listing.files) {
    const std::string_view name = NameOf(file.path);
    if (!EndsWith(name, ".json")) continue;
    if (BeginsWith(name, kind.begin)) {
      const std::string_view split = name.substr(kind.begin.size());
      files.push_back({&file, std::string(split.substr(0, split.size() - 5))});
    } else if (name == kBesideImages && kind.form == LabelForm::kCoco) {
      files.push_back({&file, std::string(NameOf(FolderName(file.path)))});
    }
  }
  return files;
}

// Programs give the file other names, and none of those says what it holds.
std::string OtherJson(const FolderListing& listing, const Kind& kind) {
  for (const ListedFile& file : listing.files) {
    if (!EndsWith(file.path, ".json")) continue;
    return "; if " + file.path + " is one, call it " + std::string(kind.begin) +
           "train.json or, where it is to be divided, " + std::string(kind.begin) + "all.json";
  }
  return "";
}

class CocoReader {
 public:
  CocoReader(const LayoutInput& input, const Kind& kind, InputSet* set)
      : input_(input), finder_(input.listing), kind_(kind), set_(set) {}

  Status Read();

 private:
  Status ReadFile(const AnnotationFile& file);
  // Drawn areas leave pixels that no area covers.
  bool HasBackground() const { return kind_.form == LabelForm::kCoco; }
  Status CheckCategories(const std::vector<CocoCategory>& categories) const;
  Result<std::vector<ClassInfo>> ClassesOf(const std::vector<CocoCategory>& categories,
                                           ValueMap* map) const;
  Status AddClasses(const CocoIndex& index);
  Status AddImage(const AnnotationFile& file, const CocoImage& image, InputSplit* split);
  Status AddPicture(const AnnotationFile& file, const CocoImage& image, Sample* sample);
  std::vector<const ListedFile*> FindImagesAs(const AnnotationFile& file,
                                              const std::string& name) const;
  std::vector<const ListedFile*> FindImages(const AnnotationFile& file,
                                            const std::string& name) const;
  Result<const ListedFile*> FindImage(const AnnotationFile& file, const CocoImage& image,
                                      InputSplit* split) const;
  Status AddUnlabelled(const AnnotationFile& file, const CocoIndex& index);
  Status CheckOtherFolders(const std::vector<AnnotationFile>& files);
  void NoteBackground(const AnnotationFile& file, const CocoIndex& index);
  Status CheckClassTable(const std::vector<std::string>& names) const;

  const LayoutInput& input_;
  const ListedFileFinder finder_;
  const Kind& kind_;
  InputSet* set_;
  std::vector<std::string> names_;     // of the classes, as the first file gives them
  std::optional<InputSplit> unsplit_;  // of the files whose names are no splits, together
};

std::string Numbers(const std::vector<CocoCategory>& categories) {
  std::string text;
  for (size_t i = 0; i < categories.size() && i < 5; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(categories[i].id) + " " + categories[i].name;
  }
  return text + (categories.size() > 5 ? ", …" : "");
}

// A table that the user gives adds colours; its rows must be the classes that the ids stand for.
Status CocoReader::CheckClassTable(const std::vector<std::string>& names) const {
  if (input_.classes.empty() || input_.options.map.has_value()) return OkStatus();
  for (size_t i = 0; i < std::max(names.size(), input_.classes.size()); ++i) {
    const std::string wanted = i < names.size() ? names[i] : "nothing";
    const std::string given = i < input_.classes.size() ? input_.classes[i].name : "nothing";
    if (wanted == given) continue;
    return InvalidArgumentError("its categories make class " + std::to_string(i) + " " + wanted +
                                ", the class table says " + given +
                                "; bring its rows into the order of the categories");
  }
  return OkStatus();
}

// Two categories of one name would be two classes that no report tells apart.
Status CocoReader::CheckCategories(const std::vector<CocoCategory>& categories) const {
  if (categories.empty()) return InvalidArgumentError("there are no categories");
  const bool merged = !input_.classes.empty() && input_.options.map.has_value();
  std::map<std::string, int64_t> ids;
  for (const CocoCategory& category : categories) {
    if (category.id < 0 || category.id > kMaxCategoryId) {
      return InvalidArgumentError("category id " + std::to_string(category.id) +
                                  " is not one from 0 to 60,000");
    }
    if (!IsRecordKey(category.name)) {
      return InvalidArgumentError("category " + std::to_string(category.id) +
                                  " has no usable name");
    }
    const bool is_background = HasBackground() && MeansBackground(category.name);
    const auto [other, is_new] =
        ids.emplace(is_background ? "background" : category.name, category.id);
    if (is_new || merged) continue;
    return InvalidArgumentError("categories " + std::to_string(other->second) + " and " +
                                std::to_string(category.id) + " have one name, '" + category.name +
                                "'; rename one, or say which class each id is with --classes FILE "
                                "and --map FILE");
  }
  return OkStatus();
}

// The classes of the categories, and the class id of each category's. Where areas are drawn, the
// category of the background is the class of what no area covers; else a class 0 is made for it.
Result<std::vector<ClassInfo>> CocoReader::ClassesOf(const std::vector<CocoCategory>& categories,
                                                     ValueMap* map) const {
  const bool keep_ids = input_.options.keep_category_ids;
  const auto background =
      std::find_if(categories.begin(), categories.end(), [this](const CocoCategory& category) {
        return HasBackground() && MeansBackground(category.name);
      });
  std::vector<ClassInfo> classes;
  if (HasBackground() && background == categories.end()) {
    classes.push_back({0, "background", std::nullopt});
  } else if (HasBackground() && !keep_ids) {
    map->ids[static_cast<uint32_t>(background->id)] = 0;
    classes.push_back({0, background->name, std::nullopt});
  }
  for (const CocoCategory& category : categories) {
    const auto id = static_cast<uint32_t>(category.id);
    if (map->ids.count(id) > 0) continue;
    if (keep_ids && id < classes.size()) {
      return InvalidArgumentError(
          "category id 0 is needed for the background; leave out "
          "--category-ids raw");
    }
    while (keep_ids && classes.size() < id) {
      classes.push_back(UnusedClass(static_cast<uint32_t>(classes.size())));
    }
    map->ids[id] = static_cast<uint32_t>(classes.size());
    classes.push_back({map->ids[id], category.name, std::nullopt});
  }
  return classes;
}

// The first file makes the class table; the others must have the same categories.
Status CocoReader::AddClasses(const CocoIndex& index) {
  RETURN_IF_ERROR(CheckCategories(index.categories));
  ValueMap map;
  ASSIGN_OR_RETURN(std::vector<ClassInfo> classes, ClassesOf(index.categories, &map));
  std::vector<std::string> names;
  for (const ClassInfo& info : classes) names.push_back(info.name);
  if (set_->labels.map.has_value() && (map.ids != set_->labels.map->ids || names != names_)) {
    return InvalidArgumentError("its categories differ from those of the first annotation file");
  }
  if (!set_->labels.map.has_value()) {
    RETURN_IF_ERROR(CheckClassTable(names));
    names_ = std::move(names);
    set_->notes.push_back("categories " + Numbers(index.categories) + " become the classes from " +
                          std::to_string(map.ids.begin()->second) +
                          " on; the recipe's map holds all of them");
    set_->labels.map = std::move(map);
    set_->classes = input_.classes.empty() ? std::move(classes) : input_.classes;
    for (std::string& note : NoteSimilarNames(set_->classes)) {
      set_->notes.push_back(std::move(note));
    }
  }
  if (!HasBackground()) return OkStatus();
  const auto background = FindBackground(set_->classes);
  set_->labels.background = background.value_or(0);
  if (background.has_value()) return OkStatus();
  return InvalidArgumentError(
      "the class table has no class 'background' for the pixels that no annotation covers");
}

// The one beside the annotation file, or else all in the other usual places.
std::vector<const ListedFile*> CocoReader::FindImagesAs(const AnnotationFile& file,
                                                        const std::string& name) const {
  const auto find = [&](const std::string& folder) {
    return input_.listing.Find(folder.empty() || folder == "." ? name : folder + "/" + name);
  };
  if (const ListedFile* beside = find(FolderName(file.file->path))) return {beside};
  std::vector<const ListedFile*> found;
  for (const std::string& folder :
       {"images/" + file.split, file.split, std::string("images"), std::string()}) {
    const ListedFile* image = find(folder);
    const bool is_new = std::find(found.begin(), found.end(), image) == found.end();
    if (image != nullptr && is_new) found.push_back(image);
  }
  return found;
}

// As it is named, or else as other programs name images: with backslashes, from the folder that
// they ran in, or with all folders of the machine where the file was written.
std::vector<const ListedFile*> CocoReader::FindImages(const AnnotationFile& file,
                                                      const std::string& name) const {
  std::vector<const ListedFile*> found = FindImagesAs(file, name);
  if (!found.empty() || name.empty()) return found;
  std::string plain = name;
  std::replace(plain.begin(), plain.end(), '\\', '/');
  while (plain.compare(0, 2, "./") == 0) plain.erase(0, 2);
  if (plain != name) found = FindImagesAs(file, plain);
  if (!found.empty()) return found;
  const ListedFile* elsewhere = finder_.Find(plain);
  if (elsewhere != nullptr) found.push_back(elsewhere);
  return found;
}

// A problem of `split`, and nullptr, when there is none, or more than one that may be meant.
Result<const ListedFile*> CocoReader::FindImage(const AnnotationFile& file, const CocoImage& image,
                                                InputSplit* split) const {
  const std::vector<const ListedFile*> found = FindImages(file, image.file_name);
  if (found.size() == 1) return found[0];
  const std::string name =
      image.file_name.empty() ? "image " + std::to_string(image.id) : image.file_name;
  ASSIGN_OR_RETURN(std::string key, RecordKey(name));
  split->problems.push_back(
      {std::move(key), file.file->path + " names it, " +
                           (found.empty() ? "but there is no such image"
                                          : "and may mean " + found[0]->path + " or " +
                                                found[1]->path + "; rename or remove one")});
  return nullptr;
}

// The picture of segment ids has the name that the annotation gives, or else that of the image, in
// a folder that has the JSON file's name.
Status CocoReader::AddPicture(const AnnotationFile& file, const CocoImage& image, Sample* sample) {
  const std::string& json = file.file->path;
  const std::string name = !image.picture.empty()
                               ? image.picture
                               : std::string(WithoutImageExtension(image.file_name)) + ".png";
  const std::string folder = json.substr(0, json.size() - 5);
  for (const std::string& path : {folder + "/" + name, std::string(NameOf(folder)) + "/" + name}) {
    const ListedFile* found = input_.listing.Find(path);
    if (found == nullptr) continue;
    sample->label = {found->path, found->bytes, found->changed_ns};
    return OkStatus();
  }
  return NotFoundError("there is no picture " + folder + "/" + name);
}

Status CocoReader::AddImage(const AnnotationFile& file, const CocoImage& image, InputSplit* split) {
  ASSIGN_OR_RETURN(const ListedFile* found, FindImage(file, image, split));
  if (found == nullptr) return OkStatus();
  set_->unlisted.folders.insert(FolderAbove(found->path));
  ASSIGN_OR_RETURN(Sample sample, MakePair(*found, *file.file));
  sample.parts_file = static_cast<uint32_t>(set_->labels.parts_files.size() - 1);
  sample.parts = image.parts;
  if (kind_.form == LabelForm::kCoco) {
    sample.parts.insert(sample.parts.begin(), image.entry);
  } else {
    std::string problem;
    if (image.parts.size() != 1) {
      problem = "it has " + std::to_string(image.parts.size()) + " annotations in place of one";
    } else {
      problem = AddPicture(file, image, &sample).message();
    }
    if (!problem.empty()) {
      split->problems.push_back({sample.key, problem});
      return OkStatus();
    }
  }
  split->samples.push_back(std::move(sample));
  return OkStatus();
}

// The test files of contests list images and categories alone. Elsewhere a list that is missing is
// one that was lost.
Status CocoReader::AddUnlabelled(const AnnotationFile& file, const CocoIndex& index) {
  const std::string& path = file.file->path;
  if (UsualSplitName(file.split) != "test") {
    return InvalidArgumentError(path + ": there is no list 'annotations'");
  }
  InputSplit split;
  std::set<std::string> files;
  for (const CocoImage& image : index.images) {
    ASSIGN_OR_RETURN(const ListedFile* found, FindImage(file, image, &split));
    if (found == nullptr) continue;
    files.insert(found->path);
    set_->unlisted.folders.insert(FolderAbove(found->path));
    Sample sample;
    ASSIGN_OR_RETURN(sample.key, RecordKey(found->path));
    sample.image = {found->path, found->bytes, found->changed_ns};
    split.samples.push_back(std::move(sample));
  }
  if (!WantsUnlabelled(input_, "test", path + " has no list 'annotations'", "", std::move(files),
                       set_)) {
    return OkStatus();
  }
  set_->notes.push_back(path + " has no list 'annotations': its " +
                        std::to_string(split.samples.size()) +
                        " images are packed with labels that are ignored throughout");
  return AddSplit(file.split, std::move(split), set_);
}

// It may be meant so, or the annotations were lost.
void CocoReader::NoteBackground(const AnnotationFile& file, const CocoIndex& index) {
  const auto count = std::count_if(index.images.begin(), index.images.end(),
                                   [](const CocoImage& image) { return image.parts.empty(); });
  if (count == 0 || kind_.form != LabelForm::kCoco) return;
  set_->notes.push_back(file.file->path + ": " + std::to_string(count) + " of " +
                        std::to_string(index.images.size()) +
                        " images have no annotation and are background alone");
}

Status CocoReader::ReadFile(const AnnotationFile& file) {
  ASSIGN_OR_RETURN(const CocoIndex index,
                   ReadCocoIndex(JoinPath(input_.listing.root, file.file->path)));
  const Status status = AddClasses(index);
  if (!status.ok()) return status.WithContext(file.file->path);
  if (!index.has_annotations) return AddUnlabelled(file, index);
  set_->labels.parts_files.push_back({file.file->path, file.file->bytes, file.file->changed_ns});
  if (index.annotations_without_image > 0) {
    set_->notes.push_back(file.file->path + ": " + std::to_string(index.annotations_without_image) +
                          " of " + std::to_string(index.annotations) +
                          " annotations are of images that it does not list");
  }
  NoteBackground(file, index);
  InputSplit split;
  for (const CocoImage& image : index.images) RETURN_IF_ERROR(AddImage(file, image, &split));
  if (!UsualSplitName(file.split).empty()) return AddSplit(file.split, std::move(split), set_);
  if (!unsplit_.has_value()) unsplit_.emplace();
  std::move(split.samples.begin(), split.samples.end(), std::back_inserter(unsplit_->samples));
  std::move(split.problems.begin(), split.problems.end(), std::back_inserter(unsplit_->problems));
  return OkStatus();
}

Status CocoReader::Read() {
  set_->labels.form = kind_.form;
  if (kind_.form == LabelForm::kPanoptic) set_->labels.ignore = 255;
  const std::vector<AnnotationFile> files = FindFiles(input_.listing, kind_);
  if (files.empty()) {
    return NotFoundError("there is no file " + std::string(kind_.begin) + "*.json in " +
                         input_.listing.root + OtherJson(input_.listing, kind_));
  }
  for (const AnnotationFile& file : files) RETURN_IF_ERROR(ReadFile(file));
  if (unsplit_.has_value()) DivideByKey(*std::move(unsplit_), set_);
  set_->unlisted.reason = "no annotation file names it";
  return CheckOtherFolders(files);
}

// Folders of images that have a split's name and no annotation file.
Status CocoReader::CheckOtherFolders(const std::vector<AnnotationFile>& files) {
  for (const std::string& above : {std::string("images"), std::string()}) {
    for (const std::string& name : input_.listing.FoldersIn(above)) {
      const std::string folder = above.empty() ? name : above + "/" + name;
      const bool is_used = std::any_of(set_->unlisted.folders.begin(), set_->unlisted.folders.end(),
                                       [&](const std::string& used) {
                                         return used == folder || BeginsWith(used, folder + "/");
                                       });
      const bool has_file =
          std::any_of(files.begin(), files.end(),
                      [&](const AnnotationFile& file) { return file.split == name; });
      if (UsualSplitName(name).empty() || is_used || has_file) continue;
      const std::string why = "there is no " + std::string(kind_.begin) + name + ".json";
      RETURN_IF_ERROR(LeaveOutUnnamed(input_, folder, why, set_));
    }
  }
  return OkStatus();
}

std::string Recognize(const FolderListing& listing, const Kind& kind) {
  const std::vector<AnnotationFile> files = FindFiles(listing, kind);
  return files.empty() ? "" : "there is " + files.front().file->path;
}

}  // namespace

std::string RecognizeCoco(const FolderListing& listing) { return Recognize(listing, kInstances); }
Status ReadCoco(const LayoutInput& input, InputSet* set) {
  return CocoReader(input, kInstances, set).Read();
}

std::string RecognizeCocoPanoptic(const FolderListing& listing) {
  return Recognize(listing, kPanoptic);
}
Status ReadCocoPanoptic(const LayoutInput& input, InputSet* set) {
  return CocoReader(input, kPanoptic, set).Read();
}

}  // namespace shardmill
