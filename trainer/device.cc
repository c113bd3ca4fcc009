#include "trainer/device.h"

#include <omp.h>

#include <utility>

#include "proto/checkpoint.pb.h"
#include "reader/base/thread_budget.h"
#include "reader/base/version.h"
#include "reader/epoch_order.h"
#include "trainer/cuda/plugin_library.h"
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
  if (request.deterministic) {
    return UnavailableError(
        "GPUs do not give the same bits on any number of ranks yet, as "
        "--deterministic asks");
  }
  if (request.precision == "bf16") {
    return UnavailableError("training in bf16 is not there yet on GPUs; --precision tf32 is");
  }
  CudaOpsRequest wanted;
  wanted.math = request.precision == "tf32" ? MathMode::kTf32 : MathMode::kF32;
  wanted.plan_cache = request.plan_cache;
  ASSIGN_OR_RETURN(auto ops, cuda.plugin->create_ops(wanted, &device->notice));
  device->name = cuda.name;
  device->connect_ranks = cuda.plugin->connect_ranks;
  if (!request.plan_cache.empty()) {
    device->plans_text = [plugin = cuda.plugin, table = ops.get(), file = request.plan_cache] {
      return PlansText(plugin->plan_numbers(*table), file);
    };
  }
  return ops;
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
      std::to_string(device->threads) + " threads on " + std::to_string(cpus) +
      " CPUs will be slower than " + std::to_string(cpus) + " threads in all";
}

}  // namespace

Result<Device> OpenDevice(const DeviceRequest& request) {
  Device device;
  if (!request.plan_cache.empty() && (request.name == "cpu" || request.name == "reference")) {
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
  }
  NoteCrowd(request, &device);
  ASSIGN_OR_RETURN(device.ops, OpenCpuOps(request.precision));
  return device;
}

proto::Environment DescribeEnvironment(const Device& device) {
  proto::Environment environment;
  environment.set_program_version(std::string(kVersion));
  const bool is_reference = device.ops->name() == "reference";
  if (!device.name.empty()) {
    environment.set_backend("CUDA");
    environment.set_isa(device.name);
  } else {
    environment.set_backend(is_reference ? "reference" : OnednnVersion());
    environment.set_isa(is_reference ? "plain C++" : OnednnInstructionSet());
  }
  environment.set_threads(device.threads);
  environment.set_epoch_order_version(kEpochOrderVersion);
  return environment;
}

}  // namespace shardmill
