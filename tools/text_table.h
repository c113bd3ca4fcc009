#pragma once

#include "reader/console/text_table.h"  // moved there; include it directly
