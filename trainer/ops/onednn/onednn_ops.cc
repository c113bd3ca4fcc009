#include "trainer/ops/onednn/onednn_ops.h"

#include <string>

#include "trainer/ops/onednn/onednn_backend.h"

namespace shardmill {
namespace {

Status OnednnError(const char* what, const dnnl::error& error) {
  return InternalError(std::string("oneDNN could not ") + what + ": " + error.what());
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

Result<std::unique_ptr<Stream>> OnednnOps::CreateStream() {
  try {
    return std::unique_ptr<Stream>(new OnednnStream(engine_));
  } catch (const dnnl::error& error) {
    return OnednnError("create a stream", error);
  }
}

Result<std::unique_ptr<OpTable>> CreateOnednnOps() {
  try {
    return std::unique_ptr<OpTable>(new OnednnOps(dnnl::engine(dnnl::engine::kind::cpu, 0)));
  } catch (const dnnl::error& error) {
    return OnednnError("create a CPU engine", error);
  }
}

}  // namespace shardmill
