#include "trainer/graph/parameters.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "trainer/cuda/kernels/bfloat16.h"
#include "trainer/graph/counter_random.h"

namespace shardmill {
namespace {

int64_t Aligned(int64_t elements) {
  return (elements + kParameterAlignment - 1) / kParameterAlignment * kParameterAlignment;
}

template <typename T>
void FillParameter(const ParameterInfo& info, uint64_t seed, T* values) {
  const bool is_slope = info.kind == ParameterKind::kPreluSlope;
  if (is_slope || info.kind == ParameterKind::kBatchNormScale) {
    std::fill_n(values, info.elements, static_cast<T>(is_slope ? 0.25 : 1));
  }
  if (info.kind != ParameterKind::kConvolutionWeight) return;
  const CounterRandom random(seed, info.name);
  const double deviation = HeDeviation(info.fan_in);
  for (int64_t i = 0; i < info.elements; ++i) {
    values[i] = static_cast<T>(deviation * random.Normal(static_cast<uint64_t>(i)));
  }
}

template <typename T>
std::vector<T> InitialParameters(const std::vector<ParameterInfo>& table, int64_t elements,
                                 uint64_t seed) {
  std::vector<T> values(static_cast<size_t>(elements), T{0});
  for (const ParameterInfo& info : table) FillParameter(info, seed, values.data() + info.offset);
  return values;
}

template <typename T>
std::vector<T> InitialStatistics(const std::vector<StatisticInfo>& table, int64_t elements) {
  std::vector<T> values(static_cast<size_t>(elements), T{0});
  for (const StatisticInfo& info : table) {
    if (info.kind != StatisticKind::kRunningVariance) continue;
    for (int64_t i = 0; i < info.elements; ++i) values[info.offset + i] = 1;
  }
  return values;
}

void* AtElement(const DeviceBuffer& buffer, int64_t offset, ElementType type) {
  return static_cast<char*>(buffer.data()) + offset * ElementBytes(ParameterType(type));
}

}  // namespace

int ParameterStore::AddParameter(std::string name, ParameterKind kind, std::array<int64_t, 4> dims,
                                 int64_t fan_in) {
  SHARDMILL_CHECK(ops_ == nullptr);
  ParameterInfo info;
  info.name = std::move(name);
  info.kind = kind;
  info.dims = dims;
  info.offset = parameter_elements_;
  info.elements = dims[0] * dims[1] * dims[2] * dims[3];
  info.fan_in = fan_in;
  parameter_elements_ += Aligned(info.elements);
  parameters_.push_back(std::move(info));
  return static_cast<int>(parameters_.size()) - 1;
}

int ParameterStore::AddStatistic(std::string name, StatisticKind kind, int64_t elements) {
  SHARDMILL_CHECK(ops_ == nullptr);
  statistics_.push_back({std::move(name), kind, statistic_elements_, elements});
  statistic_elements_ += Aligned(elements);
  return static_cast<int>(statistics_.size()) - 1;
}

Status ParameterStore::Allocate(OpTable* ops, uint64_t seed) {
  SHARDMILL_CHECK(ops_ == nullptr);
  const int64_t element_bytes = ElementBytes(ParameterType(ops->element_type()));
  ASSIGN_OR_RETURN(values_, DeviceBuffer::CreateShared(ops, parameter_elements_ * element_bytes));
  ASSIGN_OR_RETURN(gradients_,
                   DeviceBuffer::CreateShared(ops, parameter_elements_ * element_bytes));
  ASSIGN_OR_RETURN(running_statistics_,
                   DeviceBuffer::CreateShared(ops, statistic_elements_ * element_bytes));
  ops_ = ops;
  if (ops->element_type() == ElementType::kF64) return FillInitialValues<double>(seed);
  RETURN_IF_ERROR(FillInitialValues<float>(seed));
  if (ops->element_type() == ElementType::kF32) return OkStatus();
  ASSIGN_OR_RETURN(narrow_values_, DeviceBuffer::Create(ops, parameter_elements_ * 2));
  return NarrowValues();
}

Status ParameterStore::NarrowValues() {
  if (narrow_values_.data() == nullptr) return OkStatus();
  const float* wide = values();
  std::vector<Bfloat16> narrow(static_cast<size_t>(parameter_elements_));
  for (int64_t i = 0; i < parameter_elements_; ++i) Assign(wide[i], &narrow[i]);
  ASSIGN_OR_RETURN(std::unique_ptr<Stream> stream, ops_->CreateStream());
  RETURN_IF_ERROR(
      ops_->CopyFromHost(*stream, narrow.data(), narrow_values_.bytes(), narrow_values_.data()));
  return stream->Synchronize();
}

int64_t ParameterStore::bytes() const {
  return values_.bytes() + narrow_values_.bytes() + gradients_.bytes() +
         running_statistics_.bytes();
}

template <typename T>
Status ParameterStore::FillInitialValues(uint64_t seed) {
  const std::vector<T> values = InitialParameters<T>(parameters_, parameter_elements_, seed);
  const std::vector<T> statistics = InitialStatistics<T>(statistics_, statistic_elements_);
  ASSIGN_OR_RETURN(std::unique_ptr<Stream> stream, ops_->CreateStream());
  RETURN_IF_ERROR(ops_->CopyFromHost(*stream, values.data(), values_.bytes(), values_.data()));
  RETURN_IF_ERROR(ops_->CopyFromHost(*stream, statistics.data(), running_statistics_.bytes(),
                                     running_statistics_.data()));
  return stream->Synchronize();
}

int64_t ParameterStore::trained_elements() const {
  int64_t elements = 0;
  for (const ParameterInfo& info : parameters_) elements += info.elements;
  return elements;
}

float* ParameterStore::values() {
  SHARDMILL_CHECK(ops_ != nullptr && ParameterType(ops_->element_type()) == ElementType::kF32);
  return static_cast<float*>(values_.data());
}

float* ParameterStore::gradients() {
  SHARDMILL_CHECK(ops_ != nullptr && ParameterType(ops_->element_type()) == ElementType::kF32);
  return static_cast<float*>(gradients_.data());
}

float* ParameterStore::running_statistics() {
  SHARDMILL_CHECK(ops_ != nullptr && ParameterType(ops_->element_type()) == ElementType::kF32);
  return static_cast<float*>(running_statistics_.data());
}

void* ParameterStore::value_at(int parameter) const {
  const ParameterInfo& info = parameters_[parameter];
  if (narrow_values_.data() != nullptr && info.kind == ParameterKind::kConvolutionWeight) {
    return static_cast<Bfloat16*>(narrow_values_.data()) + info.offset;
  }
  return AtElement(values_, info.offset, ops_->element_type());
}

const void* ParameterStore::master_at(int parameter) const {
  return AtElement(values_, parameters_[parameter].offset, ops_->element_type());
}

void* ParameterStore::gradient_at(int parameter) const {
  return AtElement(gradients_, parameters_[parameter].offset, ops_->element_type());
}

void* ParameterStore::statistic_at(int statistic) const {
  return AtElement(running_statistics_, statistics_[statistic].offset, ops_->element_type());
}

}  // namespace shardmill
