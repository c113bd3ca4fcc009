#pragma once

#include <memory>

#include "trainer/ops/op_table.h"

namespace shardmill {

// Computes and accumulates in double whatever it stores; one thread; slow.
std::unique_ptr<OpTable> CreateReferenceOps(ElementType element_type);

}  // namespace shardmill
