// Runs a libFuzzer entry point over files, without libFuzzer: the kept corpus is a test in every
// configuration. Each argument is a file; every file is also tried cut to each of 64 lengths.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FILE...: the corpus is empty\n", argv[0]);
    return 1;
  }
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "cannot open %s\n", argv[i]);
      return 1;
    }
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    for (size_t cut = 0; cut < 64; ++cut) {
      const std::vector<uint8_t> part(bytes.begin(), bytes.begin() + bytes.size() * cut / 64);
      LLVMFuzzerTestOneInput(part.data(), part.size());
    }
  }
  std::printf("%d files\n", argc - 1);
  return 0;
}
