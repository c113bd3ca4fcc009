#include "reader/zstd_dictionary.h"

#include <zdict.h>

#include <algorithm>

namespace shardmill {

Result<std::shared_ptr<const ZstdDictionary>> TrainZstdDictionary(
    const std::vector<std::string>& samples) {
  std::string joined;
  std::vector<size_t> sizes;
  for (const std::string& sample : samples) {
    if (sample.empty()) continue;
    joined += sample;
    sizes.push_back(sample.size());
  }
  std::string bytes(std::clamp(joined.size() / kSampleBytesPerDictionaryByte,
                               kMinTrainedDictionaryBytes, kMaxDictionaryBytes),
                    '\0');
  const size_t trained = ZDICT_trainFromBuffer(bytes.data(), bytes.size(), joined.data(),
                                               sizes.data(), static_cast<unsigned>(sizes.size()));
  if (ZDICT_isError(trained)) {
    return InvalidArgumentError(
        "no zstd dictionary can be made of " + std::to_string(sizes.size()) + " records of " +
        std::to_string(joined.size()) + " bytes in all: " + ZDICT_getErrorName(trained));
  }
  bytes.resize(trained);
  return std::make_shared<const ZstdDictionary>(std::move(bytes));
}

}  // namespace shardmill
