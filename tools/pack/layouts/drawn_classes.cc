#include "tools/pack/layouts/drawn_classes.h"

#include <algorithm>
#include <utility>

#include "reader/names.h"
#include "tools/pack/annotations/annotation_label.h"
#include "tools/pack/layouts/layout_parts.h"
#include "tools/pack/text_lines.h"

namespace shardmill {
namespace {

constexpr char kBackground[] = "_background_";

bool IsBackground(const ClassInfo& info) {
  const std::string name = LowerCase(info.name);
  return name == kBackground || name == "background";
}

}  // namespace

Status UseDrawnClasses(const LayoutInput& input, const std::vector<std::string>& names,
                       InputSet* set) {
  const Status found = FindClasses(input, set);
  if (!found.ok() && found.code() != StatusCode::kNotFound) return found;
  set->labels.colors_in_files = false;
  std::vector<ClassInfo> classes = std::move(set->classes);
  for (const std::string& name : names) {
    if (found.ok()) break;
    if (!IsRecordKey(name)) return InvalidArgumentError("a shape has no usable label");
    classes.push_back({0, name, std::nullopt});
  }
  classes.erase(std::remove_if(classes.begin(), classes.end(),
                               [](const ClassInfo& info) { return MeansIgnore(info.name); }),
                classes.end());
  auto background = std::find_if(classes.begin(), classes.end(), IsBackground);
  if (background == classes.end()) {
    classes.insert(classes.begin(), {0, kBackground, std::nullopt});
  } else {
    std::rotate(classes.begin(), background, background + 1);
  }
  for (size_t i = 0; i < classes.size(); ++i) classes[i].id = static_cast<uint32_t>(i);
  set->classes = std::move(classes);
  return OkStatus();
}

}  // namespace shardmill
