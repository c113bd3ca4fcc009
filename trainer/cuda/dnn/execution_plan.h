// Execution plans: how cuDNN will compute an operation graph on a device.
//
// A plan is made for a description of a device, so it needs neither the device nor a cuDNN handle
// until it runs.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "reader/base/status.h"
#include "trainer/cuda/dnn/convolution_graph.h"
#include "trainer/cuda/dnn/descriptor.h"
#include "trainer/cuda/dnn/device_description.h"

namespace shardmill {

struct PlanNeeds {
  MathMode math = MathMode::kF32;
  bool deterministic = false;
  int64_t most_workspace_bytes = 0;
  std::set<std::string> failed = {};  // names of plans that are not to be taken
};

class ExecutionPlan {
 public:
  // The first plan that the heuristics name and that meets the needs. InvalidArgument when there
  // is none: says how many there were and why the last was refused. Unavailable when one of them
  // was refused for another reason than what it is, as by a library that cannot be opened.
  static Result<ExecutionPlan> Build(const ConvolutionGraph& graph, const PlanNeeds& needs,
                                     const DeviceDescription& device);
  // From the text of an earlier plan for the same device and library.
  static Result<ExecutionPlan> FromJson(const std::string& json, const DeviceDescription& device);

  const std::string& json() const { return json_; }  // empty for the few engines that have none
  // The same for the same plan, however it was made: its text, or else its place in the heuristics.
  const std::string& name() const { return json_.empty() ? place_ : json_; }
  int64_t workspace_bytes() const { return workspace_bytes_; }
  const DnnDescriptor& descriptor() const { return plan_; }

 private:
  static Result<ExecutionPlan> Finish(DnnBuilder* builder);
  DnnDescriptor config_;  // the plan refers to it
  DnnDescriptor plan_;
  int64_t workspace_bytes_ = 0;
  std::string json_, place_;
};

// Whether an engine with these notes (of cuDNN's lists of numerical notes) may be taken.
bool NotesMeet(const PlanNeeds& needs, const std::vector<int>& numerical_notes);

}  // namespace shardmill
