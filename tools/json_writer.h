#pragma once

#include "reader/console/json_writer.h"  // moved there; include it directly
