#pragma once

#include "reader/base/version.h"  // moved there; include it directly
