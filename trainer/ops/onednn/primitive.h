// A oneDNN primitive with its arguments: made once per shape, run many times.
//
// The memory objects are made at the start, so that a run only sets addresses that changed:
// the C++ wrapper's argument map would allocate in every step.
#pragma once

#include <array>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

#include "reader/base/status.h"

namespace shardmill {

class Primitive {
 public:
  Primitive() = default;
  // Throws dnnl::error.
  explicit Primitive(const dnnl::primitive& primitive) : primitive_(primitive) {}

  // Adds an argument (DNNL_ARG_…); throws dnnl::error. Returns its number for SetAddress.
  int AddArgument(int argument, const dnnl::memory::desc& desc, const dnnl::engine& engine);
  Status SetAddress(int number, const void* address);
  Status Run(dnnl::stream& stream);

 private:
  static constexpr int kMaxArguments = 6;
  dnnl::primitive primitive_;
  std::array<dnnl::memory, kMaxArguments> memories_;
  std::array<dnnl_exec_arg_t, kMaxArguments> arguments_ = {};
  std::array<const void*, kMaxArguments> addresses_ = {};
  int count_ = 0;
};

}  // namespace shardmill
