// What the programs get from libshardmill_cuda.so.
//
// The plug-in is the only file that is linked to CUDA, cuDNN and NCCL, so that a machine without
// them runs the same program. Program and plug-in are built from one source by one compiler: C++
// objects pass between them, and the version must be the same to the letter.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/cuda/comm/device_communicator.h"
#include "trainer/cuda/dnn/convolution_problem.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

class DeviceOpTable;

inline constexpr char kCudaPluginFile[] = "libshardmill_cuda.so";
inline constexpr char kCudaPluginEntry[] = "ShardmillCudaPlugin";

// Raise it whenever anything below changes.
constexpr uint32_t kCudaPluginVersion = 8;

struct PlannedConvolution {
  ConvolutionShape shape;
  MathMode math = MathMode::kF32;
};

// Plans to be prepared for a device that need not be there.
struct PlanRequest {
  std::string device_json;
  std::string device_file;  // where that is from, for messages
  std::string cache_path;   // empty: nothing is kept
  std::vector<PlannedConvolution> convolutions;
  bool deterministic = false;
};

struct PlanRow {
  // By ConvolutionPass: the bytes of workspace; of a shape for forward only just the first, and 0
  // of the data gradient of padded images, which there is not.
  int64_t workspace_bytes[3] = {};
  bool adds_bias = false, activates = false;  // the forward plan does
  bool rounds_gradient = false;               // of the weights, to bf16
  Status status;                              // not OK: there are no plans
};

// Plans that cuDNN was asked for, that came from the file, and that were in the file but not
// accepted by cuDNN and so built anew.
struct PlanNumbers {
  int64_t built = 0, loaded = 0, refused = 0;
};

struct PlanReport {
  std::string device, library;
  std::string note;           // why the file was not taken; may be empty
  std::vector<PlanRow> rows;  // of each convolution of the request
  PlanNumbers numbers;
};

// How an op table of the device computes. With kBf16 its elements are bf16.
struct CudaOpsRequest {
  MathMode math = MathMode::kTf32;
  bool deterministic = false;
  std::string plan_cache;               // empty: plans are kept in memory only
  bool (*was_interrupted)() = nullptr;  // see CreateDeviceRuntime
  // Told what happens during the run and is no error; may be null.
  void (*say)(const std::string& note) = nullptr;
};

struct CudaPlugin {
  uint32_t version;
  int cuda_version;  // 13000: what the driver must support, the major version at least

  Result<PlanReport> (*prepare_plans)(const PlanRequest& request);
  // OK when the kernels and cuDNN of this build run on the device; Unavailable says why not.
  // `name` receives "NVIDIA H200, sm_90, 132 multiprocessors; CUDA 13.0, cuDNN 9.19.0, NCCL
  // 2.28.9".
  Status (*check_device)(int device, std::string* name);
  // REQUIRES: check_device was OK in this thread. `note` receives why the file of plans was not
  // taken, if so. The plug-in must stay open as long as the op table.
  Result<std::unique_ptr<DeviceOpTable>> (*create_ops)(const CudaOpsRequest& request,
                                                       std::string* note);
  // Of such an op table, so far.
  PlanNumbers (*plan_numbers)(const OpTable& ops);
  // Connects this rank's GPU with those of the other ranks: all ranks call it together. All that is
  // passed must outlive the result; `compute` is a stream of `runtime`.
  Result<std::unique_ptr<DeviceCommunicator>> (*connect_ranks)(CudaRuntime* runtime,
                                                               StreamHandle compute,
                                                               Communicator* bootstrap,
                                                               const CommunicatorOptions& options);
};

}  // namespace shardmill
