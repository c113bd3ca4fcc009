#include "trainer/cuda/plugin_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include "reader/base/program_folder.h"
#include "trainer/cuda/driver.h"

namespace shardmill {
namespace {

Status CheckVersion(const CudaDriver& driver, const CudaPlugin& plugin) {
  // Within one major version older drivers run newer programs.
  if (driver.version / 1000 >= plugin.cuda_version / 1000) return OkStatus();
  return UnavailableError("the NVIDIA driver supports CUDA " + CudaVersionText(driver.version) +
                          ", but this build needs " + CudaVersionText(plugin.cuda_version) +
                          ": install a newer driver");
}

}  // namespace

Result<const CudaPlugin*> OpenCudaPlugin() {
  ASSIGN_OR_RETURN(const std::string path, PathBesideProgram(kCudaPluginFile));
  if (access(path.c_str(), F_OK) != 0) {
    return UnavailableError("this build has no CUDA backend: there is no " + path +
                            "; build //trainer:" + kCudaPluginFile +
                            " where CUDA, cuDNN and NCCL are (CUDA_HOME), and keep it there");
  }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return UnavailableError("the CUDA backend cannot be opened: " + std::string(dlerror()) +
                            "; name the folder of the missing library in LD_LIBRARY_PATH");
  }
  using Entry = const CudaPlugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, kCudaPluginEntry));
  const CudaPlugin* plugin = entry == nullptr ? nullptr : entry();
  if (plugin == nullptr || plugin->version != kCudaPluginVersion) {
    return UnavailableError(path + " does not fit this program; build both from the same source");
  }
  return plugin;
}

Result<CudaDevice> OpenCudaDevice(int device) {
  const auto driver = FindCudaDriver();
  if (!driver.ok()) {
    // Without a driver the plug-in would only cost time; whether it is there, costs none.
    const auto path = PathBesideProgram(kCudaPluginFile);
    const bool built = path.ok() && access(path->c_str(), F_OK) == 0;
    return UnavailableError(driver.status().message() +
                            (built ? ""
                                   : "; also, this build has no CUDA backend (" +
                                         std::string(kCudaPluginFile) +
                                         " is not beside the program)"));
  }
  CudaDevice opened;
  ASSIGN_OR_RETURN(opened.plugin, OpenCudaPlugin());
  RETURN_IF_ERROR(CheckVersion(*driver, *opened.plugin));
  RETURN_IF_ERROR(opened.plugin->check_device(device, &opened.name));
  return opened;
}

}  // namespace shardmill
