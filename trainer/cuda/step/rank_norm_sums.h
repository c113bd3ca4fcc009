// The sums of batch norm over the GPUs of a job: packed into one message per layer and direction,
// added in the order of the stream, and unpacked.
#pragma once

#include <cstdint>
#include <string_view>

#include "trainer/cuda/comm/device_communicator.h"
#include "trainer/cuda/ops/device_op_table.h"
#include "trainer/graph/device_norm_sums.h"

namespace shardmill {

class RankNormSums final : public DeviceNormSums {
 public:
  // All must outlive the object; `stream` is that of the graph.
  RankNormSums(DeviceOpTable* ops, Stream* stream, DeviceCommunicator* ranks)
      : ops_(*ops), stream_(*stream), ranks_(*ranks) {}

  // Of the batch that comes next: rows of this rank, and of all.
  void SetRows(int64_t rows, int64_t global_rows) {
    rows_ = rows;
    global_rows_ = global_rows;
  }

  Result<int64_t> SumStatistics(int64_t channels, int64_t pixels, float* mean, float* variance,
                                double* scratch, std::string_view name) override;
  Status SumGradients(int64_t channels, const float* dscale, const float* dshift,
                      float* shared_dscale, float* shared_dshift, double* scratch,
                      std::string_view name) override;

 private:
  template <typename Body>
  Status Launch(const OperationNote& note, const Body& body);
  Status Sum(double* values, int64_t channels, std::string_view name);

  DeviceOpTable& ops_;
  Stream& stream_;
  DeviceCommunicator& ranks_;
  int64_t rows_ = 1, global_rows_ = 1;
};

}  // namespace shardmill
