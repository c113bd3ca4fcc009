// Losses of both backends against PyTorch.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/trainer/ops/backend_pair.h"
#include "tests/trainer/tensor_near.h"
#include "tests/trainer/torch/golden_file.h"

namespace shardmill {
namespace {

void ExpectLoss(const GoldenFile& file, const std::string& name, OpRunner* runner) {
  const GoldenOptions options(file.cases().at(name));
  const GoldenArray& logits = file.Array(name + "/logits");
  const bool soft = options.Flag("soft");
  const std::vector<uint8_t> classes = file.Bytes(name + "/labels");
  LossCall call;
  call.shape.logits = {logits.shape[0], logits.shape[1], logits.shape[2], logits.shape[3]};
  call.shape.label_type = soft ? LabelType::kOneHotF32 : LabelType::kIndexU8;
  call.shape.ignore = 255;
  call.labels = classes.data();
  if (soft) call.labels = file.Values(name + "/labels").data();
  if (file.Has(name + "/class_weights")) {
    call.class_weights = file.Values(name + "/class_weights").data();
  }
  call.label_smoothing = options.Number("smoothing");
  call.dice = options.Number("dice");
  const LossResults results = runner->Loss(call, logits.values);
  EXPECT_NEAR(results.loss_sum / results.weight_sum, file.Values(name + "/mean")[0], 1e-6);
  EXPECT_TRUE(TensorNear(results.dlogits, file.Values(name + "/dlogits"), kSoftmaxTolerance));
}

TEST(PytorchLosses, ValuesAndGradientsOfBothBackendsAgree) {
  const GoldenFile file("losses");
  EXPECT_EQ(file.cases().size(), 6u);
  BackendPair backends;
  for (OpRunner* runner : {&backends.reference, &backends.candidate}) {
    for (const auto& [name, options] : file.cases()) {
      SCOPED_TRACE(std::string(runner->ops().name()) + ": " + name);
      ExpectLoss(file, name, runner);
    }
  }
}

}  // namespace
}  // namespace shardmill
