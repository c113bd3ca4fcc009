#include "trainer/ops/onednn/onednn_ops.h"

#include <string>

#include "trainer/ops/onednn/onednn_backend.h"
#include "trainer/ops/onednn/parallel.h"

namespace shardmill {
namespace {

Status OnednnError(const char* what, const dnnl::error& error) {
  return InternalError(std::string("oneDNN could not ") + what + ": " + error.what());
}

// The environment may hold oneDNN to an older instruction set.
bool HasBf16() {
  const dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
  return isa == dnnl_cpu_isa_avx512_core_bf16 || isa == dnnl_cpu_isa_avx512_core_amx;
}

}  // namespace

Status OnednnStream::Synchronize() {
  try {
    stream_.wait();
  } catch (const dnnl::error& error) {
    return OnednnError("finish its work", error);
  }
  return OkStatus();
}

int64_t OnednnOps::threads() const { return MaxThreads(); }

Result<std::unique_ptr<Stream>> OnednnOps::CreateStream() {
  try {
    return std::unique_ptr<Stream>(new OnednnStream(engine_));
  } catch (const dnnl::error& error) {
    return OnednnError("create a stream", error);
  }
}

Result<std::unique_ptr<OpTable>> CreateOnednnOps(ConvolutionPrecision precision) {
  if (precision == ConvolutionPrecision::kBf16 && !HasBf16()) {
    return UnavailableError(
        "this processor has no instructions for bf16 (AVX-512 BF16 or AMX); use f32");
  }
  try {
    return std::unique_ptr<OpTable>(
        new OnednnOps(dnnl::engine(dnnl::engine::kind::cpu, 0), precision));
  } catch (const dnnl::error& error) {
    return OnednnError("create a CPU engine", error);
  }
}

}  // namespace shardmill
