// Tensors in the memory of an op table, and the results that are read back from it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/trainer/cuda/operation_suite.h"
#include "tests/trainer/random_tensor.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

inline void Succeed(const Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }

class SuiteTensors {
 public:
  explicit SuiteTensors(OpTable* ops);

  OpTable& ops() { return ops_; }
  Stream& stream() { return *stream_; }

  // Inputs of random content that is named, in numbers that bf16 holds.
  void* Elements(std::string_view name, int64_t count);
  void* PositiveElements(std::string_view name, int64_t count);
  float* Vector(std::string_view name, int64_t count);
  float* PositiveVector(std::string_view name, int64_t count);
  template <typename T>
  const T* Integers(int64_t count, int64_t limit) {
    return Upload(RandomIntegers<T>(count, limit, 1, "integers"));
  }
  template <typename T>
  const T* Same(int64_t count, T value) {
    return Upload(std::vector<T>(static_cast<size_t>(count), value));
  }
  // n lengths, from 1 to `longest`.
  const int32_t* Lengths(int64_t n, int64_t longest);

  void* New(int64_t bytes);
  // Both are filled with numbers that make no sense.
  void* Output(int64_t count);
  void* Workspace(int64_t bytes);
  float* NewVector(int64_t count) { return static_cast<float*>(New(4 * count)); }

  void Keep(std::string name, const void* elements, int64_t count);
  void KeepVector(std::string name, const float* vector, int64_t count);
  void KeepDoubles(std::string name, const double* values, int64_t count);
  void KeepClasses(std::string name, const void* classes, int64_t count);  // u16

  const std::vector<SuiteResult>& results() const { return results_; }

 private:
  template <typename T>
  T* Upload(const std::vector<T>& values) {
    const auto bytes = static_cast<int64_t>(values.size() * sizeof(T));
    void* memory = New(bytes);
    Succeed(ops_.CopyFromHost(*stream_, values.data(), bytes, memory));
    Succeed(stream_->Synchronize());
    return static_cast<T*>(memory);
  }
  template <typename T>
  std::vector<T> Download(const void* memory, int64_t count) {
    std::vector<T> values(static_cast<size_t>(count));
    Succeed(
        ops_.CopyToHost(*stream_, memory, count * static_cast<int64_t>(sizeof(T)), values.data()));
    Succeed(stream_->Synchronize());
    return values;
  }
  void* UploadElements(const std::vector<float>& values);
  void* Garbage(int64_t bytes);

  OpTable& ops_;
  std::unique_ptr<Stream> stream_;
  std::vector<DeviceBuffer> buffers_;
  std::vector<SuiteResult> results_;
};

}  // namespace shardmill
