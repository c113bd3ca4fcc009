#include "trainer/cuda/check_device.h"

#include <cuda_runtime_api.h>

#include "trainer/cuda/comm/nccl_table.h"
#include "trainer/cuda/dnn/convolution_plans.h"
#include "trainer/cuda/driver.h"
#include "trainer/cuda/runtime/cuda_status.h"
#include "trainer/cuda/runtime/device_code.h"

namespace shardmill {

Status CheckDevice(int device, std::string* name) {
  int count = 0;
  RETURN_IF_ERROR(CudaStatus(cudaGetDeviceCount(&count), "count the GPUs"));
  // Starters of jobs often show each rank its own GPU alone. Whether that is so is known when the
  // ranks compare their GPUs.
  if (count == 1) device = 0;
  if (device >= count) {
    return UnavailableError(
        "this host has " + std::to_string(count) + (count == 1 ? " GPU" : " GPUs") + ", but rank " +
        std::to_string(device) + " of this host needs one of its own; start fewer ranks");
  }
  RETURN_IF_ERROR(CudaStatus(cudaSetDevice(device), "take GPU " + std::to_string(device)));
  ASSIGN_OR_RETURN(const DeviceDescription description, DeviceDescription::OfDevice(device));
  const Status code =
      CudaStatus(CheckDeviceCode(), "run the kernels of this build on " + description.name());
  if (!code.ok()) return code.WithContext("this build has code for sm_80, sm_90 and later");
  *name = description.name() + "; CUDA " + CudaVersionText(CUDART_VERSION) + ", " +
          DnnLibraryName() + ", " + NcclLibraryName();
  return OkStatus();
}

}  // namespace shardmill
