#pragma once

#include "reader/console/units.h"  // moved there; include it directly
