// Whether values that miss those of a class may be taken for it without doubt.
//
// Free functions without state.
#pragma once

#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"
#include "tools/pack/labels/label_rules.h"

namespace shardmill {

// InvalidArgument when the tolerance of the rules could take one number, or one colour, for two
// classes. Ok without a tolerance.
Status CheckNumberTolerance(const std::vector<ClassInfo>& classes, const LabelRules& rules);
Status CheckColorTolerance(const std::vector<ClassInfo>& classes, const LabelRules& rules);

// The one of the two that label files are read by, as far as the rules tell. A file that is read
// by the other is checked when it is decoded.
Status CheckTolerance(const std::vector<ClassInfo>& classes, const LabelRules& rules);

}  // namespace shardmill
