#include "trainer/device.h"

#include <omp.h>

#include <cstdio>
#include <utility>

#include "proto/checkpoint.pb.h"
#include "reader/base/interrupt.h"
#include "reader/base/thread_budget.h"
#include "reader/base/version.h"
#include "reader/epoch_order.h"
#include "trainer/cuda/plugin_library.h"
#include "trainer/cuda/simulated/simulated_ops.h"
#include "trainer/ops/onednn/onednn_backend.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {
namespace {

Result<std::unique_ptr<OpTable>> OpenCpuOps(const std::string& precision) {
  if (precision == "tf32") {
    return InvalidArgumentError("--precision tf32 is for GPUs; the CPU has f32 and bf16");
  }
  Result<std::unique_ptr<OpTable>> ops = CreateOnednnOps(
      precision == "bf16" ? ConvolutionPrecision::kBf16 : ConvolutionPrecision::kF32);
  return ops.ok() ? std::move(ops) : ops.status().WithContext("--precision " + precision);
}

std::string PlansText(const PlanNumbers& numbers, const std::string& file) {
  std::string text = "plans of convolutions: " + std::to_string(numbers.built) + " built, " +
                     std::to_string(numbers.loaded) + " from " + file;
  if (numbers.refused > 0) text += ", which had " + std::to_string(numbers.refused) + " not fit";
  return text;
}

Result<std::unique_ptr<OpTable>> OpenCudaOps(const DeviceRequest& request, Device* device) {
  ASSIGN_OR_RETURN(const CudaDevice cuda, OpenCudaDevice(request.local_rank));
  if (request.deterministic && request.ranks > 1) {
    return UnavailableError(
        "sums over GPUs do not have the same bits on any number of them, as --deterministic asks; "
        "use one GPU, or leave it out");
  }
  CudaOpsRequest wanted;
  wanted.math = request.precision == "bf16"   ? MathMode::kBf16
                : request.precision == "tf32" ? MathMode::kTf32
                                              : MathMode::kF32;
  wanted.deterministic = request.deterministic;
  wanted.plan_cache = request.plan_cache;
  wanted.was_interrupted = WasInterrupted;
  wanted.say = [](const std::string& note) { std::fprintf(stderr, "note: %s\n", note.c_str()); };
  ASSIGN_OR_RETURN(auto ops, cuda.plugin->create_ops(wanted, &device->notice));
  device->name = cuda.name;
  device->device_ops = ops.get();
  device->connect_ranks = cuda.plugin->connect_ranks;
  if (!request.plan_cache.empty()) {
    device->plans_text = [plugin = cuda.plugin, table = ops.get(), file = request.plan_cache] {
      return PlansText(plugin->plan_numbers(*table), file);
    };
  }
  if (request.deterministic) {
    device->notice += (device->notice.empty() ? "" : "; ") +
                      std::string(
                          "on a GPU --deterministic gives the same bits on each run on "
                          "GPUs of one kind, not those of other devices");
  }
  return std::unique_ptr<OpTable>(std::move(ops));
}

// The GPU's path on the host; nothing is recorded, as runs may be long.
Result<Device> OpenSimulatedDevice(const DeviceRequest& request) {
  if (request.deterministic && request.ranks > 1) {
    return UnavailableError("--device cuda-host with --deterministic is for one rank");
  }
  if (request.precision == "tf32") {
    return InvalidArgumentError(
        "--precision tf32 is for GPUs; --device cuda-host has f32 and bf16");
  }
  auto runtime = std::make_unique<SimulatedRuntime>();
  runtime->set_recording(false);
  std::unique_ptr<DeviceOpTable> ops = CreateSimulatedOps(
      request.precision == "bf16" ? ElementType::kBf16 : ElementType::kF32, std::move(runtime));
  Device device;
  device.threads = 1;
  device.device_ops = ops.get();
  device.ops = std::move(ops);
  return device;
}

Result<int> SetThreads(const DeviceRequest& request) {
  ASSIGN_OR_RETURN(const int threads, ResolveThreads(request.threads, request.local_ranks));
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  return threads;
}

void NoteCrowd(const DeviceRequest& request, Device* device) {
  const int cpus = AllowedCpus();
  if (device->threads * request.local_ranks <= cpus) return;
  if (!device->notice.empty()) device->notice += "; ";
  device->notice +=
      (request.local_ranks > 1 ? std::to_string(request.local_ranks) + " ranks of " : "") +
      std::to_string(device->threads) + (device->threads == 1 ? " thread on " : " threads on ") +
      std::to_string(cpus) + " CPUs will be slower than " + std::to_string(cpus) +
      " threads in all";
}

}  // namespace

Result<Device> OpenDevice(const DeviceRequest& request) {
  Device device;
  if (!request.plan_cache.empty() && request.name != "cuda" && request.name != "auto") {
    return InvalidArgumentError("--plan-cache is for GPUs; leave it out with --device " +
                                request.name);
  }
  if (request.name == "reference") {
    if (request.precision != "f32") {
      return InvalidArgumentError("--device reference computes in double: leave out --precision");
    }
    device.threads = 1;
    device.ops = CreateReferenceOps(ElementType::kF32);
    return device;
  }
  if (request.name == "cuda-host") return OpenSimulatedDevice(request);
  ASSIGN_OR_RETURN(device.threads, SetThreads(request));
  if (request.name == "cuda" || request.name == "auto") {
    auto ops = OpenCudaOps(request, &device);
    if (ops.ok()) {
      device.ops = std::move(*ops);
      return device;
    }
    // A wrong option is no reason to take the CPU.
    if (ops.status().code() == StatusCode::kInvalidArgument) return ops.status();
    if (request.name == "cuda") {
      return UnavailableError("--device cuda: " + ops.status().message() +
                              "; or use --device cpu or auto");
    }
    device.notice = "taking the CPU: " + ops.status().message();
    if (!request.plan_cache.empty()) device.notice += "; --plan-cache is for GPUs and is not used";
  }
  NoteCrowd(request, &device);
  ASSIGN_OR_RETURN(device.ops, OpenCpuOps(request.precision));
  return device;
}

proto::Environment DescribeEnvironment(const Device& device) {
  proto::Environment environment;
  environment.set_program_version(std::string(kVersion));
  const bool is_simple = device.threads == 1 && device.ops->name() != "onednn";
  if (!device.name.empty()) {
    environment.set_backend("CUDA");
    environment.set_isa(device.name);
  } else {
    environment.set_backend(is_simple ? std::string(device.ops->name()) : OnednnVersion());
    environment.set_isa(is_simple ? "plain C++" : OnednnInstructionSet());
  }
  environment.set_threads(device.threads);
  environment.set_epoch_order_version(kEpochOrderVersion);
  return environment;
}

}  // namespace shardmill
