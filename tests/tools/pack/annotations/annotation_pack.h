// Packs sets whose labels are annotation files, as a user packs them.
#pragma once

#include <string>
#include <vector>

#include "tests/tools/pack/pack_testing.h"

namespace shardmill {

class AnnotationPackTest : public PackTest {
 protected:
  void ExpectLayout(const std::string& name) {
    ExpectPacked();
    EXPECT_NE(error_.find("taken for layout " + name + ": "), std::string::npos) << error_;
    ReadLabels();
    EXPECT_EQ(manifest_.recipe().layout(), name);
  }
};

}  // namespace shardmill
