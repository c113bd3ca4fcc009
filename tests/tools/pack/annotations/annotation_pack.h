// Packs sets whose labels are annotation files, as a user packs them.
#pragma once

#include "tests/tools/pack/pack_testing.h"

namespace shardmill {

using AnnotationPackTest = PackTest;

}  // namespace shardmill
