#include "tools/pack/layouts/drawn_classes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "reader/names.h"
#include "tools/pack/annotations/annotation_label.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/labels/class_label.h"
#include "tools/pack/labels/unused_class.h"
#include "tools/pack/layouts/layout_parts.h"

namespace shardmill {
namespace {

constexpr char kBackground[] = "_background_";

bool IsBackground(const ClassInfo& info) { return MeansBackground(info.name); }

void Number(std::vector<ClassInfo>* classes) {
  for (size_t i = 0; i < classes->size(); ++i) (*classes)[i].id = static_cast<uint32_t>(i);
}

void AddBackground(std::vector<ClassInfo>* classes) {
  classes->insert(classes->begin(), {0, kBackground, std::nullopt});
}

// The classes keep the ids that the table gives them. labelme's own tables begin with the name
// that means "no class", which has the number -1 there.
Status UseTable(InputSet* set) {
  std::vector<ClassInfo>& classes = set->classes;
  if (MeansIgnore(classes.front().name)) {
    classes.erase(classes.begin());
    Number(&classes);
  }
  for (ClassInfo& info : classes) {
    if (MeansIgnore(info.name)) info = UnusedClass(info.id);
  }
  if (!FindBackground(classes).has_value()) {
    AddBackground(&classes);
    Number(&classes);
    set->notes.push_back(
        "the class table has no class 'background': class 0 is made for it, and the ids of the "
        "others are one more than in the table");
  }
  set->labels.background = *FindBackground(classes);
  return OkStatus();
}

// Class 0 is where no shape is, so no label of shapes can be it.
Status UseNumbers(const std::set<uint32_t>& ids, InputSet* set) {
  if (*ids.begin() == 0) {
    return InvalidArgumentError(
        "the labels of the shapes are numbers, which are class ids, and one is 0, the id of what "
        "no shape covers; say what the classes are with --classes FILE");
  }
  std::vector<ClassInfo>& classes = set->classes;
  for (uint32_t id = 1; id <= *ids.rbegin(); ++id) {
    classes.push_back(ids.count(id) > 0 ? ClassInfo{id, std::to_string(id), std::nullopt}
                                        : UnusedClass(id));
  }
  AddBackground(&classes);
  return OkStatus();
}

Status UseNames(const std::vector<std::string>& names, InputSet* set) {
  std::vector<ClassInfo>& classes = set->classes;
  classes.clear();
  std::set<std::string> labels;
  for (const std::string& name : names) {
    if (!MeansIgnore(name) && !MeansBackground(name)) labels.insert(name);
  }
  ASSIGN_OR_RETURN(const auto ids, IdsOfLabels(labels));
  if (ids.has_value() && !ids->empty()) return UseNumbers(*ids, set);
  for (const std::string& name : names) {
    if (!IsRecordKey(name)) return InvalidArgumentError("a shape has no usable label");
    if (!MeansIgnore(name)) classes.push_back({0, name, std::nullopt});
  }
  auto background = std::find_if(classes.begin(), classes.end(), IsBackground);
  if (background == classes.end()) {
    AddBackground(&classes);
  } else {
    std::rotate(classes.begin(), background, background + 1);
  }
  Number(&classes);
  for (std::string& note : NoteSimilarNames(classes)) set->notes.push_back(std::move(note));
  return OkStatus();
}

// Two classes of the background would be two that nobody can tell apart.
Status CheckOneBackground(const std::vector<ClassInfo>& classes) {
  const auto first = std::find_if(classes.begin(), classes.end(), IsBackground);
  if (first == classes.end()) return OkStatus();
  const auto second = std::find_if(first + 1, classes.end(), IsBackground);
  if (second == classes.end()) return OkStatus();
  return InvalidArgumentError("the classes '" + first->name + "' and '" + second->name +
                              "' both mean what no shape covers; rename one of them");
}

}  // namespace

bool MeansBackground(const std::string& name) {
  const std::string lower = LowerCase(name);
  return lower == kBackground || lower == "background";
}

std::optional<uint32_t> FindBackground(const std::vector<ClassInfo>& classes) {
  const auto found = std::find_if(classes.begin(), classes.end(), IsBackground);
  return found == classes.end() ? std::nullopt : std::optional(found->id);
}

Status UseDrawnClasses(const LayoutInput& input, const std::vector<std::string>& names,
                       InputSet* set) {
  const Status found = FindClasses(input, set);
  if (!found.ok() && found.code() != StatusCode::kNotFound) return found;
  set->labels.colors_in_files = false;
  RETURN_IF_ERROR(found.ok() ? UseTable(set) : UseNames(names, set));
  return CheckOneBackground(set->classes);
}

}  // namespace shardmill
