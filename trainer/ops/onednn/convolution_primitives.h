// What a convolution runs: a oneDNN primitive with weights in its own order, and the rounding of
// its inputs. Scratch memory is the caller's: oneDNN must not allocate in a step.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

#include "trainer/ops/onednn/primitive.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

inline dnnl::primitive_attr OwnScratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

inline int64_t AlignedBytes(size_t bytes) {
  return (static_cast<int64_t>(bytes) + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
}

// Copies a tensor into another order or type. What throws, throws dnnl::error.
class Reorder {
 public:
  void Create(const dnnl::memory::desc& from, const dnnl::memory::desc& to,
              const dnnl::engine& engine) {
    const dnnl::reorder::primitive_desc desc(engine, from, engine, to, OwnScratchpad());
    primitive_ = Primitive(dnnl::reorder(desc));
    from_ = primitive_.AddArgument(DNNL_ARG_FROM, from, engine);
    to_ = primitive_.AddArgument(DNNL_ARG_TO, to, engine);
    scratch_ = primitive_.AddArgument(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc(), engine);
    scratch_bytes_ = AlignedBytes(desc.scratchpad_desc().get_size());
  }

  int64_t scratch_bytes() const { return scratch_bytes_; }

  Status Run(dnnl::stream& stream, const void* from, const void* to, void* scratch) {
    RETURN_IF_ERROR(primitive_.SetAddress(from_, from));
    RETURN_IF_ERROR(primitive_.SetAddress(to_, to));
    RETURN_IF_ERROR(primitive_.SetAddress(scratch_, scratch));
    return primitive_.Run(stream);
  }

 private:
  Primitive primitive_;
  int from_ = 0, to_ = 0, scratch_ = 0;
  int64_t scratch_bytes_ = 0;
};

// A primitive with reordered weights: the workspace holds the weights in the primitive's order and
// type, then the scratch memory of the reorders and of the primitive, then rounded inputs.
class WeightedPrimitive {
 public:
  template <typename PrimitiveDesc>
  void Create(const PrimitiveDesc& desc, const dnnl::primitive& primitive,
              const dnnl::engine& engine, int weights_argument, const dnnl::memory::desc& weights) {
    main_ = Primitive(primitive);
    weights_ = main_.AddArgument(weights_argument, weights, engine);
    scratch_ = main_.AddArgument(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc(), engine);
    weight_bytes_ = AlignedBytes(weights.get_size());
    scratch_bytes_ = AlignedBytes(desc.scratchpad_desc().get_size());
  }

  // Adds the reorder between the caller's weights and the primitive's.
  void CreateReorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to,
                     const dnnl::engine& engine) {
    reorder_.Create(from, to, engine);
    scratch_bytes_ = std::max(scratch_bytes_, reorder_.scratch_bytes());
  }

  // Adds an input that the caller has as `own` and the primitive reads as `read`: rounded before,
  // where they differ. Returns its number for SetInput.
  int AddInput(int argument, const dnnl::memory::desc& own, const dnnl::memory::desc& read,
               const dnnl::engine& engine) {
    Input& input = inputs_[input_count_];
    input.argument = main_.AddArgument(argument, read, engine);
    input.is_rounded = own != read;
    if (input.is_rounded) {
      input.rounding.Create(own, read, engine);
      input.offset = rounded_bytes_;
      rounded_bytes_ += AlignedBytes(read.get_size());
      scratch_bytes_ = std::max(scratch_bytes_, input.rounding.scratch_bytes());
    }
    return input_count_++;
  }

  int64_t WorkspaceBytes() const { return weight_bytes_ + scratch_bytes_ + rounded_bytes_; }
  Primitive& main() { return main_; }

  Status SetInput(dnnl::stream& stream, int number, const void* address, void* workspace) {
    Input& input = inputs_[number];
    if (!input.is_rounded) return main_.SetAddress(input.argument, address);
    char* rounded = static_cast<char*>(workspace) + weight_bytes_ + scratch_bytes_ + input.offset;
    RETURN_IF_ERROR(input.rounding.Run(stream, address, rounded, Scratch(workspace)));
    return main_.SetAddress(input.argument, rounded);
  }

  Status ReorderWeights(dnnl::stream& stream, const void* from, const void* to, void* workspace) {
    return reorder_.Run(stream, from, to, Scratch(workspace));
  }

  Status RunMain(dnnl::stream& stream, void* workspace) {
    RETURN_IF_ERROR(main_.SetAddress(weights_, workspace));
    RETURN_IF_ERROR(main_.SetAddress(scratch_, Scratch(workspace)));
    return main_.Run(stream);
  }

 private:
  static constexpr int kMaxInputs = 2;

  struct Input {
    int argument = 0;
    bool is_rounded = false;
    Reorder rounding;
    int64_t offset = 0;  // behind the scratch memory
  };

  void* Scratch(void* workspace) const { return static_cast<char*>(workspace) + weight_bytes_; }

  Primitive main_;
  Reorder reorder_;
  int weights_ = 0, scratch_ = 0;
  int64_t weight_bytes_ = 0, scratch_bytes_ = 0, rounded_bytes_ = 0;
  std::array<Input, kMaxInputs> inputs_;
  int input_count_ = 0;
};

}  // namespace shardmill
