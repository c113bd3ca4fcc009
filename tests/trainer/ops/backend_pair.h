// The reference and the backend under test, side by side.
#pragma once

#include <memory>

#include "tests/trainer/ops/op_runner.h"

namespace shardmill {

// The backend under test; each test that runs the parity tests links the definition of its own.
std::unique_ptr<OpTable> CreateCandidateOps();

struct BackendPair {
  BackendPair();
  OpRunner reference;
  OpRunner candidate;
};

}  // namespace shardmill
