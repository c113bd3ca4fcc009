#include "reader/finding.h"

namespace shardmill {

std::string FindingToString(const Finding& finding) {
  std::string text = finding.file + ": ";
  if (finding.block) text += "block " + std::to_string(*finding.block) + ": ";
  if (finding.record) {
    text += "record " + std::to_string(*finding.record);
    if (!finding.key.empty()) text += " (" + finding.key + ")";
    text += ": ";
  }
  if (!finding.field.empty()) text += "field " + finding.field + ": ";
  return text + finding.message;
}

}  // namespace shardmill
