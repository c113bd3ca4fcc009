#include "tests/trainer/cuda/suite_tensors.h"

#include <cmath>
#include <utility>

#include "trainer/cuda/kernels/bfloat16.h"

namespace shardmill {
namespace {

std::vector<float> RandomNumbers(std::string_view name, int64_t count) {
  std::vector<float> values = RandomTensor<float>(count, 1, name);
  for (float& value : values) value = Rounded<Bfloat16>(value);
  return values;
}

std::vector<float> PositiveNumbers(std::string_view name, int64_t count) {
  std::vector<float> values = RandomNumbers(name, count);
  for (float& value : values) value = Rounded<Bfloat16>(0.5f + std::abs(value));
  return values;
}

}  // namespace

SuiteTensors::SuiteTensors(OpTable* ops) : ops_(*ops) {
  auto stream = ops->CreateStream();
  SHARDMILL_CHECK(stream.ok());
  stream_ = std::move(stream).value();
}

void* SuiteTensors::New(int64_t bytes) {
  auto buffer = DeviceBuffer::Create(&ops_, bytes);
  SHARDMILL_CHECK(buffer.ok());
  buffers_.push_back(std::move(buffer).value());
  return buffers_.back().data();
}

void* SuiteTensors::Garbage(int64_t bytes) {
  return Upload(std::vector<uint8_t>(static_cast<size_t>(bytes), 0xA5));
}

void* SuiteTensors::Output(int64_t count) {
  return Garbage(count * ElementBytes(ops_.element_type()));
}

void* SuiteTensors::Workspace(int64_t bytes) { return Garbage(bytes); }

void* SuiteTensors::UploadElements(const std::vector<float>& values) {
  if (ops_.element_type() == ElementType::kF32) return Upload(values);
  std::vector<Bfloat16> narrow(values.size());
  for (size_t i = 0; i < values.size(); ++i) Assign(values[i], &narrow[i]);
  return Upload(narrow);
}

void* SuiteTensors::Elements(std::string_view name, int64_t count) {
  return UploadElements(RandomNumbers(name, count));
}

void* SuiteTensors::PositiveElements(std::string_view name, int64_t count) {
  return UploadElements(PositiveNumbers(name, count));
}

float* SuiteTensors::Vector(std::string_view name, int64_t count) {
  return Upload(RandomNumbers(name, count));
}

float* SuiteTensors::PositiveVector(std::string_view name, int64_t count) {
  return Upload(PositiveNumbers(name, count));
}

const int32_t* SuiteTensors::Lengths(int64_t n, int64_t longest) {
  std::vector<int32_t> lengths;
  for (int64_t i = 0; i < n; ++i) lengths.push_back(static_cast<int32_t>((i + longest) / (i + 1)));
  return Upload(lengths);
}

void SuiteTensors::Keep(std::string name, const void* elements, int64_t count) {
  if (ops_.element_type() == ElementType::kF32) {
    results_.push_back({std::move(name), Download<float>(elements, count)});
    return;
  }
  SuiteResult result = {std::move(name), {}};
  for (const Bfloat16 element : Download<Bfloat16>(elements, count)) {
    result.values.push_back(ToFloat(element));
  }
  results_.push_back(std::move(result));
}

void SuiteTensors::KeepVector(std::string name, const float* vector, int64_t count) {
  results_.push_back({std::move(name), Download<float>(vector, count)});
}

void SuiteTensors::KeepDoubles(std::string name, const double* values, int64_t count) {
  const std::vector<double> read = Download<double>(values, count);
  results_.push_back({std::move(name), std::vector<float>(read.begin(), read.end())});
}

void SuiteTensors::KeepClasses(std::string name, const void* classes, int64_t count) {
  const auto read = Download<uint16_t>(classes, count);
  results_.push_back({std::move(name), std::vector<float>(read.begin(), read.end())});
}

}  // namespace shardmill
