#pragma once

#include "reader/console/terminal.h"  // moved there; include it directly
