// Stands in for libcuda.so.1, to see what the programs say about drivers that this machine does
// not have. Answers from the environment: FAKE_CUDA_VERSION (13000), FAKE_CUDA_INIT (0),
// FAKE_CUDA_DEVICES (0).
#include <cstdlib>

namespace {

int Number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
  *version = Number("FAKE_CUDA_VERSION", 13000);
  return 0;
}

int cuInit(unsigned) { return Number("FAKE_CUDA_INIT", 0); }

int cuDeviceGetCount(int* count) {
  *count = Number("FAKE_CUDA_DEVICES", 0);
  return 0;
}

int cuGetErrorString(int, const char** text) {
  *text = "words of the driver";
  return 0;
}

}  // extern "C"
