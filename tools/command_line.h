#pragma once

#include "reader/console/command_line.h"  // moved there; include it directly
