#include "trainer/device.h"

#include <dnnl.h>
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

std::string InstructionSet() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
      return "SSE4.1";
    case dnnl_cpu_isa_avx:
      return "AVX";
    case dnnl_cpu_isa_avx2:
      return "AVX2";
    case dnnl_cpu_isa_avx2_vnni:
      return "AVX2-VNNI";
    case dnnl_cpu_isa_avx512_core:
      return "AVX-512";
    case dnnl_cpu_isa_avx512_core_vnni:
      return "AVX-512 VNNI";
    case dnnl_cpu_isa_avx512_core_bf16:
      return "AVX-512 BF16";
    case dnnl_cpu_isa_avx512_core_amx:
      return "AVX-512 AMX";
    default:
      return "other (" + std::to_string(static_cast<int>(dnnl_get_effective_cpu_isa())) + ")";
  }
}

std::string OnednnVersion() {
  const dnnl_version_t* version = dnnl_version();
  return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}

// OK is not yet among the answers: the kernels of the backend are not joined to its convolutions.
Status CheckCuda(int local_rank) {
  RETURN_IF_ERROR(OpenCudaDevice(local_rank).status());
  return UnavailableError("the CUDA backend of this version prepares plans, but does not train");
}

}  // namespace

Result<Device> OpenDevice(const std::string& name, int threads, int local_ranks, int local_rank,
                          const std::string& precision) {
  Device device;
  if (name == "reference") {
    if (precision != "f32") {
      return InvalidArgumentError("--device reference computes in double: leave out --precision");
    }
    device.threads = 1;
    device.ops = CreateReferenceOps(ElementType::kF32);
    return device;
  }
  if (name == "cuda" || name == "auto") {
    const Status status = CheckCuda(local_rank);
    if (name == "cuda")
      return UnavailableError("--device cuda: " + status.message() +
                              "; or use --device cpu or auto");
    device.notice = "taking the CPU: " + status.message();
  }
  ASSIGN_OR_RETURN(device.threads, ResolveThreads(threads, local_ranks));
  omp_set_dynamic(0);
  omp_set_num_threads(device.threads);
  const int cpus = AllowedCpus();
  if (device.threads * local_ranks > cpus) {
    if (!device.notice.empty()) device.notice += "; ";
    device.notice += (local_ranks > 1 ? std::to_string(local_ranks) + " ranks of " : "") +
                     std::to_string(device.threads) + " threads on " + std::to_string(cpus) +
                     " CPUs will be slower than " + std::to_string(cpus) + " threads in all";
  }
  Result<std::unique_ptr<OpTable>> ops = CreateOnednnOps(
      precision == "bf16" ? ConvolutionPrecision::kBf16 : ConvolutionPrecision::kF32);
  if (!ops.ok()) return ops.status().WithContext("--precision " + precision);
  device.ops = std::move(ops).value();
  return device;
}

proto::Environment DescribeEnvironment(const Device& device) {
  proto::Environment environment;
  environment.set_program_version(std::string(kVersion));
  const bool is_reference = device.ops->name() == "reference";
  environment.set_backend(is_reference ? "reference" : OnednnVersion());
  environment.set_isa(is_reference ? "plain C++" : InstructionSet());
  environment.set_threads(device.threads);
  environment.set_epoch_order_version(kEpochOrderVersion);
  return environment;
}

}  // namespace shardmill
