// The class tables of well-known data sets, in the order of their ids.
//
// Free functions without state.
#pragma once

#include <vector>

#include "reader/schema.h"

namespace shardmill {

std::vector<ClassInfo> VocClasses();         // 21, with the colours of the palette
std::vector<ClassInfo> CityscapesClasses();  // the 19 that are trained on, display colours
std::vector<ClassInfo> Ade20kClasses();      // the 150 of SceneParsing, without colours
std::vector<ClassInfo> CocoStuffClasses();   // 182, of which 11 never occur, without colours
std::vector<ClassInfo> SynthiaClasses();     // 22, without "void" and without colours
std::vector<ClassInfo> DeepGlobeClasses();   // 6, with the colours of the masks

}  // namespace shardmill
